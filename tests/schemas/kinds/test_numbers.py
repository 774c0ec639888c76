"""Numbers, whole numbers, decimals and booleans: what they take, load, store and compare with."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128
from bson.int64 import Int64
from marshmallow import ValidationError, validate

from gatewayfw import messages
from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import array, boolean, decimal, defaulted, integer, nullable, number
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.kinds.numbers import NumberField, comparable_number, decimal_of
from tests.schemas.calls import checked, new_document, refusals
from tests.schemas.kinds.answers import answers, compared

BEYOND = 2**63


@pytest.mark.parametrize("kind", [number, integer])
def test_filters_compare_with_numbers_beyond_the_bounds_of_the_field(kind):
    refused = {"x": [f"Not a valid {kind.__name__}."]}
    assert compared(kind(maximum=5), 6, 6.5, None) == [6, 6.5, None]
    assert compared(kind(), True, "5", [5], BEYOND) == [refused] * 4


@pytest.mark.parametrize("value", [0, -(2**63), 2**63 - 1, 0.5, -1e300, float("inf"), Int64(5)])
def test_a_number_that_the_database_holds_is_compared_as_it_is(value):
    assert comparable_number(value) == value


@pytest.mark.parametrize("value", [True, "1", None, Decimal(1), BEYOND])
def test_anything_else_is_no_number(value):
    assert comparable_number(value) is None


@pytest.mark.parametrize("kind", [number, integer])
def test_the_ends_of_64_bits_are_good_values_also_at_once(kind):
    quick = quick_of(kind())
    assert [bool(quick.test(value)) for value in (-BEYOND - 1, -BEYOND, 0, BEYOND - 1, BEYOND)] == [
        *(False, True, True, True, False)
    ]
    ends = quick_of(kind(minimum=1, maximum=2))
    assert [bool(ends.test(value)) for value in (0, 1, 2, 3)] == [False, True, True, False]
    half = [bool(quick_of(kind(**{end: 1})).test(value)) for end in ("minimum", "maximum") for value in (0, 1, 2)]
    assert half == [False, True, True, True, True, False]


def test_a_float_is_a_number_at_once_and_an_integer_only_when_it_is_loaded():
    given = [1.5, 2.0, float("inf"), float("-inf"), float("nan"), True]
    assert [bool(quick_of(number()).test(value)) for value in given] == [True, True, False, False, False, False]
    assert [bool(quick_of(integer()).test(value)) for value in given] == [False] * 6


@pytest.mark.parametrize("kind", [number, integer])
def test_a_number_of_given_choices_is_described_with_them(kind):
    field = kind()
    field.validators = [validate.OneOf([1, 2])]
    assert as_kind(field).description() == {"kind": "enums", "choices": [1, 2]}


@pytest.mark.parametrize("kind", [number, integer])
def test_both_sort_take_increments_and_have_eight_bytes(kind):
    assert answers(kind()) == {
        "sorts": True,
        "abilities": ["CALCULATE", "ORDER"],
        "sets parts": False,
        "largest": 8,
        "unstated": [],
    }
    assert [as_kind(kind()).amount(by) for by in (1, -0.5, "1", True, BEYOND)] == [1, -0.5, None, None, None]


def test_a_description_has_the_bounds():
    assert as_kind(integer(minimum=1)).description() == {"kind": "integer", "minimum": 1}
    open_end = NumberField(validate=validate.Range(min=0, max=9, max_inclusive=False))
    assert open_end.description() == {"kind": "number", "minimum": 0, "exclusiveMaximum": 9}


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
    assert new_document({"x": array(PRICE)}, {"x": [value]}) == {"x": [Decimal128("12.50")]}
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


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *(
            ("1.50", "1.50"),
            (12, "12"),
            (Decimal("0.5"), "0.5"),
            (Decimal128("0.5"), "0.5"),
            ("-" + "9" * 34, "-" + "9" * 34),
        ),
        *((10**34 - 1, "9" * 34), (1 - 10**34, "-" + "9" * 34), (10**34, None), (-(10**34), None), (True, None)),
        *(("1" * 35, None), ("1." + "1" * 34, None), (Decimal("1" * 34), "1" * 34), (Decimal("1" * 35), None)),
        *((Decimal("NaN"), None), (Decimal128("Infinity"), None), (0.5, None), (None, None), ("1e3", None)),
    ],
)
def test_decimals_are_found_in_every_form(value: Any, found: Any) -> None:
    assert decimal_of(value) == (None if found is None else Decimal(found))


@pytest.mark.parametrize(
    ("value", "loaded"),
    [
        ("1.50", "1.50"),
        ("1.500", None),
        (Decimal("1.500"), "1.50"),
        (Decimal("1.501"), None),
        (Decimal("1.051"), None),
        (Decimal("0.001"), None),
        (Decimal("0.000"), "0.00"),
        (Decimal("1E+2"), "100.00"),
        (Decimal128("1.5"), "1.50"),
    ],
)
def test_zeros_beyond_the_places_count_in_texts_only(value: Any, loaded: Any) -> None:
    more = {"set.x": ["Must have at most 2 decimal places."]}
    assert str(checked(decimal(places=2), value, "create")) == (loaded or str(more))


def test_filters_compare_with_any_decimal() -> None:
    wrong = {"x": [INVALID]}
    assert compared(PRICE, "99999999.123", 5, Decimal("1.5"), None) == [
        *(Decimal128("99999999.123"), Decimal128("5"), Decimal128("1.5"), None)
    ]
    assert compared(PRICE, 1.5, "x", True) == [wrong] * 3


def test_decimals_are_increased_by_their_places_and_multiplied_by_whole_numbers() -> None:
    kind = as_kind(PRICE)
    assert [str(kind.amount(by)) for by in ("0.5", 2, Decimal("-0.25"))] == ["0.50", "2.00", "-0.25"]
    assert [str(kind.factor(by)) for by in (2, "3.0", Decimal("-4"))] == ["2", "3", "-4"]


@pytest.mark.parametrize(
    ("read", "by", "message"),
    [
        ("amount", "0.001", "Must have at most 2 decimal places."),
        ("amount", 0.5, messages.NO_DECIMAL),
        ("factor", "0.5", "Must be a whole number."),
        ("factor", 0.5, messages.NO_DECIMAL),
    ],
)
def test_what_would_change_the_places_of_a_decimal_is_refused_in_words(read, by, message):
    with pytest.raises(ValidationError) as caught:
        getattr(as_kind(PRICE), read)(by)
    assert caught.value.messages == [message]


def test_good_decimals_are_known_and_loaded_quickly() -> None:
    quick: Any = quick_of(PRICE)
    given = ["1.5", Decimal("1.50"), Decimal128("1.5"), 5, "1.501", "-5.01", "x"]
    assert [bool(quick.test(value)) for value in given] == [True, True, True, False, False, False, False]
    assert [str(quick.load(value)) for value in ("1.5", 5, "x")] == ["1.50", "5.00", "x"]


def test_a_decimal_is_dumped_as_text_and_stored_in_16_bytes() -> None:
    values = (Decimal("1E+2"), Decimal("1.50"), None)
    assert [PRICE.serialize("x", {"x": value}) for value in values] == ["100", "1.50", None]
    assert check_value(nullable(decimal(places=2)), None, "x") is None
    assert answers(PRICE) == {
        "sorts": True,
        "abilities": ["CALCULATE", "ORDER"],
        "sets parts": False,
        "largest": 16,
        "unstated": [],
        "reads_otherwise": True,
    }
    described = [as_kind(decimal(places=0, **bound)).description() for bound in ({}, {"minimum": 1}, {"maximum": 2})]
    assert described == [
        {"kind": "decimal", "places": 0, **bound} for bound in ({}, {"minimum": "1"}, {"maximum": "2"})
    ]


@pytest.mark.parametrize("whole", ["9" * 32, "-" + "9" * 32, 10**32 - 1])
def test_a_decimal_may_have_34_digits(whole: Any) -> None:
    assert str(checked(decimal(places=2), whole, "create")) == f"{whole}.00"
    assert checked(decimal(places=2), f"{whole}0", "create") == {"set.x": ["Must have at most 34 digits."]}


NOT = ["Not a valid boolean."]


@pytest.mark.parametrize(("word", "meant"), [("yes", True), ("off", False), (1, True), (0, False)])
def test_words_and_digits_become_booleans_in_create_only(word, meant):
    assert checked(boolean(), word, "create") is meant
    assert checked(boolean(), word, "assert") == {"set.x": NOT}


def test_filters_compare_with_booleans_only():
    assert compared(boolean(), True, False, None, 1, "true") == [True, False, None, {"x": NOT}, {"x": NOT}]


def test_only_booleans_are_known_at_once():
    assert [bool(quick_of(boolean()).test(value)) for value in (True, False, 1, 0, "true", None)] == [
        *(True, True, False, False, False, False)
    ]
    assert as_kind(boolean()).description() == {"kind": "boolean"}


@pytest.mark.parametrize("value", [2, -1, "maybe", "", 1.0, [], {}])
def test_nothing_else_becomes_a_boolean(value):
    assert checked(boolean(), value, "create") == {"set.x": NOT}


def test_a_boolean_sorts_and_takes_one_byte():
    assert answers(boolean()) == {"sorts": True, "abilities": [], "sets parts": False, "largest": 1, "unstated": []}
