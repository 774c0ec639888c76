"""How deep and how wide a `get` may be. Pure.

Lists count like objects: a validator other than a select struct may allow them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gatewayfw import messages


class Bounds(Protocol):
    """The bounds of a `get`, from the settings or from the ceilings of one act."""

    @property
    def max_get_depth(self) -> int:
        """Deepest nesting."""

    @property
    def max_get_leaves(self) -> int:
        """Most leaves: names and list items that contain no others."""


@dataclass(frozen=True)
class Ceilings:
    """The `Bounds` of one act."""

    max_get_depth: int
    max_get_leaves: int


def bounds_problem(get: Mapping[Any, Any], bounds: Bounds) -> str | None:
    """Return why a `get` is too deep or too wide, or None."""
    most_levels, most_leaves = bounds.max_get_depth, bounds.max_get_leaves
    total = 0
    for depth, leaves in _nodes(get):
        if depth > most_levels:
            return messages.TOO_DEEP.format(max=most_levels)
        total += leaves
        if total > most_leaves:
            return messages.TOO_MANY_FIELDS.format(max=most_leaves)
    return None


def count_leaves(get: Mapping[Any, Any]) -> int:
    """Return the number of leaves of a `get`."""
    return sum(leaves for _, leaves in _nodes(get))


def _nodes(get: Mapping[Any, Any]) -> Iterator[tuple[int, int]]:
    waiting: list[tuple[Any, int]] = [(get, 1)]
    while waiting:
        current, depth = waiting.pop()
        items = current if isinstance(current, list) else current.values()
        # Nearly all are 1 or 0; asking whether something is a Mapping takes ten times as long.
        inner = [item for item in items if type(item) is not int and item and isinstance(item, (list, Mapping))]
        yield depth, len(current) - len(inner)
        waiting.extend((item, depth + 1) for item in inner)
