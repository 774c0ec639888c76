"""Strategies for the values of fields."""

from __future__ import annotations

import pytest

from gatewayfw.schemas.fields import KINDS
from gatewayfw.testing.field_values import MAKERS
from tests.fuzz.zoo import KIND_FIELDS


def test_every_kind_has_fields_to_draw_for() -> None:
    assert sorted(KIND_FIELDS) == sorted(KINDS.keys() - {"file"})  # files come beside the JSON


@pytest.mark.parametrize("name", KIND_FIELDS)
def test_a_kind_is_drawn_by_a_strategy_of_its_own(name: str) -> None:
    assert {field.kind for field in KIND_FIELDS[name]} <= set(MAKERS)
