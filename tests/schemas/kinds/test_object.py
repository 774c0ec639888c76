"""Objects: with fields that are described, or free."""

from __future__ import annotations

from datetime import datetime

from bson import encode

from gatewayfw.schemas import date, defaulted, integer, object_, optional, string
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.foreign import largest_of
from gatewayfw.schemas.kinds.sizes import ENDLESS
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

FIELDS = {"a": integer(), "b": optional(string(size=2)), "c": defaulted(integer, 3)}
#: Bytes of an object without fields.
EMPTY = len(encode({}))
COMMON = {"sorts": False, "operators": [], "sets parts": True}


def test_unknown_missing_and_wrong_fields_are_all_told():
    assert checked(object_(FIELDS), {"b": 5, "z": 1}, "create") == {
        "set.x.a": ["Missing data for required field."],
        "set.x.b": ["Not a valid string."],
        "set.x.z": ["Unknown field."],
    }


def test_create_fills_defaults_in_and_assert_wants_them_sent():
    assert [checked(object_(FIELDS), {"a": 1}, mode) for mode in ("create", "assert")] == [
        {"a": 1, "c": 3},
        {"set.x.c": ["Missing data for required field."]},
    ]


def test_filters_compare_with_whole_objects_in_their_stored_form():
    assert compared(object_({"at": date}), {"at": "2024-01-01"}, {}, None) == [{"at": datetime(2024, 1, 1)}, {}, None]
    assert compared(object_(FIELDS), 5, {"a": "x"}) == [
        {"x": ["Not a valid mapping type."]},
        {"x.a": ["Not a valid integer."]},
    ]


def test_an_object_is_as_large_as_its_fields_together():
    assert answers(object_(FIELDS)) == {**COMMON, "largest": EMPTY + largest_of(FIELDS), "unstated": []}
    assert answers(object_({"free": string})) == {
        **COMMON,
        "largest": EMPTY + largest_of({"free": string()}),
        "unstated": ["x.free"],
    }
    assert answers(object_()) == {**COMMON, "largest": ENDLESS, "unstated": ["x"]}


def test_only_an_object_without_fields_is_free():
    assert [as_kind(field).is_free for field in (object_(), object_({}), object_(FIELDS))] == [True, False, False]


def test_parts_have_their_paths():
    field = as_kind(object_(FIELDS))
    assert [[path for path, _ in field.parts(*within)] for within in ((), ("x",))] == [
        ["a", "b", "c"],
        ["x.a", "x.b", "x.c"],
    ]
    assert (field.part("a").kind, field.part("z")) == ("integer", None)
