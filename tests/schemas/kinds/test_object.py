"""Objects: with fields that are described, or free."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest
from bson import encode
from marshmallow import ValidationError, missing
from marshmallow import fields as mm

from gatewayfw.schemas import array, boolean, date, defaulted, integer, nullable, object_, optional, string
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.foreign import largest_of
from gatewayfw.schemas.kinds.object import ObjectField
from gatewayfw.schemas.kinds.quick import SENT, STORED
from gatewayfw.schemas.kinds.sizes import ENDLESS
from gatewayfw.schemas.structs import check_document, check_value
from tests.schemas.calls import checked, refusals
from tests.schemas.kinds.answers import answers, compared
from tests.schemas.kinds.seen import Placed

FIELDS = {"a": integer(), "b": optional(string(size=2)), "c": defaulted(integer, 3)}
#: Bytes of an object without fields.
EMPTY = len(encode({}))
COMMON = {"sorts": False, "abilities": [], "sets parts": True}


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
    assert answers(object_()) == {**COMMON, "largest": ENDLESS, "unstated": ["x"], "is_free": True}


def test_only_an_object_without_fields_is_free():
    assert [as_kind(field).is_free for field in (object_(), object_({}), object_(FIELDS))] == [True, False, False]


def test_parts_have_their_paths():
    field = as_kind(object_(FIELDS))
    assert [[path for path, _ in field.parts(*within)] for within in ((), ("x",))] == [
        ["a", "b", "c"],
        ["x.a", "x.b", "x.c"],
    ]
    assert (field.part("a").kind, field.part("z")) == ("integer", None)


def test_filters_compare_with_free_objects_that_are_json():
    moment = datetime(2024, 1, 1, 0, 0, 0, 1_999)
    wrong = {"x": ["Not a valid mapping type."]}
    assert compared(object_(), {"a": moment}, {"$a": 1}, None, MappingProxyType({"a": 1})) == [
        *({"a": moment.replace(microsecond=1_000)}, {"$a": 1}, None, {"a": 1})
    ]
    assert compared(object_(), 5, "a", [], {1: 2}, {"a": object()}) == [wrong] * 5
    assert compared(object_(FIELDS), {"a": 1, "y": 1, "z": 1}, MappingProxyType({"b": "long text"})) == [
        {"x.y": ["Unknown field."], "x.z": ["Unknown field."]},
        {"b": "long text"},
    ]


@pytest.mark.parametrize("count", [99, 100, 101, 150])
@pytest.mark.parametrize("mode", ["assert", "create"])
def test_of_many_unknown_fields_the_first_are_told(count, mode):
    sent = {f"k{at}": 1 for at in range(count)}
    field = object_({})
    with pytest.raises(ValidationError) as caught:
        field.deserialize(sent)
    assert len(caught.value.messages) == min(count, 101)
    assert checked(field, sent, mode) == {f"set.x.k{at}": ["Unknown field."] for at in range(min(count, 100))}


def test_fields_are_loaded_and_dumped_with_their_names():
    field, sent = object_({"a": Placed(), "b": Placed(load_default=5)}), {"a": 1}
    assert field.deserialize(sent) == {"a": (1, "a", sent), "b": 5}
    assert field.serialize("x", {"x": sent}) == {"a": (1, "a", sent)}
    assert field.serialize("x", {"x": None}) is None


def test_an_object_in_which_nothing_changes_is_loaded_and_dumped_as_it_is():
    field, sent = object_({"a": integer(), "b": optional(string)}), {"a": 1}
    assert (field.deserialize(sent) is sent, field.serialize("x", {"x": sent}) is sent) == (True, True)
    assert field.deserialize({"a": "1", "b": "x"}) == {"a": 1, "b": "x"}


@pytest.mark.parametrize(
    ("field", "itself"),
    [
        (object_(), True),
        (object_({}), True),
        (object_({"a": string(), "b": object_({"c": integer()})}), True),
        (object_({"a": string(), "b": date()}), False),
        (object_({"a": mm.String()}), False),
    ],
    ids=["free", "empty", "plain", "date", "of another"],
)
def test_an_object_dumps_itself_if_all_its_fields_do(field, itself):
    assert field.dumps_itself is itself


def test_good_objects_are_loaded_quickly():
    field = object_({"at": date(), "n": optional(integer)})
    quick, at = quick_of(field), datetime(2024, 1, 1)
    assert quick.load({"n": 1, "at": "2024-01-01"}) == {"at": at, "n": 1}
    assert list(quick.load({"n": 1, "at": "2024-01-01"})) == ["at", "n"]
    assert quick.load({"at": "2024-01-01"}) == {"at": at}
    for kept in ({"at": at}, {"at": "2024-01-01", "z": 1}, [], {}):
        assert quick.load(kept) is kept
    assert quick_of(object_({"in": field})).load({"in": {"at": "2024-01-01"}}) == {"in": {"at": at}}


def test_constant_defaults_are_filled_in_quickly():
    fields = {
        "a": defaulted(integer, 1),
        "b": defaulted(array(string), ["x"]),
        "c": defaulted(date, "2024-01-01"),
        "d": defaulted(string, lambda: "made"),
        "e": optional(string),
        "f": defaulted(boolean, False),
        "g": defaulted(nullable(string), None),
    }
    quick = quick_of(object_(fields))
    filled = quick.fill({"e": "text"})
    assert repr(filled) == repr({"a": 1, "b": ["x"], "c": datetime(2024, 1, 1), "e": "text", "f": False, "g": None})
    assert quick.fill({})["b"] is not filled["b"]
    assert (quick.fill({"a": 2})["a"], quick.load({}), quick.fill([])) == (2, {}, [])
    assert quick_of(object_({"in": optional(object_(fields))})).fill({"in": {}})["in"]["a"] == 1
    required = ObjectField({"a": mm.Raw(required=True)}).fields["a"]
    assert as_kind(object_({"a": required})).loader(fill=True) is None


@pytest.mark.parametrize(
    "field", [object_(), object_({}), object_({"a": string(), "b": optional(integer)})], ids=["free", "empty", "plain"]
)
def test_an_object_in_which_loading_changes_nothing_has_no_loader(field):
    assert [as_kind(field).loader(fill=fill) for fill in (True, False)] == [None, None]


class Mine(ObjectField):
    """A user's own object."""


