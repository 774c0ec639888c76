"""Dates and moments."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.quick import Purpose, Store, Test
from gatewayfw.schemas.kinds.sizes import NUMBER
from gatewayfw.schemas.values import moment_of


class DateField(KindField, mm.String, own=True):
    """An ISO 8601 date or date and time, kept as sent; server code may pass a datetime."""

    kind = "date"
    sorts = True
    default_error_messages = {"invalid": "Not a valid ISO 8601 date."}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if moment_of(value) is None:
            raise self.make_error("invalid")
        return value

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_date]

    def storer(self) -> Store:
        return lambda value: None if value is None else moment_of(value)

    def _compared(self, value: Any) -> Any:
        return moment_of(value)

    def largest(self) -> int:
        return NUMBER

    def description(self) -> Description:
        return {"kind": "date"}


def _is_date(value: Any) -> bool:
    return (type(value) is str or type(value) is datetime) and moment_of(value) is not None
