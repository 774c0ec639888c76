"""Quick tests: plain functions made once from a field, which know a good value at once.

Most values are right, and of a right one nothing else needs to be known. So a test says "load
returns this very value, in both modes", or that it cannot say; then the field itself decides, and
it alone words the errors. Only the value kinds of this package with checks of their own have
tests, for values of exactly the types that JSON and BSON are read as: whatever else a user brings
(marshmallow's fields, Schemas, checks, subclasses) is always loaded.

A field is looked at once: changing it after it was given to an act or model has no effect here.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from bson import ObjectId
from marshmallow import ValidationError, missing, validate
from marshmallow import fields as mm

from gatewayfw.schemas.fields import Constant, storer
from gatewayfw.schemas.kinds.base import (
    LONGEST_EMAIL,
    AnyField,
    ArrayField,
    BooleanField,
    DateField,
    EmailField,
    EnumsField,
    FullMatch,
    IntegerField,
    NumberField,
    ObjectField,
    ObjectIdField,
    StringField,
)
from gatewayfw.schemas.select import SelectStruct
from gatewayfw.schemas.values import (
    HIGHEST,
    LOWEST,
    encodable,
    moment_of,
    plain,
    storable,
    storable_key,
)

#: Gives something true for a value that is surely taken as it is.
Test = Callable[[Any], object]
#: Gives the value with its missing constants filled in, the very value where none is missing.
Fill = Callable[[Any], Any]

_INFINITY = float("inf")


@dataclass(frozen=True)
class Purpose:
    """What tests are for: ``free`` tests values that no kind describes, ``name`` the names of fields."""

    free: Test
    name: Test


#: For values as they are sent.
SENT = Purpose(plain, lambda name: True)
#: For values that the database is to hold.
STORED = Purpose(storable, storable_key)


@dataclass(frozen=True)
class Quick:
    """What is quick about storing values of one field: its test, its defaults if any, and its stored form."""

    field: mm.Field[Any]
    test: Test
    fill: Fill | None
    store: Callable[[Any], Any]


def quick_of(field: mm.Field[Any]) -> Quick | None:
    """Return what is quick about storing values of a field, kept on the field; None where nothing is."""
    if type(field) not in TESTS:
        return None
    kept: Any = field
    known: Quick | None = kept.quick
    if known is None or known.field is not field:  # a copy of a field brings what belongs to the first one
        known = kept.quick = Quick(field, quick_test(field, STORED) or _never, fill_of(field), storer(field))
    return known


def quick_test(field: mm.Field[Any], purpose: Purpose = SENT) -> Test | None:
    """Return the quick test of a field; None for a field that has none."""
    if type(field) not in TESTS or field.pre_load or field.post_load:
        return None
    validators = _beside_lengths(field) if type(field) is StringField else field.validators
    checks = [CHECKS[type(check)](check) for check in validators if type(check) in CHECKS]
    if len(checks) < len(validators) or None in checks:
        return None
    tests = TESTS[type(field)](field, purpose)
    if not all(tests):
        return None
    first, *rest = tests
    test = _all([first, *checks, *rest])
    return _or_none(test) if field.allow_none else _but_none(test) if isinstance(field, AnyField) else test


def fill_of(field: mm.Field[Any]) -> Fill | None:
    """Return what fills in the constants that `defaulted` was given; None where nothing could be filled in."""
    if type(field) is ArrayField:
        return _fill_list(field)
    return _fill_object(field) if type(field) is ObjectField and field.fields else None


def hastened(field: mm.Field[Any]) -> mm.Field[Any]:
    """Return a field that is loaded with the tests of those parts that have one, itself where none has.

    The parts of a part with a test have their own, for values of which not all is right.
    """
    if type(field) not in (ArrayField, ObjectField):
        return field
    changed: Any = copy.copy(field)
    changed.takes = quick_test(field)
    if isinstance(field, ArrayField):
        changed.inner = hastened(field.inner)
    elif isinstance(field, ObjectField) and field.fields:
        changed.fields = MappingProxyType({name: hastened(inner) for name, inner in field.fields.items()})
    return changed  # type: ignore[no-any-return]  # a copy of the field


def _never(value: Any) -> bool:
    return False


def _all(tests: list[Any]) -> Test:
    """Return one test for several, in their order."""
    first, *rest = tests
    if not rest:
        return first  # type: ignore[no-any-return]  # a test
    second = _all(rest)
    return lambda value: first(value) and second(value)


def _or_none(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _but_none(test: Test) -> Test:
    return lambda value: value is not None and test(value)


def _text(value: Any) -> bool:
    return type(value) is str and (value.isascii() or encodable(value))


def _string(field: StringField, purpose: Purpose) -> list[Test | None]:
    """Return the test of a text and of its lengths in one: nearly every text has a maximum."""
    least, most = 0, _INFINITY
    for check in field.validators:
        if type(check) is validate.Length:
            low, high = (check.min, check.max) if check.equal is None else (check.equal, check.equal)
            least, most = max(least, low or 0), min(most, _INFINITY if high is None else high)
    return [lambda value: type(value) is str and least <= len(value) <= most and (value.isascii() or encodable(value))]


def _beside_lengths(field: mm.Field[Any]) -> list[Any]:
    """Return the checks of a text that its first test does not make already."""
    return [check for check in field.validators if type(check) is not validate.Length]


def _email(value: Any) -> bool:
    return _text(value) and len(value if value.isascii() else value.encode()) <= LONGEST_EMAIL


def _number(value: Any) -> bool:
    kind = type(value)
    return (kind is int and LOWEST <= value <= HIGHEST) or (kind is float and -_INFINITY < value < _INFINITY)


def _integer(value: Any) -> bool:
    return type(value) is int and LOWEST <= value <= HIGHEST


def _boolean(value: Any) -> bool:
    return value is True or value is False


def _object_id(value: Any) -> bool:
    if type(value) is not str:
        return type(value) is ObjectId
    try:
        return len(value) == 24 and len(bytes.fromhex(value)) == 12  # it passes over spaces, and then gives fewer
    except ValueError:
        return False


def _date(value: Any) -> bool:
    return (type(value) is str or type(value) is datetime) and moment_of(value) is not None


def _list(value: Any) -> bool:
    return type(value) is list


def _enums(field: EnumsField, purpose: Purpose) -> list[Test | None]:
    choices = field.metadata["choices"]
    types = set(map(type, choices))
    if types == {str}:
        texts = frozenset(choices)
        return [lambda value: type(value) is str and value in texts]
    if not types <= {str, int, float, bool} or not all(map(plain, choices)):
        return [None]
    known = {(type(choice), choice) for choice in choices}
    return [lambda value: type(value) in types and (type(value), value) in known]


def _array(field: ArrayField, purpose: Purpose) -> list[Test | None]:
    item = quick_test(field.inner, purpose)
    return [_list, None if item is None else lambda value: all(map(item, value))]


def _object(field: ObjectField, purpose: Purpose) -> list[Test | None]:
    free = purpose.free
    if field.fields is None:
        return [lambda value: type(value) is dict and free(value)]
    must: dict[str, Any] = {}
    may: dict[str, Any] = {}
    for name, inner in field.fields.items():
        (must if _must_be_there(inner) else may)[name] = quick_test(inner, purpose) if purpose.name(name) else None
    tests = {**must, **may}
    return [_fields(must, may)] if all(tests.values()) else [None]


def _fields(must: Mapping[str, Test], may: Mapping[str, Test]) -> Test:
    """Return the test for an object with all keys of ``must``, any of ``may``, and no others."""
    needed, possible, count = tuple(must.items()), tuple(may.items()), len(must)

    def test(value: Any) -> bool:
        if type(value) is not dict:
            return False
        try:
            for name, inner in needed:
                if not inner(value[name]):
                    return False
        except KeyError:
            return False
        others = len(value) - count
        if others:
            for name, inner in possible:
                if name in value:
                    if not inner(value[name]):
                        return False
                    others -= 1
        return not others

    return test


def _must_be_there(field: mm.Field[Any]) -> bool:
    return field.required or field.load_default is not missing


#: The tests of each kind, by its class; what a field's own checks say comes after the first.
TESTS: Mapping[type, Callable[[Any, Purpose], list[Test | None]]] = MappingProxyType(
    {
        StringField: _string,
        EmailField: lambda field, purpose: [_email],
        NumberField: lambda field, purpose: [_number],
        IntegerField: lambda field, purpose: [_integer],
        BooleanField: lambda field, purpose: [_boolean],
        ObjectIdField: lambda field, purpose: [_object_id],
        DateField: lambda field, purpose: [_date],
        EnumsField: _enums,
        AnyField: lambda field, purpose: [purpose.free],
        ArrayField: _array,
        ObjectField: _object,
        SelectStruct: lambda field, purpose: [field.takes],
    }
)


def _length(check: validate.Length) -> Test:
    if check.equal is not None:
        return lambda value: len(value) == check.equal
    least, most = check.min or 0, _INFINITY if check.max is None else check.max
    return lambda value: least <= len(value) <= most


def _range(check: validate.Range) -> Test | None:
    least, most = check.min, check.max
    if not (check.min_inclusive and check.max_inclusive):
        return None
    return lambda value: (least is None or value >= least) and (most is None or value <= most)


def _is_email(check: validate.Email) -> Test:
    def test(value: str) -> bool:
        try:
            check(value)
        except ValidationError:
            return False
        return True

    return test


#: The tests for the checks of a field, by their class.
CHECKS: Mapping[type, Callable[[Any], Test | None]] = MappingProxyType(
    {
        validate.Length: _length,
        validate.Range: _range,
        validate.Email: _is_email,
        FullMatch: lambda check: check.regex.fullmatch,
    }
)


def _fill_list(field: ArrayField) -> Fill | None:
    item = fill_of(field.inner)
    if item is None:
        return None

    def fill(value: Any) -> Any:
        if type(value) is not list:
            return value
        filled = list(map(item, value))
        return value if all(map(operator.is_, filled, value)) else filled

    return fill


def _fill_object(field: ObjectField) -> Fill | None:
    fields: Mapping[str, mm.Field[Any]] = field.fields or {}
    constants = [(name, _constant(inner.load_default)) for name, inner in fields.items() if _is_constant(inner)]
    fills = [(name, found) for name, inner in fields.items() if (found := fill_of(inner)) is not None]
    if not constants and not fills:
        return None

    def fill(value: Any) -> Any:
        if type(value) is not dict:
            return value
        changed: dict[str, Any] = {}
        for name, constant in constants:
            if name not in value:
                changed[name] = constant()
        for name, inner in fills:
            if name in value and (filled := inner(value[name])) is not value[name]:
                changed[name] = filled
        if not changed or not value.keys() <= fields.keys():
            return value
        changed = {**value, **changed}
        return {name: changed[name] for name in fields if name in changed}  # load orders what it changed

    return fill


def _is_constant(field: mm.Field[Any]) -> bool:
    return isinstance(field.load_default, Constant) and not field.required


def _constant(default: Constant) -> Callable[[], Any]:
    value = default.value
    return (lambda: value) if value is None or isinstance(value, (str, int, float)) else default
