"""The interface of every value kind, and what the fields behind our kinds share.

A kind is a marshmallow field that knows everything about its values. Loading a value coerces it (mode
``create``). Mode ``assert`` notices a coercion because the value before and after differ
(`gatewayfw.schemas.exactness`). Loading a loaded value changes nothing. No message contains the value.

To query any field, call `gatewayfw.schemas.kinds.foreign.as_kind`, which serves marshmallow's own fields,
too. A new kind needs a class in this folder, a constructor in `gatewayfw.schemas.fields`, and one row in
each export; ``tests/schemas/test_every_kind.py`` names what is missing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from bson import ObjectId
from marshmallow import ValidationError, missing
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.checks import load_part, plain_message
from gatewayfw.schemas.kinds.quick import (
    SENT,
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
from gatewayfw.schemas.messages import INVALID
from gatewayfw.schemas.values import finite_number, has_storable_keys, moment_of, same

#: A field in plain words, as JSON; see `gatewayfw.catalog.kinds`.
Description = dict[str, Any]


class Ability(Enum):
    """What update operators may do with values, and what is said where they cannot."""

    CALCULATE = "Not a number."
    ORDER = "Not a number or a date."
    DATE = "Not a date."
    LIST = "Not a list."


@dataclass(frozen=True)
class Constant:
    """A default that is always the same; each call gives a copy of ``value``.

    Attributes:
        load: loads the copy, where its field does not load a default itself.
    """

    value: Any
    load: Load = as_it_is

    def __call__(self) -> Any:
        return self.load(copy.deepcopy(self.value))


@dataclass(frozen=True)
class Maxima:
    """The longest text and list of ids where the kind states no maximum.

    Attributes:
        text: most characters of a text.
        stated: most characters that a kind may state itself.
        ids: most ids in a list; None for any number.
    """

    text: int
    stated: int
    ids: int | None = None


class Doubtful(Refused):
    """A field refuses a value that server code may still compare with stored ones."""


class Kind:
    """The interface of a field; its defaults suit a field we know nothing about.

    Attributes:
        kind: its name.
        own: whether its class is part of this package; we know less about a user's subclass.
        sorts: whether MongoDB orders its values as a user expects.
        is_text: whether its values are stored as text.
        abilities: what update operators may do with its values.
        sets_parts: whether ``$set`` may name a part of it, such as ``address.street``.
        is_free: whether its values may contain anything.
        is_unknown: whether only its author knows what its values contain.
        elements: the field of its elements; None unless it is a list.
        states_maximum: whether its maximum comes from the definition, not from a setting.
        reads_otherwise: whether Python sees its stored values in another form,
            `gatewayfw.schemas.values.loaded_form`.
    """

    kind = ""
    own = False
    sorts = False
    is_text = False
    abilities: frozenset[Ability] = frozenset()
    sets_parts = False
    is_free = False
    is_unknown = False
    states_maximum = True
    reads_otherwise = False

    @property
    def _field(self) -> mm.Field[Any]:
        """The field that this object describes."""
        return self  # type: ignore[return-value]  # our kinds are fields

    @property
    def elements(self) -> mm.Field[Any] | None:
        return None

    # -- what is inside

    def parts(self, path: str = "") -> Sequence[tuple[str, mm.Field[Any]]]:
        """Return the path and the field of each part; paths continue ``path``.

        ``[]`` stands for every element of a list.
        """
        return ()

    def with_parts(self, parts: Sequence[mm.Field[Any]]) -> mm.Field[Any]:
        """Return a copy with other fields as its parts, in the order of `parts`."""
        raise NotImplementedError

    def part(self, key: Any) -> mm.Field[Any] | None:
        """Return the field at a key or an index; None where none is known."""
        return None

    def items(self, sent: Any) -> Iterator[tuple[Any, mm.Field[Any], Any]]:
        """Yield key or index, field and item of each part of a value.

        The item is ``missing`` where the value lacks that part.
        """
        return iter(())

    # -- loading: `deserialize` of marshmallow, and for valid values these two

    def quick_test(self, purpose: Purpose) -> Test | None:
        """Return the test that recognises valid values fast; None where there is none."""
        return None

    def loader(self, *, fill: bool) -> Load | None:
        """Return a function that loads valid values fast, or None.

        `quick_test` judges its result. None means that loading changes no value. With ``fill`` the
        function fills in the constant defaults of inner fields.
        """
        return None

    # -- storing

    def storer(self) -> Store:
        """Return the function that turns a loaded value into its stored form.

        Lists and objects come out as copies.
        """
        return cut

    # -- comparing, and changing by operators

    def keeps(self, sent: Any, dumped: Any) -> bool:
        """Tell whether a value means the same as its dump, so that ``assert`` takes it."""
        return False

    def operand(self, value: Any, path: str) -> Any:
        """Return the stored form of a value that a filter compares the field with.

        Every field may be compared with None.

        Raises:
            gatewayfw.errors.ValidationError: it cannot be a value of this field, which is at ``path``;
                `Doubtful` where only the author of the field knows.
        """
        if value is None:
            return None
        field = self._field
        try:
            loaded = load_part(field, value)
        except ValidationError:
            raise Doubtful({path: [INVALID]}) from None
        dumped = None if loaded is None else field._serialize(loaded, None, {})
        return self.storer()(loaded) if same(value, dumped) and has_storable_keys(dumped) else value

    def amount(self, value: Any) -> Any:
        """Return the stored form of what ``$inc`` may add; None for anything else."""
        return value if finite_number(value) else None

    def factor(self, value: Any) -> Any:
        """Return the stored form of what ``$mul`` may multiply by; None for anything else."""
        return self.amount(value)

    def current(self, now: datetime) -> Any:
        """Return the value to set for ``$currentDate``, given the time in UTC."""
        return now

    # -- describing

    def description(self) -> Description:
        """Return the kind and its bounds, as `gatewayfw.catalog.kinds` documents them."""
        return {"kind": "any"}

    def largest(self) -> int:
        """Return the most bytes a stored value takes; `ENDLESS` or more without maximum."""
        return ENDLESS

    def unstated(self, path: str) -> Iterator[str]:
        """Yield the paths without a maximum, of the field at ``path`` and its parts."""
        if not self.states_maximum or self.largest() >= ENDLESS:
            yield path

    def bound(self, maxima: Maxima) -> mm.Field[Any]:
        """Return a copy with the settings' maximum where the kind states none.

        Returns the field itself where the settings give no maximum either.

        Raises:
            DefinitionError: the kind states more than the settings allow.
        """
        return self._field


class KindField(Kind):
    """What our fields share; each also inherits from a marshmallow field.

    Our own classes say ``own=True``, so that a user's subclass is not mistaken for one of them.
    """

    load_default: Any
    #: Whether the dump of a loaded value is that value.
    dumps_itself = True
    #: The cache of `quick_of`.
    quick: Quick | None = None

    def __init_subclass__(cls, *, own: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.own = own

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

    def load_quickly(self, value: Any) -> Any:
        """Return the loaded form of a value that the quick test knows, else `missing`.

        So the good parts of a value are loaded fast where only others are not.
        """
        quick = quick_of(self._field)
        if quick is None:
            return missing
        loaded = quick.fill(value)
        return loaded if quick.takes(loaded) else missing

    def quick_test(self, purpose: Purpose) -> Test | None:
        field: Any = self
        if not self.own or field.pre_load or field.post_load:
            return None
        checks, tests = tests_of(self._checks_beside()), self._tests(purpose)
        if checks is None or tests is None:
            return None
        test = all_of([tests[0], *checks, *tests[1:]])
        return or_none(test) if field.allow_none else test

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        """Return the tests of a value without its checks; None where one is missing.

        The checks run after the first test.
        """
        raise NotImplementedError

    def _checks_beside(self) -> list[Any]:
        """Return the checks that `_tests` does not cover."""
        field: Any = self
        return list(field.validators)

    def storer(self) -> Store:
        return as_it_is if self.own else cut

    def operand(self, value: Any, path: str) -> Any:
        if not self.own or value is None:
            return super().operand(value, path)
        result = self._store_operand(value)
        if result is None:
            raise Refused({path: [plain_message(self._field, "invalid", INVALID)]})
        return result

    def _store_operand(self, value: Any) -> Any:
        """Return the stored form of a value to compare with; None for a wrong type.

        Only the type is checked: a filter may ask for a number beyond the range or a text that is too long.
        """
        raise NotImplementedError


class ReadField(KindField):
    """What kinds share whose values have another form in Python; `read` makes it."""

    dumps_itself = False

    def read(self, value: Any) -> Any:
        """Return the loaded form of a value in any form; None for what is no value."""
        raise NotImplementedError

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        loaded = self.read(value)
        if loaded is None:
            raise self.make_error("invalid")  # type: ignore[attr-defined]  # of the Field beside it
        return loaded

    def loader(self, *, fill: bool) -> Load | None:
        return lambda value: value if (loaded := self.read(value)) is None else loaded

    def _store_operand(self, value: Any) -> Any:
        return self.storer()(self.read(value))


def quick_of(field: mm.Field[Any]) -> Quick | None:
    """Return the quick functions of one of our fields, cached on the field.

    None for fields that are not ours.
    """
    kind: Any = field
    if not getattr(kind, "own", False):
        return None
    known: Quick | None = kind.quick
    if known is None or known.field is not field:  # a copied field brings the cache of the original
        load, fill = (kind.loader(fill=fill) or as_it_is for fill in (False, True))
        stored, sent = (kind.quick_test(purpose) or never for purpose in (STORED, SENT))
        known = kind.quick = Quick(field, load, fill, stored, kind.storer(), sent)
    return known


def cut(value: Any) -> Any:
    """Return a value with every date in it cut to what the database holds."""
    if isinstance(value, datetime):
        return moment_of(value)
    if isinstance(value, Mapping):
        return {key: cut(item) for key, item in value.items()}
    return [cut(item) for item in value] if isinstance(value, list) else value


def described_default(value: Any) -> Description:
    """Return a default as clients would send it; empty where JSON cannot express it."""
    if isinstance(value, ObjectId):
        return {"default": str(value)}
    if isinstance(value, datetime):
        return {"default": value.isoformat(timespec="milliseconds") + ("Z" if value.tzinfo is None else "")}
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return {}
    return {"default": value}