def test_a_users_own_object_is_always_loaded():
    field = Mine({"a": date()})
    assert (field.loader(fill=True), field.load_quickly({}), quick_of(field)) == (None, missing, None)


def test_good_objects_are_loaded_at_once_and_others_are_left_to_the_field():
    field: Any = object_({"a": object_({"n": defaulted(integer, 1), "at": optional(date)}), "free": object_()})
    assert field.load_quickly({"a": {}, "free": {}}) == {"a": {"n": 1}, "free": {}}
    assert field.deserialize({"a": {"at": "2024-01-01"}, "free": {"z": 1}}) == {
        "a": {"n": 1, "at": datetime(2024, 1, 1)},
        "free": {"z": 1},
    }
    assert field.fields["a"].load_quickly({"n": 2}) == {"n": 2}
    assert field.load_quickly({"a": {}, "free": []}) is missing
    with pytest.raises(ValidationError) as caught:
        field.deserialize({"a": {"n": "x"}, "free": []})
    assert caught.value.messages == {"a": {"n": ["Not a valid integer."]}, "free": ["Not a valid mapping type."]}


def test_a_quick_test_takes_exactly_the_fields_that_there_may_be():
    test = as_kind(object_(FIELDS)).quick_test(SENT)
    given = [
        {"a": 1, "c": 1},
        {"a": 1, "b": "xy", "c": 1},
        {"a": 1},
        {"a": 1, "b": 5, "c": 1},
        {"a": 1, "c": 1, "z": 1},
    ]
    assert [bool(test(value)) for value in given] == [True, True, False, False, False]
    assert [test(value) for value in ({"a": "1", "c": 1}, MappingProxyType({"a": 1, "c": 1}), [])] == [False] * 3


def test_names_the_database_cannot_hold_are_known_only_as_sent():
    kind = as_kind(object_({"$a": optional(string)}))
    assert (bool(kind.quick_test(SENT)({"$a": "x"})), kind.quick_test(STORED)) == (True, None)
    free = as_kind(object_())
    assert [bool(free.quick_test(purpose)({"$a": 1})) for purpose in (SENT, STORED)] == [True, False]
    assert as_kind(object_({"a": mm.Raw()})).quick_test(SENT) is None


def test_an_object_that_may_be_null_is_stored_as_null():
    field = nullable(object_({"at": date(), "own": mm.Raw()}))
    assert check_value(field, None, "x") is None
    assert check_value(field, {"at": "2024-01-01", "own": 1}, "x") == {"at": datetime(2024, 1, 1), "own": 1}


def test_a_document_that_is_not_quite_right_is_stored_whole_or_refused():
    pure = {"at": date(), "own": optional(mm.Raw()), "part": optional(object_({"at": optional(date)}))}
    assert check_document(pure, {"part": {"at": "2024-01-01"}, "at": "2024-01-02"}) == {
        "at": datetime(2024, 1, 2),
        "part": {"at": datetime(2024, 1, 1)},
    }
    assert refusals(check_document, pure, {"at": "x", "part": 5}) == {
        "doc.at": ["Not a valid ISO 8601 date."],
        "doc.part": ["Not a valid mapping type."],
    }


def test_an_object_is_described_with_its_fields():
    assert as_kind(object_()).description() == {"kind": "object", "fields": None}
    assert as_kind(object_({"a": optional(string)})).description() == {
        "kind": "object",
        "fields": {"a": {"kind": "string", "presence": "optional"}},
    }


def test_a_copy_has_as_many_fields():
    kind = as_kind(object_(FIELDS))
    changed = kind.with_parts([string(), string(), boolean()])
    assert [(name, inner.kind) for name, inner in changed.parts()] == [
        ("a", "string"),
        ("b", "string"),
        ("c", "boolean"),
    ]
    with pytest.raises(ValueError, match="shorter"):
        kind.with_parts([string()])
