"""Pure functions that judge what an update made of a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bson import Decimal128

from gatewayfw import messages
from gatewayfw.errors import ValidationError
from gatewayfw.odm.reading.paths import value_at
from gatewayfw.odm.writing.updates import Change, named_field
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.values import HIGHEST, LOWEST
from gatewayfw.storage.update_operators import beyond_64_bits


def check_result(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> None:
    """Check the current values of the fields that operators changed.

    Raises:
        ValidationError: one no longer fits its field.
    """
    beyond = [path for path, _ in change.calculated if _is_beyond(value_at(document, path))]
    if beyond:
        raise beyond_64_bits(beyond)
    for name in change.recheck:
        if name in document:
            check_value(schema.pure[name], document[name], f"update.{name}")
        elif schema.pure[name].required:
            raise ValidationError({f"update.{name}": [messages.REQUIRED]})


def find_corrections(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decimals that lack the places of their fields, corrected, by path.

    For example, MongoDB multiplies an absent decimal to 0, without its places.

    Raises:
        ValidationError: one does not fit its field.
    """
    corrections: dict[str, Any] = {}
    for path, amount in change.calculated:
        if isinstance(amount, Decimal128):
            value = value_at(document, path)
            stored = check_value(named_field(schema, path), value, f"update.{path}")
            if getattr(stored, "bid", None) != value.bid:
                corrections[path] = stored
    return corrections


def _is_beyond(value: Any) -> bool:
    """Tell whether a permissive storage holds a number beyond 64 bits."""
    return isinstance(value, int) and not LOWEST <= value <= HIGHEST
