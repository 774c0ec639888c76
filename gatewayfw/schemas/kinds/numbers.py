"""Numbers, and whole numbers."""

from __future__ import annotations

from typing import Any

from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Ability, Description, KindField
from gatewayfw.schemas.kinds.checks import choices, described_range
from gatewayfw.schemas.kinds.quick import INFINITY, Purpose, Test
from gatewayfw.schemas.kinds.sizes import NUMBER
from gatewayfw.schemas.values import HIGHEST, INTEGER, LOWEST, finite_number, read_number


class NumberField(KindField, mm.Float, own=True):
    """An int within 64 bits or a finite float; numeric text is coerced to it."""

    kind = "number"
    sorts = True
    abilities = frozenset({Ability.CALCULATE, Ability.ORDER})

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str):
            value = read_number(value)
        if not finite_number(value):
            raise self.make_error("invalid")
        return value

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_number]

    def _store_operand(self, value: Any) -> Any:
        return comparable_number(value)

    def largest(self) -> int:
        return NUMBER

    def description(self) -> Description:
        return described_number(self, "number")


class IntegerField(KindField, mm.Integer, own=True):
    """An int within 64 bits; integral text and floats are coerced to it."""

    kind = "integer"
    sorts = True
    abilities = frozenset({Ability.CALCULATE, Ability.ORDER})

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str):
            value = int(value) if INTEGER.fullmatch(value) else None
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, float) or not finite_number(value):
            raise self.make_error("invalid")
        return value

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_integer]

    def _store_operand(self, value: Any) -> Any:
        return comparable_number(value)

    def largest(self) -> int:
        return NUMBER

    def description(self) -> Description:
        return described_number(self, "integer")


def described_number(field: mm.Field[Any], kind: str) -> Description:
    """Return the description of a number: its range, or its choices."""
    known = choices(field)
    return {"kind": kind, **described_range(field)} if known is None else {"kind": "enums", "choices": known}


def comparable_number(value: Any) -> Any:
    """Return a number that a filter compares with; None for anything else.

    Infinity is allowed, since it is useful in a range.
    """
    return value if isinstance(value, float) or finite_number(value) else None


def _is_number(value: Any) -> bool:
    kind = type(value)
    return (kind is int and LOWEST <= value <= HIGHEST) or (kind is float and -INFINITY < value < INFINITY)


def _is_integer(value: Any) -> bool:
    return type(value) is int and LOWEST <= value <= HIGHEST
