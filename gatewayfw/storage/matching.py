"""Which documents a filter selects, as MongoDB says it. Pure.

For the filters that `gatewayfw.storage.subset` admits; compared with MongoDB 6 on random ones.
Source: https://www.mongodb.com/docs/manual/reference/operator/query/.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from bson import ObjectId

from gatewayfw.errors import StorageError
from gatewayfw.storage.expressions import compile_expression
from gatewayfw.storage.order import order_key
from gatewayfw.storage.subset import is_of_values

T = TypeVar("T")
#: Tells whether a document, or a value, is selected.
Predicate = Callable[[Any], bool]
#: Tells whether the values found at a path meet a condition. A list among them stands for itself and its elements.
_Condition = Callable[[list[Any]], bool]

_MISSING: Any = object()
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
#: Operators that are the opposite of others.
_OPPOSITES = {"$ne": "$eq", "$nin": "$in"}


class _Whole(list[Any]):
    """A list at a place in a list, which a path names: it stands for itself alone."""


def matches(filter: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Tell whether a filter selects a document."""
    return compile_filter(filter)(document)


def compile_filter(filter: Mapping[str, Any]) -> Predicate:
    """Return the function that tells whether the filter selects a document.

    Raises:
        StorageError: an operator is not known.
    """
    return _all_of([_compile_part(key, value) for key, value in filter.items()])


def compile_element(condition: Any) -> Predicate:
    """Return the function that tells whether ``$pull`` takes an element away."""
    if not isinstance(condition, Mapping):
        return _equal_to(condition)
    if _has_operators(condition):
        meets = _compile_condition(condition, _any_within)
        return lambda element: meets([element])
    selects = compile_filter(condition)
    return lambda element: isinstance(element, Mapping) and selects(element)


def matched_place(filter: Mapping[str, Any], document: Mapping[str, Any], path: str) -> int:
    """Return the place of the element that a filter's conditions on a list matched.

    ``path`` is that of the list.

    Raises:
        StorageError: there is none.
    """
    elements = next(_values(document, path.split(".")), None)
    conditions = list(_compile_conditions_on(path, filter))
    for place, element in enumerate(elements if isinstance(elements, list) and conditions else ()):
        if all(fits(element) for fits in conditions):
            return place
    raise StorageError("the filter matched no element for the positional path")


def distinct_values(documents: Iterable[Mapping[str, Any]], path: str) -> list[Any]:
    """Return the values at a path, each once, without null.

    Each element of a list is a value.
    """
    names, found = path.split("."), dict[Any, Any]()
    for document in documents:
        for value in _values(document, names):
            for one in value if isinstance(value, list) else [value]:
                if one is not None and one is not _MISSING:
                    found.setdefault(order_key(one), one)
    return list(found.values())


def _all_of(predicates: Sequence[Callable[[T], bool]]) -> Callable[[T], bool]:
    if len(predicates) == 1:
        return predicates[0]

    def fits_all(value: T) -> bool:
        for fits in predicates:  # noqa: SIM110  # all() takes twice as long
            if not fits(value):
                return False
        return True

    return fits_all


def _compile_part(key: str, value: Any) -> Predicate:
    if key == "$and":
        return _all_of([compile_filter(part) for part in value])
    if key in ("$or", "$nor"):
        parts, is_or = [compile_filter(part) for part in value], key == "$or"
        return lambda document: any(selects(document) for selects in parts) == is_or
    if key.startswith("$"):
        raise StorageError(f"unknown operator {key}")
    names = key.split(".")
    meets = _compile_condition(value, _any_within)
    if len(names) == 1:
        return lambda document: meets([document.get(key, _MISSING)])
    return lambda document: meets(list(_values(document, names)))


def _compile_conditions_on(path: str, filter: Mapping[str, Any]) -> Iterator[Predicate]:
    """Yield the conditions of a filter on the list at a path, for one element."""
    for key, value in filter.items():
        if key == "$and":
            for part in value:
                yield from _compile_conditions_on(path, part)
        elif key == path and isinstance(value, Mapping) and "$elemMatch" in value:
            yield _compile_element_match(value["$elemMatch"])
        elif key == path:
            yield compile_element(value)
        elif key.startswith(f"{path}."):
            yield compile_element({key.removeprefix(f"{path}."): value})


def _has_operators(condition: Any) -> bool:
    return isinstance(condition, Mapping) and any(str(name).startswith("$") for name in condition)


