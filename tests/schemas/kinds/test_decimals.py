"""Decimals: as many places as the kind says, exact, and nothing rounded."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import array, decimal, defaulted
from gatewayfw.schemas.kinds.foreign import describe
from gatewayfw.schemas.structs import check_document, check_value
from tests.schemas.calls import checked, refusals

INVALID = 'Not a valid decimal (text such as "12.50").'
PRICE = decimal(places=2, minimum=-5, maximum="1000000")


@pytest.mark.parametrize(
    ("sent", "loaded"),
    [
        ("12.50", "12.50"),
        ("12.5", "12.50"),
        ("12", "12.00"),
        ("-0.00", "0.00"),
        ("007", "7.00"),
        ("1000000", "1000000.00"),
    ],
)
def test_a_decimal_is_text_of_as_many_places_or_fewer(sent: str, loaded: str) -> None:
    assert checked(PRICE, sent, "assert") == sent
    assert str(checked(PRICE, sent, "create")) == loaded
    assert str(check_value(PRICE, sent, "x")) == loaded


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ("12.501", "Must have at most 2 decimal places."),
        ("12.500", "Must have at most 2 decimal places."),
        ("1" * 33, "Must have at most 34 digits."),
        ("1" * 35, INVALID),
        ("-5.01", "Must be greater than or equal to -5.00 and less than or equal to 1000000.00."),
        *[(sent, INVALID) for sent in ("", " 1", "1.", ".5", "+1", "1e3", "NaN", "Infinity", "٣", "1_0")],
        *[(sent, INVALID) for sent in (12.5, 1.0, float("nan"), True, [], 10**34)],
    ],
)
def test_what_a_decimal_cannot_hold_is_refused_and_not_rounded(sent: Any, message: str) -> None:
    assert [checked(PRICE, sent, mode) for mode in ("assert", "create")] == [{"set.x": [message]}] * 2


def test_only_create_takes_whole_numbers_for_decimals() -> None:
    assert checked(PRICE, 12, "create") == Decimal("12.00")
    assert checked(PRICE, 12, "assert") == {"set.x": [INVALID]}


@pytest.mark.parametrize("value", ["12.5", Decimal("12.5"), Decimal("12.500"), Decimal128("12.5")])
def test_models_take_every_form_of_a_decimal(value: Any) -> None:
    assert str(check_value(PRICE, value, "x")) == "12.50"
    assert check_document({"x": array(PRICE)}, {"x": [value]}) == {"x": [Decimal128("12.50")]}
    assert str(check_value(PRICE, 12, "x")) == "12.00"
    assert refusals(check_value, PRICE, 12.5, "x") == {"x": [INVALID]}
    assert refusals(check_value, PRICE, Decimal("NaN"), "x") == {"x": [INVALID]}


def test_a_decimal_is_described_with_its_bounds_as_texts() -> None:
    assert describe(defaulted(PRICE, "1")) == {
        "kind": "decimal",
        "places": 2,
        "minimum": "-5.00",
        "maximum": "1000000.00",
        "presence": "defaulted",
        "default": "1.00",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"places": -1}, "decimal: places must be a number from 0 to 34"),
        ({"places": 35}, "decimal: places must be a number from 0 to 34"),
        ({"places": 2, "minimum": 0.5}, f"decimal: minimum and maximum: {INVALID}"),
        ({"places": 0, "maximum": "0.5"}, "decimal: minimum and maximum: Must have at most 0 decimal places."),
        ({"places": 0, "minimum": 2, "maximum": 1}, "decimal: minimum is above maximum"),
    ],
)
def test_wrong_arguments_of_a_decimal_are_definition_errors(arguments: Any, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        decimal(**arguments)
    assert caught.value.message == message
