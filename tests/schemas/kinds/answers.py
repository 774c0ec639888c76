"""What a kind answers to the questions that have one value."""

from __future__ import annotations

from typing import Any

from gatewayfw.errors import ValidationError
from gatewayfw.schemas.kinds import as_kind


def answers(field: Any) -> dict[str, Any]:
    """Return the answers of a field's kind: the operators it has, and of the rare ones those that are yes."""
    kind = as_kind(field)
    rare = ("is_text", "is_free", "is_unknown", "reads_otherwise")
    return {name: True for name in rare if getattr(kind, name)} | {
        "sorts": kind.sorts,
        "abilities": sorted(one.name for one in kind.abilities),
        "sets parts": kind.sets_parts,
        "largest": kind.largest,
        "unstated": list(kind.unstated("x")),
    }


def compared(field: Any, *values: Any) -> list[Any]:
    """Return what a filter compares with each value; the messages of those that are refused."""
    found = []
    for value in values:
        try:
            found.append(as_kind(field).operand(value, "x"))
        except ValidationError as error:
            found.append(error.errors)
    return found
