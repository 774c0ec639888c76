"""The modifiers of ``$push``: which are allowed, and what they make of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatewayfw.storage.order import order_key

#: What ``$push`` takes beside ``$each``.
MODIFIERS = frozenset({"$position", "$slice", "$sort"})
_64_BITS = range(-(2**63), 2**63)
_WRONG_SORT = "$sort takes 1 or -1, alone or for one field of the elements"


def is_each(value: object) -> bool:
    """Tell whether elements in ``$each`` are added, not a single value."""
    return isinstance(value, Mapping) and "$each" in value


def find_fault(modifiers: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the modifiers of a ``$push``; None if nothing is."""
    for name in ("$position", "$slice"):
        if name in modifiers and (type(modifiers[name]) is not int or modifiers[name] not in _64_BITS):
            return f"{name} takes a whole number"
    if "$sort" not in modifiers:
        return None
    order = modifiers["$sort"]
    if isinstance(order, Mapping):
        if len(order) != 1 or not all(isinstance(path, str) and _is_path(path) for path in order):
            return _WRONG_SORT
        (order,) = order.values()
    return None if type(order) is int and order in (1, -1) else _WRONG_SORT


def push(present: Sequence[Any], value: Any) -> list[Any]:
    """Return a list after a ``$push``, as MongoDB pushes: insert, then sort, then cut.

    Elements that are equal in the sort keep their order.
    """
    if not is_each(value):
        return [*present, value]
    place = value.get("$position", len(present))
    if place < 0:
        place = max(0, len(present) + place)
    result = [*present[:place], *value["$each"], *present[place:]]
    if "$sort" in value:
        result = _sorted(result, value["$sort"])
    if "$slice" not in value:
        return result
    most = value["$slice"]
    return result[:most] if most >= 0 else result[most:]


def _sorted(elements: list[Any], order: Any) -> list[Any]:
    """Return elements in order, by their value or by one field."""
    path, direction = next(iter(order.items())) if isinstance(order, Mapping) else ("", order)
    parts = path.split(".") if path else []
    return sorted(elements, key=lambda element: order_key(_value_below(element, parts)), reverse=direction == -1)


def _value_below(value: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _is_path(path: str) -> bool:
    return "\0" not in path and all(part and not part.startswith("$") for part in path.split("."))
