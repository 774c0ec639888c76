"""What every value kind answers, and what the fields behind our kinds share.

A kind is a marshmallow field that knows all about its values. Loading one coerces (mode ``create``);
where it coerces, the value before and after differ, and that is how mode ``assert`` sees it
(`gatewayfw.schemas.exactness`). Loading what was loaded changes nothing. No message holds the value.

Whoever has a field asks `gatewayfw.schemas.kinds.foreign.as_kind`, which answers for marshmallow's
own fields, too. A new kind has its class here beside the others, its constructor in
`gatewayfw.schemas.fields`, and one row in each export; ``tests/schemas/test_every_kind.py`` names what
is missing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bson import ObjectId
from marshmallow import ValidationError, missing
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.checks import plain_message
from gatewayfw.schemas.kinds.quick import (
    STORED,
    Load,
    Purpose,
    Quick,
    Store,
    Test,
    all_of,
    as_it_is,
    never,
    or_none,
    tests_of,
)
from gatewayfw.schemas.kinds.sizes import ENDLESS
from gatewayfw.schemas.values import finite_number, has_storable_keys, moment_of, same

#: Update operators for numbers, for what has an order, and for lists.
CALCULATED = frozenset({"$inc", "$mul"})
ORDERED = frozenset({"$min", "$max"})
LISTED = frozenset({"$push", "$addToSet", "$pull", "$pop"})
#: A field in plain words, as JSON; see `gatewayfw.catalog.kinds`.
Description = dict[str, Any]


@dataclass(frozen=True)
class Constant:
    """A default that is always the same; each call gives a copy of ``value``.

    Attributes:
        load: what the copy is loaded by, where its field does not load a default itself.
    """

    value: Any
    load: Load = as_it_is

    def __call__(self) -> Any:
        return self.load(copy.deepcopy(self.value))


@dataclass(frozen=True)
class Maxima:
    """What a text or a list of ids may have where its kind says nothing.

    Attributes:
        text: characters of a text.
        stated: characters that a kind may state itself, at most.
        ids: ids of a list; None for any number.
    """

    text: int
    stated: int
    ids: int | None = None


class Parts(ValidationError):
    """What is wrong with the parts of an object or a list.

    Attributes:
        parts: the errors by key or index.
        loaded: what the other parts were loaded as, by key or index.
    """

    def __init__(self, parts: Mapping[Any, ValidationError], loaded: Mapping[Any, Any]) -> None:
        super().__init__({key: error.messages for key, error in parts.items()})
        self.parts = parts
        self.loaded = loaded


class Kind:
    """What is asked of a field, with the answers of one that nothing is known about.

    Attributes:
        kind: its name.
        own: whether its class is one of this package's; of a user's subclass less is known.
        sorts: whether MongoDB orders its values as a user expects.
        is_text: whether its values are stored as text.
        operators: the update operators it takes, beside ``$set`` and ``$unset``.
        sets_parts: whether ``$set`` reaches below it, ``address.street``.
        is_free: whether it says nothing about what is inside its values.
        is_unknown: whether only its author knows what is inside its values.
        elements: the field of its elements; None for what is no list.
        states_maximum: whether its maximum is one of the definition, not one of a setting.
        reads_otherwise: whether Python has its stored values in another form,
            `gatewayfw.schemas.values.loaded_form`.
    """

    kind = ""
    own = False
    sorts = False
    is_text = False
    operators: frozenset[str] = frozenset()
    sets_parts = False
    is_free = False
    is_unknown = False
    states_maximum = True
    reads_otherwise = False

    @property
    def _field(self) -> mm.Field[Any]:
        """The field that is answered for."""
        return self  # type: ignore[return-value]  # our kinds are fields

    @property
    def elements(self) -> mm.Field[Any] | None:
        return None

    # -- what is inside

    def parts(self, path: str = "") -> Sequence[tuple[str, mm.Field[Any]]]:
        """Return the fields inside, each after its path from ``path``.

        ``[]`` stands for every element.
        """
        return ()

    def with_parts(self, parts: Sequence[mm.Field[Any]]) -> mm.Field[Any]:
        """Return a copy with other fields inside, in the order of `parts`."""
        raise NotImplementedError

    def part(self, key: Any) -> mm.Field[Any] | None:
        """Return the field inside under a key or an index; None where none is known."""
        return None

    def items(self, sent: Any) -> Iterator[tuple[Any, mm.Field[Any], Any]]:
        """Yield what is inside a value: key or index, field, item.

        The item is ``missing`` where it has none.
        """
        return iter(())

    def unstorable(self) -> Iterator[str]:
        """Yield the names of fields inside that the database cannot hold."""
        return iter(())

    # -- loading

    def keeps(self, sent: Any, dumped: Any) -> bool:
        """Tell whether a value means what its dump means, so that ``assert`` takes it."""
        return False

    def quick_test(self, purpose: Purpose) -> Test | None:
        """Return the test that knows good values at once; None where there is none."""
        return None

    def loader(self, *, fill: bool) -> Load | None:
        """Return what loads good values at once, for `quick_test` to judge.

        None where load changes none.

        With ``fill`` it fills in the constants of `defaulted` fields inside.
        """
        return None

    def make_quick(self) -> mm.Field[Any]:
        """Return a field that loads its parts by their quick tests, or itself.

        A part with a test passes quick tests on to its own parts, for values that are not entirely valid.
        """
        return self._field

    def bound(self, maxima: Maxima) -> mm.Field[Any]:
        """Return a copy with the maximum of the settings, where the kind states none.

        Itself where they give none.

        Raises:
            DefinitionError: it states more than it may.
        """
        return self._field

    # -- storing

    def storer(self) -> Store:
        """Return the function that gives a loaded value's stored form.

        Lists and objects come out as copies.
        """
        return cut

    def operand(self, value: Any, path: str) -> Any:
        """Return the stored form of what the field is compared with in a filter.

        None compares with all.

        What is refused by a field that we know nothing about is compared as it is.

        Raises:
            gatewayfw.errors.ValidationError: it cannot be a value of this field, which stands at ``path``.
        """
        field = self._field
        if value is None:
            return None
        try:
            loaded = field.deserialize(value)
        except ValidationError:
            return value
        dumped = None if loaded is None else field._serialize(loaded, None, {})
        return self.storer()(loaded) if same(value, dumped) and has_storable_keys(dumped) else value

    def amount(self, value: Any) -> Any:
        """Return the stored form of what ``$inc`` may add; None for anything else."""
        return value if finite_number(value) else None

    def factor(self, value: Any) -> Any:
        """Return the stored form of what ``$mul`` may multiply by; None for anything else."""
        return self.amount(value)

    def largest(self) -> int:
        """Return the most bytes of a stored value; `ENDLESS` or more for no maximum."""
        return ENDLESS

    def unstated(self, path: str) -> Iterator[str]:
        """Yield the paths at and below the field that state no maximum.

        The field stands at ``path``.
        """
        if not self.states_maximum or self.largest() >= ENDLESS:
            yield path

    # -- telling

    def description(self) -> Description:
        """Return the kind and its bounds, as `gatewayfw.catalog.kinds` tells them."""
        return {"kind": "any"}


class KindField(Kind):
    """What our fields share; it stands beside a field of marshmallow's.

    A class that is one of ours says ``own=True``, so that a user's subclass is not taken for it.
    """

    load_default: Any
    #: What `quick_of` keeps about this field.
    quick: Quick | None = None
    #: Loads good values at once, and gives ``missing`` for others; see `make_quick`.
    hasty: Load | None = None

    def __init_subclass__(cls, *, own: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.own = own

    @property
    def dumps_itself(self) -> bool:
        """Whether the dump of a loaded value is that value."""
        return True

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        field: Any = self
        if value is not missing and value is not None and not field.pre_load and not field.post_load:
            loaded = field._deserialize(value, attr, data, **kwargs)
            if field.validators:
                field._validate(loaded)
            return loaded
        if value is missing and callable(self.load_default):
            value = self.load_default()
        return super().deserialize(value, attr, data, **kwargs)  # type: ignore[misc]  # of the Field beside it

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value

    def quick_test(self, purpose: Purpose) -> Test | None:
        field: Any = self
        if not self.own or field.pre_load or field.post_load:
            return None
        checks = tests_of(self._checks_beside())
        tests = None if checks is None else self._tests(purpose)
        if checks is None or tests is None:
            return None
        first, *rest = tests
        test = all_of([first, *checks, *rest])
        return self._with_none(test, bool(field.allow_none))

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        """Return a value's tests, its checks apart; None where one is missing.

        The checks come after the first test.
        """
        raise NotImplementedError

    def _checks_beside(self) -> list[Any]:
        """Return the checks that `_tests` does not make already."""
        field: Any = self
        return list(field.validators)

    def _with_none(self, test: Test, is_taken: bool) -> Test:
        return or_none(test) if is_taken else test

    def storer(self) -> Store:
        return as_it_is if self.own else cut

    def operand(self, value: Any, path: str) -> Any:
        if not self.own or value is None:
            return super().operand(value, path)
        result = self._compared(value)
        if result is None:
            raise Refused({path: [plain_message(self._field, "invalid", "Invalid value.")]})
        return result

    def _compared(self, value: Any) -> Any:
        """Return the stored form of a value it is compared with.

        None for one that cannot be its own.

        Only the type is judged: a number beyond the range, or a text longer than the size, is a fair question.
        """
        raise NotImplementedError


def quick_of(field: mm.Field[Any]) -> Quick | None:
    """Return what is quick about storing a field's values, kept on the field.

    None where nothing is.
    """
    kind: Any = field
    if not getattr(kind, "own", False):
        return None
    known: Quick | None = kind.quick
    if known is None or known.field is not field:  # a copy of a field brings what belongs to the first one
        load, fill = (kind.loader(fill=fill) or as_it_is for fill in (False, True))
        known = kind.quick = Quick(field, load, fill, kind.quick_test(STORED) or never, kind.storer())
    return known


def cut(value: Any) -> Any:
    """Return a value with every date in it as the database holds it."""
    if isinstance(value, datetime):
        return moment_of(value)
    if isinstance(value, Mapping):
        return {key: cut(item) for key, item in value.items()}
    return [cut(item) for item in value] if isinstance(value, list) else value


def described_default(value: Any) -> Description:
    """Return a default as clients would send it; nothing where JSON has no form of it."""
    if isinstance(value, ObjectId):
        return {"default": str(value)}
    if isinstance(value, datetime):
        return {"default": value.isoformat(timespec="milliseconds") + ("Z" if value.tzinfo is None else "")}
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return {}
    return {"default": value}
