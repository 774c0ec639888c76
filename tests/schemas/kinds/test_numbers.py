"""Numbers and integers: which are compared and increased, and how they are described."""

from __future__ import annotations

from decimal import Decimal

import pytest
from bson.int64 import Int64
from marshmallow import validate

from gatewayfw.schemas import integer, number
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.numbers import NumberField, comparable_number
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


def test_a_description_has_the_bounds_that_are_allowed_values():
    assert as_kind(integer(minimum=1)).description() == {"kind": "integer", "minimum": 1}
    open_end = NumberField(validate=validate.Range(min=0, max=9, max_inclusive=False))
    assert open_end.description() == {"kind": "number"}
