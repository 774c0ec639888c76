"""Calls of which a test wants the refusal as a value."""

from __future__ import annotations

from typing import Any

from gatewayfw.errors import ValidationError


def refusals(function: Any, *arguments: Any) -> dict[str, list[str]] | None:
    """Return the errors of a call by path, None when it raised none."""
    try:
        function(*arguments)
    except ValidationError as error:
        return error.errors
    return None
