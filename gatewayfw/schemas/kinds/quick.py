"""Quick tests: functions that recognise valid values, made once from a field.

Most values are valid and need no further checks. So a test either says "mode ``assert`` takes this value, and load
returns it unchanged", or that it does not know; then the field itself decides, and only the field words errors. Where
load turns a valid value into another (an id, a date), a function makes just that value and leaves invalid ones to the
test.

Only our value kinds have tests, and only for values of exactly the types that JSON and BSON are read as. Anything else
(marshmallow's fields, Schemas, subclasses of types) is always loaded.

Each kind makes its own tests from the parts in this module. A field is read once: changing it after an
act or model was given it has no effect here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.checks import FullMatch

#: Returns something true for a value that is certainly valid as it is.
Test = Callable[[Any], object]
#: Returns the loaded form of a valid value, the same object if nothing changes; for other values, anything.
Load = Callable[[Any], Any]
#: Returns the stored form of a value.
Store = Callable[[Any], Any]

INFINITY = math.inf


@dataclass(frozen=True)
class Quick:
    """The quick functions of one field.

    Attributes:
        load, fill: return the loaded form; ``fill`` adds missing constant defaults.
        test: recognises valid values, in their loaded form.
        store: returns the stored form of a loaded value.
    """

    field: mm.Field[Any]
    load: Load
    fill: Load
    test: Test
    store: Store


def never(value: Any) -> bool:
    """Recognise no value."""
    return False


def as_it_is(value: Any) -> Any:
    """Return a value unchanged."""
    return value


def passes(function: Callable[[Any], Any]) -> Test:
    """Return the test whether a function raises no ``ValidationError`` of marshmallow."""

    def test(value: Any) -> bool:
        try:
            function(value)
        except ValidationError:
            return False
        return True

    return test


def test_of(check: Any) -> Test:
    """Return the test of a check, for ranges and patterns one that does not call it."""
    if type(check) is FullMatch:
        return check.regex.fullmatch
    if type(check) is validate.Range and check.min_inclusive and check.max_inclusive:
        least, most = check.min, check.max
        return lambda value: (least is None or value >= least) and (most is None or value <= most)
    return passes(check)


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


def object_test(must: Mapping[str, Test], may: Mapping[str, Test]) -> Test:
    """Return the test for an object: all keys of ``must``, no others but of ``may``."""
    needed, possible, count = tuple(must.items()), tuple(may.items()), len(must)
    if not needed and not possible:
        return lambda value: type(value) is dict and not value

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


def object_loader(
    names: Sequence[str], constants: Mapping[str, Callable[[], Any]], loaders: Mapping[str, Load]
) -> Load:
    """Return the function that loads an object.

    ``constants`` fill in absent fields, ``loaders`` load present ones. The result has the order of ``names``.
    """
    filled, loads, known = tuple(constants.items()), tuple(loaders.items()), frozenset(names)

    def load(value: Any) -> Any:
        if type(value) is not dict:
            return value
        changed: dict[str, Any] = {}
        for name, constant in filled:
            if name not in value:
                changed[name] = loaders.get(name, as_it_is)(constant())
        for name, inner in loads:
            if name in value and (loaded := inner(value[name])) is not value[name]:
                changed[name] = loaded
        if not changed or not value.keys() <= known:
            return value
        changed = {**value, **changed}
        return {name: changed[name] for name in names if name in changed}

    return load


def object_storer(storers: Mapping[str, Store]) -> Store:
    """Return the function that stores an object, in the order of its fields.

    To a database, objects with the same keys in another order are others.
    """
    pairs = tuple(storers.items())

    def store(value: Any) -> Any:
        return None if value is None else {name: inner(value[name]) for name, inner in pairs if name in value}

    return store
