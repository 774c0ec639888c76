"""Whether stored values have the form that their fields store. Pure.

A value fits its field if the field would store just it, in the same types: what is loaded and stored of it is the value
again. So a number in text does not fit `integer`, a float does not fit `decimal`, and a text that is too long does not
fit `string`. Only what is declared is judged: an object may have more names, and a default need not be filled in. A
user's marshmallow Schema judges its objects whole. All our choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from bson import Binary, Decimal128, Int64
from bson.errors import BSONError
from marshmallow import ValidationError, missing, validate
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.checks import lengths, load_part
from gatewayfw.schemas.kinds.containers import ArrayField, ContainerField
from gatewayfw.schemas.kinds.numbers import DecimalField, IntegerField
from gatewayfw.schemas.kinds.quick import INFINITY, Test, as_it_is, never, test_of
from gatewayfw.schemas.values import same, storable_key

#: The types of what marshmallow's fields of these classes store as it is.
_AS_IT_IS: Mapping[type, type] = MappingProxyType(
    {
        **dict.fromkeys((mm.String, mm.Email, mm.Url), str),
        **{mm.Integer: int, mm.Float: float, mm.Boolean: bool},
        **dict.fromkeys((mm.DateTime, mm.NaiveDateTime, mm.AwareDateTime), datetime),
    }
)
#: What fields and their checks raise on values that they did not expect.
_REFUSALS = (ValidationError, Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, BSONError)


@dataclass(frozen=True)
class StoredForm:
    """The form of what a field stores, made once from the field.

    Attributes:
        fits: tells whether a stored value has it.
        parts: the forms of an object's parts by name; `each` is that of every part of a list or a map.
    """

    field: mm.Field[Any]
    fits: Test
    parts: Mapping[str, StoredForm]
    each: StoredForm | None = None

    def misfits(self, value: Any, path: str) -> Iterator[tuple[str, Any, StoredForm]]:
        """Yield each part of a stored value that does not fit: its path, it, and its form.

        The path begins with ``path``; ``[]`` stands for each element of a list, ``*`` for each name of a map. A part is
        `missing` where a required one is not there. A value whose parts fit is a misfit itself.
        """
        if self.fits(value):
            return
        found = False
        for place, form, part in self._split(value, path):
            for misfit in form.misfits(part, place):
                found = True
                yield misfit
        if not found:
            yield path, value, self

    def has_type(self, value: Any) -> bool:
        """Tell whether a value has the right type, be its content allowed or not."""
        kind = as_kind(self.field)
        if isinstance(value, float) and isinstance(getattr(kind, "wrapped", kind), (IntegerField, mm.Integer)):
            return False
        if isinstance(value, list) or kind.elements is not None:
            return isinstance(value, list) and kind.elements is not None
        try:
            return value is not None and _is_stored_as(kind.operand(value, ""), value)
        except _REFUSALS:
            return False

    def _split(self, value: Any, path: str) -> Iterator[tuple[str, StoredForm, Any]]:
        if self.each is not None and isinstance(value, list):
            yield from ((f"{path}.[]", self.each, item) for item in value)
        elif self.each is not None and isinstance(value, dict):
            yield from ((f"{path}.*", self.each, item) for item in value.values())
        elif isinstance(value, dict):
            yield from (
                (f"{path}.{name}".removeprefix("."), form, value.get(name, missing))
                for name, form in self.parts.items()
                if name in value or form.field.required
            )


def form_of(field: mm.Field[Any]) -> StoredForm:
    """Return the form of what a field stores.

    Make it once for each field: only its tests are quick. That of a model's documents is the form of
    `ModelSchema.document`.
    """
    if not isinstance(field, ContainerField) or field.is_free:
        return StoredForm(field, _or_null(field, _value_test(field)), {})
    parts = {name: form_of(inner) for name, inner in (field.fields or {}).items()}
    each = form_of(field.inner) if field.fields is None else None
    test = _object_test(parts) if each is None else _each_test(field, each.fits)
    bare = StoredForm(field, test, parts, each)
    return replace(bare, fits=_or_null(field, _whole_test(field, bare)))


def _value_test(field: mm.Field[Any]) -> Test:
    """Return the test of a value whose field is asked about it as a whole."""

    def test_slowly(value: Any) -> bool:
        if type(value) is Int64:
            value = int(value)
        elif isinstance(value, UUID):  # so the app's database reads them
            value = Binary.from_uuid(value)
        return _stores(field, value)

    quick = quick_of(field)
    if quick is None or isinstance(field, DecimalField):
        first = _decimal_test(field) if isinstance(field, DecimalField) else _foreign_test(field)
        return lambda value: first(value) or test_slowly(value)
    load, test, store = quick.load, quick.test, quick.store
    if load is as_it_is and store is as_it_is:
        return lambda value: test(value) or test_slowly(value)

    def test_quickly(value: Any) -> bool:
        loaded = load(value)
        return bool(test(loaded) and same(store(loaded), value)) or test_slowly(value)

    return test_quickly


def _decimal_test(field: mm.Field[Any]) -> Test:
    """Return a test of decimals with all their places; what it refuses may still fit."""
    exponent, checks = -field.metadata["places"], [test_of(check) for check in field.validators]

    def test(value: Any) -> bool:
        if type(value) is not Decimal128:
            return False
        number = value.to_decimal()
        return number.as_tuple().exponent == exponent and all(check(number) for check in checks)

    return test


def _foreign_test(field: mm.Field[Any]) -> Test:
    """Return a test of what fits a user's field; what it refuses may still fit."""
    wrapped = getattr(field, "wrapped", field)
    expected = _AS_IT_IS.get(type(wrapped))
    if expected is None or wrapped.pre_load or wrapped.post_load or (wrapped.validators and expected is datetime):
        return never
    checks = [test_of(check) for check in wrapped.validators]
    return lambda value: type(value) is expected and value == value and all(check(value) for check in checks)


