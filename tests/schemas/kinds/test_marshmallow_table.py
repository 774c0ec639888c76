"""The guide's table of marshmallow's fields says what models make of them."""

from __future__ import annotations

import enum
import re
from datetime import UTC
from pathlib import Path

import pytest
from marshmallow import Schema
from marshmallow import fields as mm

from gatewayfw.schemas.kinds import Ability, as_kind
from gatewayfw.schemas.kinds.foreign import in_models

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "models.md"
#: What a field needs in order to be made.
NEEDED = {
    "NaiveDateTime": {"timezone": UTC},
    "Enum": {"enum": enum.Enum("Colour", "RED")},
    "List": {"cls_or_instance": mm.Integer()},
    "Tuple": {"tuple_fields": (mm.Integer(),)},
    "Nested": {"nested": Schema.from_dict({"a": mm.Integer()})},
}
#: Fields of marshmallow that the page says are refused, and what only other fields are made of.
ELSEWHERE = {"Field", "Number", "Mapping", "Function", "Method", "Constant", "Pluck"}
OPERATORS = {
    Ability.CALCULATE: {"$inc", "$mul"},
    Ability.ORDER: {"$min", "$max"},
    Ability.DATE: {"$currentDate"},
    Ability.LIST: {"$push", "$addToSet", "$pull", "$pop"},
}


def read_table():
    """Return the cells about each field by its name."""
    _, _, section = PAGE.read_text().partition("\n## Fields of marshmallow\n")
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {
        name: (sorts.strip(), set(re.findall(r"`([^`]+)`", operators)), "of a part" in operators)
        for field, _, _, sorts, operators in rows
        for name in re.findall(r"`(\w+)[^`]*`", field)
        if name != "Schema"
    }


def test_the_table_has_every_field_of_marshmallow():
    known = {
        name
        for name in mm.__all__
        if isinstance(field := getattr(mm, name), type) and field.__name__ == name and issubclass(field, mm.Field)
    }
    assert set(read_table()) == known - ELSEWHERE


@pytest.mark.parametrize(("name", "cells"), read_table().items(), ids=read_table())
def test_a_row_says_what_a_model_makes_of_the_field(name, cells):
    kind = as_kind(in_models(getattr(mm, name)(**NEEDED.get(name, {}))))
    operators = set().union(*(OPERATORS[ability] for ability in kind.abilities))
    parts = {"$set"} if kind.sets_parts else set()
    assert cells == ("yes" if kind.sorts else "no", operators | parts, kind.sets_parts)
