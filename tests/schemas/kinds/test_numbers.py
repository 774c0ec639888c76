"""Numbers and integers: which are compared and increased, and how they are described."""

from __future__ import annotations

from decimal import Decimal

import pytest
from bson.int64 import Int64
from marshmallow import validate

from gatewayfw.schemas import integer, number
from gatewayfw.schemas.kinds import as_kind
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
def test_both_sort_take_increments_and_have_eight_bytes(kind):
    assert answers(kind()) == {
        "sorts": True,
        "operators": ["$inc", "$max", "$min", "$mul"],
        "sets parts": False,
        "largest": 8,
        "unstated": [],
    }
    assert [as_kind(kind()).amount(by) for by in (1, -0.5, "1", True, BEYOND)] == [1, -0.5, None, None, None]


def test_a_description_has_the_bounds_that_are_allowed_values():
    assert as_kind(integer(minimum=1)).description() == {"kind": "integer", "minimum": 1}
    open_end = NumberField(validate=validate.Range(min=0, max=9, max_inclusive=False))
    assert open_end.description() == {"kind": "number"}
