"""Exact decimals, such as amounts of money."""

from __future__ import annotations

import re
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from bson import Decimal128
from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Ability, Description, KindField
from gatewayfw.schemas.kinds.quick import Load, Purpose, Store, Test
from gatewayfw.schemas.kinds.sizes import DECIMAL

#: The most digits a Decimal128 holds.
MOST_DIGITS = 34
_TEXT = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}(?:\.[0-9]{{1,{MOST_DIGITS}}})?")
_CONTEXT = Context(prec=MOST_DIGITS)


class DecimalField(KindField, mm.Decimal, own=True):
    """A decimal with fixed places: text (``"12.50"``), a `Decimal` when loaded.

    Whole numbers are coerced, floats never. A value with more places is refused, not rounded.
    """

    kind = "decimal"
    sorts = True
    reads_otherwise = True
    dumps_itself = False
    abilities = frozenset({Ability.CALCULATE, Ability.ORDER})
    default_error_messages = {
        "invalid": 'Not a valid decimal (text such as "12.50").',
        "more": "Must have at most {places} decimal places.",
        "digits": f"Must have at most {MOST_DIGITS} digits.",
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        given = decimal_of(value)
        if given is None:
            raise self.make_error("invalid")
        places = self.metadata["places"]
        if _has_more(given, places, is_text=isinstance(value, str)):
            raise self.make_error("more", places=places)
        try:
            # Adding 0 removes the sign of "-0.00".
            return _CONTEXT.add(given.quantize(Decimal(1).scaleb(-places), context=_CONTEXT), Decimal(0))
        except InvalidOperation:
            raise self.make_error("digits") from None

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else f"{value:f}"

    def keeps(self, sent: Any, dumped: Any) -> bool:
        """Take ``"12.5"`` for ``"12.50"`` and decimals from server code, but no number."""
        return not isinstance(sent, int)

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [self._takes]

    def loader(self, *, fill: bool) -> Load | None:
        return self._load

    def _checks_beside(self) -> list[Any]:
        return [check for check in self.validators if type(check) is not validate.Range]

    def _load(self, value: Any) -> Any:
        try:
            return self._deserialize(value, None, None)
        except ValidationError:
            return value

    def _takes(self, value: Any) -> bool:
        try:
            self.deserialize(value)
        except ValidationError:
            return False
        return not isinstance(value, int)

    def storer(self) -> Store:
        return lambda value: None if value is None else Decimal128(self._deserialize(value, None, None))

    def amount(self, value: Any) -> Any:
        try:
            return Decimal128(self._deserialize(value, None, None))
        except ValidationError:
            return None

    def factor(self, value: Any) -> Any:
        """Return a whole number only, so that the product keeps its places."""
        given = decimal_of(value)
        return None if given is None or given != given.to_integral_value() else Decimal128(given.to_integral_value())

    def _store_operand(self, value: Any) -> Any:
        given = decimal_of(value)
        return None if given is None else Decimal128(given)

    def largest(self) -> int:
        return DECIMAL

    def description(self) -> Description:
        described: Description = {"kind": "decimal", "places": self.metadata["places"]}
        for check in self.validators:
            if isinstance(check, validate.Range):
                described |= {} if check.min is None else {"minimum": self._serialize(check.min, None, None)}
                described |= {} if check.max is None else {"maximum": self._serialize(check.max, None, None)}
        return described


def _has_more(given: Decimal, places: int, *, is_text: bool) -> bool:
    """Tell whether a decimal has too many places; in text, zeros count, too."""
    _, digits, exponent = given.as_tuple()
    if not isinstance(exponent, int) or exponent >= -places:
        return False
    return is_text or any(digits[exponent + places :])


def decimal128_of(value: Decimal) -> Decimal128 | None:
    """Return a decimal as stored; None where the database cannot hold it."""
    try:
        return None if decimal_of(value) is None else Decimal128(value)
    except ArithmeticError:
        return None


def decimal_of(value: Any) -> Decimal | None:
    """Return text, a whole number or a decimal as a `Decimal`.

    Returns None for anything else and for infinite values.
    """
    if isinstance(value, str) and _TEXT.fullmatch(value):
        value = Decimal(value)
    elif isinstance(value, Decimal128):
        value = value.to_decimal()
    if isinstance(value, Decimal):
        return value if value.is_finite() and len(value.as_tuple().digits) <= MOST_DIGITS else None
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value) if abs(value) < 10**MOST_DIGITS else None
    return None
