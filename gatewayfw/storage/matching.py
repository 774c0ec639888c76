"""Which documents a filter selects, as MongoDB says it. Pure.

For operators that mongomock 4.3 treats differently, in filters that `gatewayfw.storage.subset` admits.
Compared with MongoDB 6 on random filters.
Source: https://www.mongodb.com/docs/manual/reference/operator/query/.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bson import Code, DatetimeMS, DBRef, Decimal128, MaxKey, MinKey, Timestamp

from gatewayfw.storage.expressions import compile_expression
from gatewayfw.storage.order import order_key
from gatewayfw.storage.subset import is_of_values

_MISSING: Any = object()
_NEW = frozenset({"$not", "$nor", "$all", "$size", "$regex"})
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
#: Types that mongomock does not compare.
_RARE = (Code, DatetimeMS, DBRef, Decimal128, MaxKey, MinKey, Timestamp)
#: Operators that are the opposite of others.
_OPPOSITES = {"$ne": "$eq", "$nin": "$in"}
#: Operators that look at lists as a whole.
_ON_LISTS = frozenset({"$size", "$elemMatch"})


def needs_matching(filter: Any) -> bool:
    """Tell whether a filter has an operator that mongomock treats differently.

    On a path below an object, anything that a missing value may meet; comparisons of `_id`, which may have any type.
    """
    if isinstance(filter, Mapping):
        return any(
            key in _NEW
            or (key == "$elemMatch" and is_of_values(value))
            or ("." in key and _may_be_missing(value))
            or (key == "_id" and isinstance(value, Mapping) and not _ORDERS.keys().isdisjoint(value))
            or needs_matching(value)
            for key, value in filter.items()
        )
    if isinstance(filter, (list, tuple)):
        return any(map(needs_matching, filter))
    return isinstance(filter, _RARE) or (isinstance(filter, float) and filter != filter)  # noqa: PLR0124  # not-a-number


def _may_be_missing(condition: Any) -> bool:
    """Tell whether a condition may hold without a value, or for null.

    mongomock confuses the two below null.
    """
    if not isinstance(condition, Mapping):
        return condition is None
    return any(
        name in ("$exists", "$ne", "$nin") or operand is None or (name == "$in" and None in operand)
        for name, operand in condition.items()
    )


class AnyOf:
    """Equals each of some values.

    For mongomock, whose ``$in`` compares with one after the other.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        known = list(values)
        self._values = frozenset(value for value in known if isinstance(value, Hashable))
        self._others = [value for value in known if not isinstance(value, Hashable)]  # ids of other tools

    def __eq__(self, other: object) -> bool:
        return other in self._values if isinstance(other, Hashable) else other in self._others

    def __hash__(self) -> int:
        return hash(self._values)


def matches(filter: Mapping[str, Any], document: Any) -> bool:
    """Tell whether a filter selects a document."""
    return all(_holds(key, value, document) for key, value in filter.items())


def _holds(key: str, value: Any, document: Any) -> bool:
    if key == "$and":
        return all(matches(part, document) for part in value)
    if key in ("$or", "$nor"):
        return any(matches(part, document) for part in value) == (key == "$or")
    names = key.split(".")
    return _meets(value, lambda whole: list(_values(document, names, whole)))


def _meets(condition: Any, find: Callable[[bool], list[Any]]) -> bool:
    """Tell whether values meet a condition.

    ``find`` gives them: with True lists as a whole, else their elements, too.
    """
    if not (isinstance(condition, Mapping) and any(str(name).startswith("$") for name in condition)):
        return _is_met("$eq", condition, find, "")
    options = condition.get("$options", "")
    return all(_is_met(name, operand, find, options) for name, operand in condition.items() if name != "$options")


def _is_met(name: str, operand: Any, find: Callable[[bool], list[Any]], options: str) -> bool:
    if name == "$not":
        return not _meets(operand, find)
    if name in _OPPOSITES:
        return not _is_met(_OPPOSITES[name], operand, find, options)
    if name == "$exists":
        return any(value is not _MISSING for value in find(False)) is bool(operand)
    if name == "$all":
        return bool(operand) and all(_is_met("$eq", one, find, options) for one in operand)
    return any(_fits(name, value, operand, options) for value in find(name in _ON_LISTS))


def _fits(name: str, value: Any, operand: Any, options: str) -> bool:
    """Tell whether one value fits an operator.

    The elements of a list are values of their own.
    """
    if name == "$in":
        return any(_equals(value, one) for one in operand)
    if name == "$size":
        return isinstance(value, list) and len(value) == operand
    if name == "$elemMatch":
        return isinstance(value, list) and any(_is_element(operand, one) for one in value)
    if name == "$regex":
        return isinstance(value, str) and compile_expression(operand, options).search(value) is not None
    return _equals(value, operand) if name == "$eq" else _compares(name, value, operand)


def _is_element(condition: Mapping[str, Any], element: Any) -> bool:
    if is_of_values(condition):
        return _meets(condition, lambda whole: [element])
    if isinstance(element, list):
        element = {str(place): inner for place, inner in enumerate(element)}
    return isinstance(element, Mapping) and matches(condition, element)


def _equals(value: Any, operand: Any) -> bool:
    return operand is None if value is _MISSING else bool(order_key(value) == order_key(operand))


def _compares(name: str, value: Any, operand: Any) -> bool:
    """Tell whether a value is above or below another of its type."""
    if value is _MISSING:
        return operand is None and name in ("$gte", "$lte")
    one, other = order_key(value), order_key(operand)
    return one[0] == other[0] and _ORDERS[name](one, other)


def distinct_values(documents: Iterable[Mapping[str, Any]], path: str) -> list[Any]:
    """Return the values at a path, each once, but null.

    Of a list its elements count.
    """
    names, found = path.split("."), dict[Any, Any]()
    for document in documents:
        for value in _values(document, names, True):
            for one in value if isinstance(value, list) else [value]:
                if one is not None and one is not _MISSING:
                    found.setdefault(order_key(one), one)
    return list(found.values())


def _values(value: Any, names: Sequence[str], whole: bool) -> Iterator[Any]:
    """Yield the values at a path, through objects and lists of them.

    Of a list its elements and itself, or itself alone where ``whole``.
    """
    if not names:
        yield from value if isinstance(value, list) and not whole else ()
        yield value
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, Mapping):
                yield from _values(inner, names, whole)
        if names[0].isdigit() and int(names[0]) < len(value):
            inner = value[int(names[0])]
            if len(names) == 1 or isinstance(inner, (Mapping, list)):  # nothing is below a scalar, not even null
                yield from _values(inner, names[1:], whole)
    elif isinstance(value, Mapping) and names[0] in value:
        yield from _values(value[names[0]], names[1:], whole)
    else:
        yield _MISSING
