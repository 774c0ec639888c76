"""The kinds of which ``create`` makes values of Python that JSON has not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from bson import Binary, Decimal128

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas, array, binary, compile_struct, decimal, defaulted, object_, uuid
from gatewayfw.schemas.kinds.foreign import describe
from gatewayfw.schemas.structs import check_document, check_value
from gatewayfw.settings import Settings
from tests.schemas.calls import refusals

TEXT = "01234567-89ab-cdef-0123-456789abcdef"
LOADED = UUID(TEXT)
STORED = Binary.from_uuid(LOADED)


def checked(field: Any, value: Any, mode: Any) -> Any:
    """What an act gets of a value, or the errors."""
    struct = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings()))
    details = {"set": {"x": value}, "get": {}}
    return refusals(struct.check, details, mode) or struct.check(details, mode)["set"]["x"]


def test_a_uuid_in_capitals_is_the_same_one() -> None:
    assert checked(uuid(), TEXT.upper(), "assert") == TEXT.upper()
    assert checked(uuid(), TEXT.upper(), "create") == LOADED
    assert check_value(uuid(), TEXT.upper(), "x") == STORED


@pytest.mark.parametrize("value", [TEXT.replace("-", ""), f"{{{TEXT}}}", f" {TEXT}", f"{TEXT}\n", 5, None, b"x" * 16])
def test_other_forms_of_a_uuid_are_refused(value: Any) -> None:
    text = "Field may not be null." if value is None else "Not a valid UUID."
    assert [checked(uuid(), value, mode) for mode in ("assert", "create")] == [{"set.x": [text]}] * 2


@pytest.mark.parametrize("value", [TEXT, LOADED, STORED])
def test_models_take_every_form_of_a_uuid(value: Any) -> None:
    assert check_value(uuid(), value, "x") == STORED
    assert check_document({"ids": array(uuid())}, {"ids": [value]}) == {"ids": [STORED]}


@pytest.mark.parametrize("default", [TEXT, LOADED])
def test_a_default_is_filled_in_loaded_and_told_as_text(default: Any) -> None:
    field = defaulted(uuid(), default)
    struct = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings()))
    assert struct.check({"set": {}, "get": {}}, "create")["set"] == {"x": LOADED}
    assert check_document(object_({"x": field}), {}) == {"x": STORED}  # type: ignore[arg-type]  # an object field
    assert describe(field) == {"kind": "string", "format": "uuid", "presence": "defaulted", "default": TEXT}
    with pytest.raises(DefinitionError, match="^defaulted: the kind refuses its default: Not a valid UUID.$"):
        defaulted(uuid(), "x")


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
        ("1" * 35, "Not a valid decimal."),
        ("-5.01", "Must be greater than or equal to -5.00 and less than or equal to 1000000.00."),
        *[
            (sent, "Not a valid decimal.")
            for sent in ("", " 1", "1.", ".5", "+1", "1e3", "NaN", "Infinity", "٣", "1_0")
        ],
        *[(sent, "Not a valid decimal.") for sent in (12.5, 1.0, float("nan"), True, [], 10**34)],
    ],
)
def test_what_a_decimal_cannot_hold_is_refused_and_not_rounded(sent: Any, message: str) -> None:
    assert [checked(PRICE, sent, mode) for mode in ("assert", "create")] == [{"set.x": [message]}] * 2


def test_only_create_takes_whole_numbers_for_decimals() -> None:
    assert checked(PRICE, 12, "create") == Decimal("12.00")
    assert checked(PRICE, 12, "assert") == {"set.x": ["Not a valid decimal."]}


@pytest.mark.parametrize("value", ["12.5", Decimal("12.5"), Decimal("12.500"), Decimal128("12.5")])
def test_models_take_every_form_of_a_decimal(value: Any) -> None:
    assert str(check_value(PRICE, value, "x")) == "12.50"
    assert check_document({"x": array(PRICE)}, {"x": [value]}) == {"x": [Decimal128("12.50")]}
    assert str(check_value(PRICE, 12, "x")) == "12.00"
    assert refusals(check_value, PRICE, 12.5, "x") == {"x": ["Not a valid decimal."]}
    assert refusals(check_value, PRICE, Decimal("NaN"), "x") == {"x": ["Not a valid decimal."]}


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
        ({"places": 2, "minimum": 0.5}, "decimal: minimum and maximum: Not a valid decimal."),
        ({"places": 0, "maximum": "0.5"}, "decimal: minimum and maximum: Must have at most 0 decimal places."),
        ({"places": 0, "minimum": 2, "maximum": 1}, "decimal: minimum is above maximum"),
    ],
)
def test_wrong_arguments_of_a_decimal_are_definition_errors(arguments: Any, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        decimal(**arguments)
    assert caught.value.message == message


@pytest.mark.parametrize("sent", ["AP8", "AP9=", "AP8=\n", "A P8=", "_-8=", "é", 5, None])
def test_binary_data_is_base64_in_its_one_way(sent: Any) -> None:
    text = "Field may not be null." if sent is None else "Not valid base64."
    assert [checked(binary(), sent, mode) for mode in ("assert", "create")] == [{"set.x": [text]}] * 2


def test_the_size_of_binary_data_counts_bytes() -> None:
    field = binary(size=(1, 2))
    assert [checked(field, "AP8=", mode) for mode in ("assert", "create")] == ["AP8=", b"\x00\xff"]
    assert checked(field, "AAAA", "assert") == {"set.x": ["Length must be between 1 and 2."]}
    assert check_value(field, b"\x00\xff", "x") == check_value(field, "AP8=", "x") == b"\x00\xff"
    assert refusals(check_value, field, STORED, "x") == {"x": ["Not valid base64."]}