def _object_test(parts: Mapping[str, StoredForm]) -> Test:
    tests = tuple((name, form.fits, form.field.required) for name, form in parts.items())

    def test(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, part_fits, required in tests:
            part = value.get(name, missing)
            if required if part is missing else not part_fits(part):
                return False
        return True

    return test


def _each_test(field: ContainerField, each: Test) -> Test:
    if not isinstance(field, ArrayField):
        return lambda value: type(value) is dict and all(map(storable_key, value)) and all(map(each, value.values()))
    least, most = lengths(field)
    end = INFINITY if most is None else most
    return lambda value: type(value) is list and least <= len(value) <= end and all(map(each, value))


def _whole_test(field: ContainerField, bare: StoredForm) -> Test:
    """Return a test of the parts together with a user's checks of the whole."""
    is_asked = isinstance(field, ArrayField) and all(isinstance(check, validate.Length) for check in field.validators)
    if is_asked or not field.validators:
        return bare.fits
    return lambda value: bare.fits(value) and _stores(field, _declared(bare, value))


def _or_null(field: mm.Field[Any], test: Test) -> Test:
    """Return the test that takes null if the field does."""
    if field.allow_none:
        return lambda value: value is None or test(value)
    return lambda value: value is not None and value is not missing and test(value)


def _declared(form: StoredForm, value: Any) -> Any:
    """Return a value that fits without the names that are not declared."""
    if value is None or not (form.parts or form.each):
        return value
    if form.each is None:
        return {name: _declared(part, value[name]) for name, part in form.parts.items() if name in value}
    if isinstance(value, list):
        return [_declared(form.each, item) for item in value]
    return {name: _declared(form.each, item) for name, item in value.items()}


def _stores(field: mm.Field[Any], value: Any) -> bool:
    """Tell whether a field takes a value, and stores it as it is."""
    kind = as_kind(field)
    try:
        return _is_stored_as(kind.storer()(load_part(kind, value)), value)
    except _REFUSALS:
        return False


def _is_stored_as(stored: Any, value: Any) -> bool:
    """Tell whether a value is what its field stores of it.

    A whole number is the same to a field that stores floats, since ``$inc`` stores one. Names that are not declared may
    be on one side, and defaults on the other.
    """
    if isinstance(stored, list) and isinstance(value, list):
        return len(stored) == len(value) and all(map(_is_stored_as, stored, value))
    if isinstance(stored, dict) and isinstance(value, dict):
        if not (stored.keys() <= value.keys() or value.keys() <= stored.keys()):
            return False
        return all(_is_stored_as(stored[name], value[name]) for name in stored.keys() & value.keys())
    if isinstance(value, int) and type(stored) in (int, float) and not isinstance(value, bool):
        return bool(stored == value)
    if isinstance(value, UUID):
        value = Binary.from_uuid(value)
    return same(stored, value)