def _compile_condition(condition: Any, on_values: Callable[[Predicate], _Condition]) -> _Condition:
    """Return the condition of a filter on one field.

    ``on_values`` makes a condition of what one value must fit: `_any_within`, or `_any_alone` for the elements in
    an ``$elemMatch``, of which those that are lists count as a whole.
    """
    if not _has_operators(condition):
        return on_values(_equal_to(condition))
    options = condition.get("$options", "")
    parts = [
        _compile_operator(name, operand, options, on_values)
        for name, operand in condition.items()
        if name != "$options"
    ]
    return _all_of(parts)


def _compile_operator(
    name: str, operand: Any, options: str, on_values: Callable[[Predicate], _Condition]
) -> _Condition:
    if name == "$not":
        return _opposite(_compile_condition(operand, on_values))
    if name in _OPPOSITES:
        return _opposite(_compile_operator(_OPPOSITES[name], operand, options, on_values))
    if name == "$exists":
        exists = _any_alone(lambda value: value is not _MISSING)
        return exists if operand else _opposite(exists)
    if name == "$all":
        return _all_of([on_values(_equal_to(one)) for one in operand]) if operand else lambda found: False
    if name == "$size":
        return _any_alone(lambda value: isinstance(value, list) and len(value) == operand)
    if name == "$elemMatch":
        fits = _compile_element_match(operand)
        return _any_alone(lambda value: isinstance(value, list) and any(map(fits, value)))
    return on_values(_compile_comparison(name, operand, options))


def _opposite(meets: _Condition) -> _Condition:
    return lambda found: not meets(found)


def _any_within(fits: Predicate) -> _Condition:
    def meets(found: list[Any]) -> bool:
        for value in found:  # noqa: SIM110  # any() takes twice as long
            if fits(value) or (type(value) is list and any(map(fits, value))):
                return True
        return False

    return meets


def _any_alone(fits: Predicate) -> _Condition:
    return lambda found: any(map(fits, found))


def _compile_element_match(condition: Mapping[str, Any]) -> Predicate:
    if is_of_values(condition):
        meets = _compile_condition(condition, _any_alone)
        return lambda element: meets([element])
    selects = compile_filter(condition)

    def fits(element: Any) -> bool:
        if isinstance(element, list):  # to MongoDB an object whose names are the places
            element = {str(place): inner for place, inner in enumerate(element)}
        return isinstance(element, Mapping) and selects(element)

    return fits


def _compile_comparison(name: str, operand: Any, options: str) -> Predicate:
    """Compile the comparison of an operator for single values."""
    if name == "$eq":
        return _equal_to(operand)
    if name == "$in":
        keys, has_null = frozenset(map(order_key, operand)), None in operand
        return lambda value: has_null if value is _MISSING else order_key(value) in keys
    if name == "$regex":
        search = compile_expression(operand, options).search
        return lambda value: isinstance(value, str) and search(value) is not None
    if name in _ORDERS:
        return _compile_order(name, operand)
    raise StorageError(f"unknown operator {name}")


def _equal_to(operand: Any) -> Predicate:
    if operand is None:
        return lambda value: value is None or value is _MISSING
    if isinstance(operand, (str, ObjectId)):  # most conditions are of these
        return lambda value: bool(value == operand)
    key = order_key(operand)
    return lambda value: value is not _MISSING and bool(order_key(value) == key)


def _compile_order(name: str, operand: Any) -> Predicate:
    """Compile a comparison by order, which holds within one type."""
    key, is_ordered = order_key(operand), _ORDERS[name]
    of_missing = operand is None and name in ("$gte", "$lte")

    def fits(value: Any) -> bool:
        if value is _MISSING:
            return of_missing
        one = order_key(value)
        return one[0] == key[0] and is_ordered(one, key)

    return fits


def _values(value: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the values at a path, through objects and lists; lists there as a whole."""
    if not names:
        yield value
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, Mapping):
                yield from _values(inner, names)
        if names[0].isdigit() and int(names[0]) < len(value):
            inner = value[int(names[0])]
            if len(names) == 1:
                yield _Whole(inner) if isinstance(inner, list) else inner
            elif isinstance(inner, (Mapping, list)):  # nothing is below a scalar, not even null
                yield from _values(inner, names[1:])
    elif isinstance(value, Mapping) and names[0] in value:
        yield from _values(value[names[0]], names[1:])
    else:
        yield _MISSING
