"""True and false."""

from __future__ import annotations

from typing import Any

from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.quick import Purpose, Test


class BooleanField(KindField, mm.Boolean, own=True):
    """A bool; 1, 0 and marshmallow's words for true and false are coerced to it."""

    kind = "boolean"
    sorts = True

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool):
            return value
        if isinstance(value, (str, int)):
            if value in self.truthy:
                return True
            if value in self.falsy:
                return False
        raise self.make_error("invalid")

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_boolean]

    def _store_operand(self, value: Any) -> Any:
        return value if isinstance(value, bool) else None

    def largest(self) -> int:
        return 1

    def description(self) -> Description:
        return {"kind": "boolean"}


def _is_boolean(value: Any) -> bool:
    return value is True or value is False
