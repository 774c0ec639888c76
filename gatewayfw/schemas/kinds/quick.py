"""Quick tests: functions that recognise valid values, made once from a field.

Most values are valid and need no further checks. So a test either says "mode ``assert`` takes this value, and load
returns it unchanged", or that it does not know; then the field itself decides, and only the field words errors. Where
load turns a valid value into another (an id, a date), a function makes just that value and leaves invalid ones to the
test.

Only the value kinds of this package, with their own checks, have tests, and only for values of exactly the types that
JSON and BSON are read as. Anything else (marshmallow's fields, Schemas, checks, subclasses) is always loaded.

Each kind makes its own tests from the parts in this module. A field is read once: changing it after an
act or model was given it has no effect here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.checks import FullMatch
from gatewayfw.schemas.values import plain, storable, storable_key

#: Returns something true for a value that is certainly valid as it is.
Test = Callable[[Any], object]
#: Returns the loaded form of a valid value, the same object if nothing changes; for other values, anything.
Load = Callable[[Any], Any]
#: Returns the stored form of a value.
Store = Callable[[Any], Any]

INFINITY = math.inf


@dataclass(frozen=True)
class Purpose:
    """The tests for one purpose: ``free`` for free values, ``name`` for field names."""

    free: Test
    name: Test


#: For values as clients send them.
SENT = Purpose(plain, lambda name: True)
#: For values to be stored.
STORED = Purpose(storable, storable_key)


@dataclass(frozen=True)
class Quick:
    """The quick functions of one field.

    Attributes:
        load, fill: return the loaded form; ``fill`` adds missing constant defaults.
        test: recognises values to be stored that are valid, in their loaded form.
        store: returns the stored form of a loaded value.
        takes: recognises values as clients send them that are valid, in their loaded form.
    """

    field: mm.Field[Any]
    load: Load
    fill: Load
    test: Test
    store: Store
    takes: Test


def never(value: Any) -> bool:
    """Recognise no value."""
    return False


def as_it_is(value: Any) -> Any:
    """Return a value unchanged."""
    return value


def all_of(tests: Sequence[Any]) -> Test:
    """Return one test that runs several in order."""
    first, *rest = tests
    if not rest:
        return first  # type: ignore[no-any-return]  # a test
    second = all_of(rest)
    return lambda value: first(value) and second(value)


def or_none(test: Test) -> Test:
    """Return a test that takes None, too."""
    return lambda value: value is None or test(value)


def tests_of(checks: Sequence[Any]) -> list[Test] | None:
    """Return the tests for a field's checks; None where one check has no test."""
    tests = [CHECKS[type(check)](check) for check in checks if type(check) in CHECKS]
    return [test for test in tests if test] if len(tests) == len(checks) and None not in tests else None


def _test_length(check: validate.Length) -> Test:
    if check.equal is not None:
        return lambda value: len(value) == check.equal
    least, most = check.min or 0, INFINITY if check.max is None else check.max
    return lambda value: least <= len(value) <= most


def _test_range(check: validate.Range) -> Test | None:
    least, most = check.min, check.max
    if not (check.min_inclusive and check.max_inclusive):
        return None
    return lambda value: (least is None or value >= least) and (most is None or value <= most)


def _ask_check(check: validate.Email | validate.URL) -> Test:
    def test(value: str) -> bool:
        try:
            check(value)
        except ValidationError:
            return False
        return True

    return test


#: The tests for checks, by the class of the check.
CHECKS: Mapping[type, Callable[[Any], Test | None]] = MappingProxyType(
    {
        validate.Length: _test_length,
        validate.Range: _test_range,
        validate.Email: _ask_check,
        validate.URL: _ask_check,
        FullMatch: lambda check: check.regex.fullmatch,
    }
)
