"""The interface of every value kind, and what the fields behind our kinds share.

A kind is a marshmallow field that knows everything about its values:

- *load*: ``deserialize`` coerces a value (mode ``create``). Mode ``assert`` notices a coercion because the value before
  and after differ (`gatewayfw.schemas.exactness`), unless the kind `keeps` it. Loading a loaded value changes nothing.
- *store*: `storer`. *Compare*: `operand` for filters, `amount`, `factor` and `current` for update operators.
- *describe*: `description` for clients, `largest` for sizes, flags for what operators may do.
- The *quick forms* of loading are `quick_test` and `loader`; see `gatewayfw.schemas.kinds.quick`.

No message contains the value. To query any field, call `gatewayfw.schemas.kinds.foreign.as_kind`, which serves
marshmallow's own fields, too. A new kind needs a class in this folder, a constructor in `gatewayfw.schemas.fields`, and
one row in each export; ``tests/schemas/test_every_kind.py`` names what is missing.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw import messages
from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.checks import plain_message
from gatewayfw.schemas.kinds.quick import Load, Quick, Store, Test, all_of, as_it_is, never, or_none, test_of
from gatewayfw.schemas.kinds.sizes import ENDLESS
from gatewayfw.schemas.values import finite_number, shown_form

#: A field in plain words, as JSON; see `gatewayfw.schemas.kinds.descriptions`.
Description = dict[str, Any]


class Ability(Enum):
    """What update operators may do with values, and what is said where they cannot."""

    CALCULATE = "not a number"
    ORDER = "not a number or a date"
    DATE = "not a date"
    LIST = "not a list"


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


class Doubtful(Refused):
    """A field refuses a value that server code may still compare with stored ones."""


class Kind(mm.Field[Any]):
    """The interface of a field; its defaults suit a field we know nothing about.

    Attributes:
        kind: its name.
        sorts: whether MongoDB orders its values as a user expects.
        is_text: whether its values are stored as text.
        abilities: what update operators may do with its values.
        sets_parts: whether ``$set`` may name a part of it, such as ``address.street``.
        is_free: whether its values may contain anything.
        is_unknown: whether only its author knows what its values contain.
        elements: the field of its elements; None unless it is a list.
        largest: the most bytes a stored value takes; `ENDLESS` or more without maximum.
        states_maximum: whether its maximum comes from the definition, not from a setting.
        reads_otherwise: whether Python sees its stored values in another form,
            `gatewayfw.schemas.values.loaded_form`.
    """

    kind: str = ""
    sorts = False
    is_text = False
    abilities: frozenset[Ability] = frozenset()
    sets_parts = False
    is_free: bool = False
    is_unknown: bool = False
    elements: mm.Field[Any] | None = None
    largest: int = ENDLESS
    states_maximum = True
    reads_otherwise = False

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

    def quick_test(self) -> Test | None:
        """Return the test that recognises valid values fast; None where there is none."""
        return None

    def loader(self, *, fill: bool) -> Load | None:
        """Return a function that loads valid values fast, or None.

        `quick_test` judges its result. None means that loading changes no value. With ``fill`` the
        function fills in the constant defaults of inner fields.
        """
        return None

    def storer(self) -> Store:
        """Return what makes a loaded value's stored form; lists and objects are copied."""
        return as_it_is

    def operand(self, value: Any, path: str) -> Any:
        """Return the stored form of a value that a filter compares the field with.

        Every field may be compared with None.

        Raises:
            gatewayfw.errors.ValidationError: it cannot be a value of this field, which is at ``path``;
                `Doubtful` where only the author of the field knows.
        """
        raise NotImplementedError

    def amount(self, value: Any) -> Any:
        """Return the stored form of what ``$inc`` may add.

        None or a ``ValidationError`` of marshmallow's for anything else.
        """
        return value if finite_number(value) else None

    def factor(self, value: Any) -> Any:
        """Return the stored form of what ``$mul`` may multiply by, as `amount` does."""
        return self.amount(value)

    def current(self, now: datetime) -> Any:
        """Return the value to set for ``$currentDate``, given the time in UTC."""
        return now

    def description(self) -> Description:
        """Return the kind and its bounds, in the words of `descriptions`."""
        return {"kind": self.kind}

    def unstated(self, path: str) -> Iterator[str]:
        """Yield the paths without a maximum, of the field at ``path`` and its parts."""
        if not self.states_maximum or self.largest >= ENDLESS:
            yield path


class KindField(Kind):
    """What our fields share; each also inherits from a marshmallow field.

    Our own classes say ``own=True``. Others are refused, because quick tests would pass by what they change.

    Attributes:
        tested: the classes of the checks that `_test` covers.
        quick: the cache of `quick_of`.
    """

    default_error_messages = {
        "required": messages.REQUIRED,
        "null": messages.NULL,
        "validator_failed": messages.INVALID,
    }
    tested: tuple[type, ...] = ()
    quick: Quick | None = None

    def __init_subclass__(cls, *, own: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if not own:
            raise TypeError(f"{cls.__name__}: derive it from a field of marshmallow's, not of gatewayfw's")

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        if value is not missing and value is not None:
            loaded = self._deserialize(value, attr, data, **kwargs)
            if self.validators:
                self._validate(loaded)
            return loaded
        if value is missing and callable(self.load_default):
            value = self.load_default()
        return super().deserialize(value, attr, data, **kwargs)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value

    def keeps(self, sent: Any) -> bool:
        """Tell whether loading changes only the notation, which mode ``assert`` takes."""
        return False

    def quick_test(self) -> Test | None:
        first = self._test()
        if first is None:
            return None
        test = all_of([first, *(test_of(check) for check in self.validators if type(check) not in self.tested)])
        return or_none(test) if self.allow_none else test

    def _test(self) -> Test | None:
        """Return the test of a value, of the checks only those in `tested`; or None."""
        raise NotImplementedError

    def operand(self, value: Any, path: str) -> Any:
        if value is None:
            return None
        result = self._store_operand(value)
        if result is None:
            raise Refused({path: [plain_message(self, "invalid", messages.INVALID)]})
        return result

    def _store_operand(self, value: Any) -> Any:
        """Return the stored form of a value to compare with; None for a wrong type.

        Only the type is checked: a filter may ask for a number beyond the range or a text that is too long.
        """
        raise NotImplementedError


class ReadField(KindField, own=True):
    """What kinds share whose values have another form in Python; `read` makes it."""

    def read(self, value: Any) -> Any:
        """Return the loaded form of a value in any form; None for what is no value."""
        raise NotImplementedError

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        loaded = self.read(value)
        if loaded is None:
            raise self.make_error("invalid")
        return loaded

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return shown_form(self.storer()(value))

    def keeps(self, sent: Any) -> bool:
        """Take any notation of the same value, and objects from server code."""
        return True

    def loader(self, *, fill: bool) -> Load | None:
        return lambda value: value if (loaded := self.read(value)) is None else loaded

    def _store_operand(self, value: Any) -> Any:
        return self.storer()(self.read(value))


def quick_of(field: mm.Field[Any]) -> Quick | None:
    """Return the quick functions of a field, cached on it; None for one not of ours."""
    if not isinstance(field, KindField):
        return None
    known = field.quick
    if known is None or known.field is not field:  # a copied field brings the cache of the original
        load, fill = (field.loader(fill=fill) or as_it_is for fill in (False, True))
        known = field.quick = Quick(field, load, fill, field.quick_test() or never, field.storer())
    return known
