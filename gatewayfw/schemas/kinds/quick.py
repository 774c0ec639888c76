"""Quick tests: functions made once from a field that recognise valid values.

Most values are valid and need no further checks. So a test either says "mode ``assert`` takes this value, and load
returns it unchanged", or that it does not know; then the field itself decides, and only the field words errors. Where
load turns a valid value into another (an id, a date), a function makes just that value and leaves invalid ones to the
test.

Only the value kinds of this package, with their own checks, have tests, and only for values of exactly the types that
JSON and BSON are read as. Anything else (marshmallow's fields, Schemas, checks, subclasses) is always loaded.

Each kind makes its own tests; here is what they are made of. A field is looked at once: changing it
after it was given to an act or model has no effect here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from marshmallow import ValidationError, missing, validate
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.checks import FullMatch
from gatewayfw.schemas.values import plain, storable, storable_key

#: Gives something true for a value that is surely taken as it is.
Test = Callable[[Any], object]
#: Gives what a good value is loaded as, the very value where that is the same; anything for another.
Load = Callable[[Any], Any]
#: Gives the stored form of a value.
Store = Callable[[Any], Any]

INFINITY = float("inf")


@dataclass(frozen=True)
class Purpose:
    """What tests are for: free values have the test ``free``, field names ``name``."""

    free: Test
    name: Test


#: For values as they are sent.
SENT = Purpose(plain, lambda name: True)
#: For values that the database is to hold.
STORED = Purpose(storable, storable_key)


@dataclass(frozen=True)
class Quick:
    """What is quick about storing values of one field.

    Attributes:
        load, fill: give the loaded form, ``fill`` with the constants that are missing.
        test: knows good values in their loaded form; ``store`` gives the stored form of these.
    """

    field: mm.Field[Any]
    load: Load
    fill: Load
    test: Test
    store: Store


def never(value: Any) -> bool:
    """Know no value."""
    return False


def as_it_is(value: Any) -> Any:
    """Return a value whose other form is the same."""
    return value


def quickly(load: Load | None, test: Test | None) -> Load | None:
    """Return what loads good values and gives `missing` for others.

    None where there is no test.
    """
    if test is None:
        return None
    loads = load or as_it_is

    def load_good(value: Any) -> Any:
        loaded = loads(value)
        return loaded if test(loaded) else missing

    return load_good


def all_of(tests: Sequence[Any]) -> Test:
    """Return one test for several, in their order."""
    first, *rest = tests
    if not rest:
        return first  # type: ignore[no-any-return]  # a test
    second = all_of(rest)
    return lambda value: first(value) and second(value)


def or_none(test: Test) -> Test:
    """Return the test that knows None, too."""
    return lambda value: value is None or test(value)


def but_none(test: Test) -> Test:
    """Return the test that does not know None."""
    return lambda value: value is not None and test(value)


def tests_of(checks: Sequence[Any]) -> list[Test] | None:
    """Return the tests for the checks of a field; None where one of them has none."""
    tests = [CHECKS[type(check)](check) for check in checks if type(check) in CHECKS]
    return [test for test in tests if test] if len(tests) == len(checks) and None not in tests else None


def _length(check: validate.Length) -> Test:
    if check.equal is not None:
        return lambda value: len(value) == check.equal
    least, most = check.min or 0, INFINITY if check.max is None else check.max
    return lambda value: least <= len(value) <= most


def _range(check: validate.Range) -> Test | None:
    least, most = check.min, check.max
    if not (check.min_inclusive and check.max_inclusive):
        return None
    return lambda value: (least is None or value >= least) and (most is None or value <= most)


def _asked(check: validate.Email | validate.URL) -> Test:
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
        validate.Email: _asked,
        validate.URL: _asked,
        FullMatch: lambda check: check.regex.fullmatch,
    }
)
