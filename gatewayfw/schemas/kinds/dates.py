"""Dates and moments."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import ORDERED, Description, KindField
from gatewayfw.schemas.kinds.quick import Load, Purpose, Test
from gatewayfw.schemas.kinds.sizes import NUMBER
from gatewayfw.schemas.values import moment_of


class DateField(KindField, mm.String, own=True):
    """An ISO 8601 date or date and time; loaded, a `datetime` in UTC.

    It is naive, of whole milliseconds.
    """

    kind = "date"
    sorts = True
    operators = ORDERED
    default_error_messages = {"invalid": "Not a valid ISO 8601 date."}

    @property
    def dumps_itself(self) -> bool:
        return False

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        loaded = moment_of(value)
        if loaded is None:
            raise self.make_error("invalid")
        return loaded

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else value.isoformat(timespec="milliseconds") + "Z"

    def keeps(self, sent: Any, dumped: Any) -> bool:
        """Tell that a moment in another notation, or server code's own, is the same one."""
        return True

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_date]

    def loader(self, *, fill: bool) -> Load | None:
        return lambda value: value if (loaded := moment_of(value)) is None else loaded

    def _compared(self, value: Any) -> Any:
        return moment_of(value)

    def largest(self) -> int:
        return NUMBER

    def description(self) -> Description:
        return {"kind": "date"}


def _is_date(value: Any) -> bool:
    return (type(value) is str or type(value) is datetime) and moment_of(value) is not None
