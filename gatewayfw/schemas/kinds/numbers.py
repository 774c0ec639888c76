"""Numbers, whole numbers, exact decimals, and booleans."""

import re
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from bson import Decimal128
from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.schemas.kinds.base import Ability, Description, KindField
from gatewayfw.schemas.kinds.checks import choices, described_exceptions, described_range, is_scalar
from gatewayfw.schemas.kinds.quick import INFINITY, Load, Store, Test, passes
from gatewayfw.schemas.kinds.sizes import DECIMAL, NUMBER
from gatewayfw.schemas.values import HIGHEST, INTEGER, LOWEST, finite_number, read_number

#: The most digits a Decimal128 holds.
MOST_DIGITS = 34
_TEXT = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}(?:\.[0-9]{{1,{MOST_DIGITS}}})?")
_CONTEXT = Context(prec=MOST_DIGITS)


class BooleanField(KindField, mm.Boolean, own=True):
    """A bool; 1, 0 and marshmallow's words for true and false are coerced to it."""

    kind = "boolean"
    sorts = True
    largest = 1
    default_error_messages = {"invalid": messages.NO_BOOLEAN}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool):
            return value
        if isinstance(value, (str, int)):
            if value in self.truthy:
                return True
            if value in self.falsy:
                return False
        raise self.make_error("invalid")

    def _test(self) -> Test | None:
        return lambda value: value is True or value is False

    def _store_operand(self, value: Any) -> Any:
        return value if isinstance(value, bool) else None


class NumberField(KindField, mm.Float, own=True):
    """An int within 64 bits or a finite float; numeric text is coerced to it."""

    kind = "number"
    sorts = True
    abilities = frozenset({Ability.CALCULATE, Ability.ORDER})
    largest = NUMBER
    default_error_messages = {"invalid": messages.NO_NUMBER}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str):
            value = read_number(value)
        if not finite_number(value):
            raise self.make_error("invalid")
        return value

    def _test(self) -> Test | None:
        return _is_number

    def _store_operand(self, value: Any) -> Any:
        return comparable_number(value)

    def description(self) -> Description:
        return described_number(self, self.kind)


class IntegerField(NumberField, own=True):
    """An int within 64 bits; integral text and floats are coerced to it."""

    kind = "integer"
    default_error_messages = {"invalid": messages.NO_INTEGER}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str):
            value = int(value) if INTEGER.fullmatch(value) else None
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, float) or not finite_number(value):
            raise self.make_error("invalid")
        return value

    def _test(self) -> Test | None:
        return lambda value: type(value) is int and LOWEST <= value <= HIGHEST


class DecimalField(KindField, mm.Decimal, own=True):
    """A decimal with fixed places: text (``"12.50"``), a `Decimal` when loaded.

    Whole numbers are coerced, floats never. A value with more places is refused, not rounded.
    """

    kind = "decimal"
    sorts = True
    reads_otherwise = True
    abilities = frozenset({Ability.CALCULATE, Ability.ORDER})
    largest = DECIMAL
    tested = (validate.Range,)
    default_error_messages = {
        "invalid": messages.NO_DECIMAL,
        "more": messages.TOO_MANY_PLACES,
        "digits": messages.TOO_MANY_DIGITS,
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        given = decimal_of(value)
        if given is None:
            raise self.make_error("invalid")
        places = self.metadata["places"]
        if _has_more(given, places, is_text=isinstance(value, str)):
            raise self.make_error("more", max=places)
        try:
            # Adding 0 removes the sign of "-0.00".
            return _CONTEXT.add(given.quantize(Decimal(1).scaleb(-places), context=_CONTEXT), Decimal(0))
        except InvalidOperation:
            raise self.make_error("digits", max=MOST_DIGITS) from None

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else f"{value:f}"

    def keeps(self, sent: Any) -> bool:
        """Take ``"12.5"`` for ``"12.50"`` and decimals from server code, but no number."""
        return not isinstance(sent, int)

    def _test(self) -> Test | None:
        takes = passes(self.deserialize)
        return lambda value: not isinstance(value, int) and takes(value)

    def loader(self, *, fill: bool) -> Load | None:
        return self._load

    def _load(self, value: Any) -> Any:
        try:
            return self._deserialize(value, None, None)
        except ValidationError:
            return value

    def storer(self) -> Store:
        return lambda value: None if value is None else Decimal128(self._deserialize(value, None, None))

    def amount(self, value: Any) -> Any:
        return Decimal128(self._deserialize(value, None, None))

    def factor(self, value: Any) -> Any:
        """Return a whole number only, so that the product keeps its places."""
        given = decimal_of(value)
        if given is not None and given != given.to_integral_value():
            raise ValidationError(messages.NO_FACTOR)
        return self.amount(value) if given is None else Decimal128(given.to_integral_value())

    def _store_operand(self, value: Any) -> Any:
        given = decimal_of(value)
        return None if given is None else Decimal128(given)

    def description(self) -> Description:
        bounds = {name: self._serialize(end, None, None) for name, end in described_range(self).items()}
        return {"kind": "decimal", "places": self.metadata["places"], **bounds}


def described_number(field: mm.Field[Any], kind: str) -> Description:
    """Return the description of a number: its range, or its choices."""
    known = choices(field)
    if known is not None:
        return {"kind": "enums", "choices": known}
    bounds = {name: end for name, end in described_range(field).items() if is_scalar(end)}
    return {"kind": kind, **bounds, **described_exceptions(field)}


def comparable_number(value: Any) -> Any:
    """Return a number that a filter compares with; None for anything else.

    Infinity is allowed, since it is useful in a range.
    """
    return value if isinstance(value, float) or finite_number(value) else None


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


def _has_more(given: Decimal, places: int, *, is_text: bool) -> bool:
    """Tell whether a decimal has too many places; in text, zeros count, too."""
    _, digits, exponent = given.as_tuple()
    if not isinstance(exponent, int) or exponent >= -places:
        return False
    return is_text or any(digits[exponent + places :])


def _is_number(value: Any) -> bool:
    kind = type(value)
    return (kind is int and LOWEST <= value <= HIGHEST) or (kind is float and -INFINITY < value < INFINITY)
