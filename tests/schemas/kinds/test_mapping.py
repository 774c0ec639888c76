"""Mappings: keys that clients choose, values of one kind."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import integer, mapping
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.sizes import ENDLESS
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared


@pytest.mark.parametrize(
    ("sent", "loaded"),
    [({}, {}), ({"a": 1}, {"a": 1}), ({"any key": 5}, {"any key": 5})],
    ids=["empty", "one", "with a space"],
)
def test_keys_are_chosen_freely(sent, loaded):
    assert [checked(mapping(integer), sent, mode) for mode in ("assert", "create")] == [loaded, loaded]


def test_values_are_of_their_kind():
    field = mapping(integer)
    assert checked(field, {"a": "1", "b": 2}, "create") == {"a": 1, "b": 2}
    assert checked(field, {"a": "1", "b": 2}, "assert") == {"set.x.a": ["Not a valid integer."]}
    assert checked(field, {"a": "x"}, "create") == {"set.x.a": ["Not a valid integer."]}


@pytest.mark.parametrize("sent", [[], "a", 5, None])
def test_other_types_are_refused(sent):
    text = "Field may not be null." if sent is None else "Not a valid mapping type."
    assert [checked(mapping(integer), sent, mode) for mode in ("assert", "create")] == [{"set.x": [text]}] * 2


def test_filters_compare_with_whole_mappings():
    assert compared(mapping(integer), {"a": 1}, {}, None) == [{"a": 1}, {}, None]
    assert compared(mapping(integer), 5, {"a": "1"}) == [
        {"x": ["Not a valid mapping type."]},
        {"x.a": ["Not a valid integer."]},
    ]


def test_every_key_leads_to_the_kind_of_values():
    field = as_kind(mapping(integer))
    assert (field.part("any") is field.part("other"), field.part("any").kind) == (True, "integer")


def test_a_mapping_has_no_bound():
    assert answers(mapping(integer)) == {
        "sorts": False,
        "operators": [],
        "sets parts": True,
        "largest": ENDLESS,
        "unstated": ["x"],
    }
