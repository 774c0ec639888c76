"""Dates and moments."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Ability, Description, ReadField
from gatewayfw.schemas.kinds.quick import Purpose, Test
from gatewayfw.schemas.kinds.sizes import NUMBER
from gatewayfw.schemas.values import moment_of


class DateField(ReadField, mm.String, own=True):
    """An ISO 8601 date, with or without a time; a `datetime` in UTC when loaded.

    The `datetime` is naive and in whole milliseconds.
    """

    kind = "date"
    sorts = True
    abilities = frozenset({Ability.ORDER, Ability.DATE})
    default_error_messages = {"invalid": "Not a valid ISO 8601 date."}

    def read(self, value: Any) -> datetime | None:
        return moment_of(value)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else value.isoformat(timespec="milliseconds") + "Z"

    def keeps(self, sent: Any, dumped: Any) -> bool:
        """Take any notation of the same moment, and datetimes from server code."""
        return True

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_date]

    def largest(self) -> int:
        return NUMBER

    def description(self) -> Description:
        return {"kind": "date"}


def _is_date(value: Any) -> bool:
    return (type(value) is str or type(value) is datetime) and moment_of(value) is not None
