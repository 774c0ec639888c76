"""Strategies for the values of fields."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from gatewayfw.schemas.fields import KINDS
from gatewayfw.testing.field_values import FLOATS, MAKERS
from tests.fuzz.zoo import KIND_FIELDS


def test_every_kind_has_fields_to_draw_for() -> None:
    assert sorted(KIND_FIELDS) == sorted(KINDS.keys() - {"file"})  # files come beside the JSON


@pytest.mark.parametrize("name", KIND_FIELDS)
def test_a_kind_is_drawn_by_a_strategy_of_its_own(name: str) -> None:
    assert {field.kind for field in KIND_FIELDS[name]} <= set(MAKERS)


@given(FLOATS)
def test_numbers_are_those_that_json_has(number: float) -> None:
    assert json.loads(json.dumps(number, allow_nan=False)) == number
