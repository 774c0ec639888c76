"""Lists, mappings and objects: what they take, load, store and say, and which of their parts is at fault."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest
from bson import encode
from marshmallow import ValidationError
from marshmallow import fields as mm

from gatewayfw.schemas import (
    array,
    boolean,
    date,
    defaulted,
    integer,
    mapping,
    nullable,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.kinds.foreign import largest_of
from gatewayfw.schemas.kinds.sizes import ENDLESS, list_bytes
from gatewayfw.schemas.maxima import put_maxima
from gatewayfw.settings import Settings
from tests.schemas.calls import checked, new_document, refusals
from tests.schemas.kinds.answers import answers, compared
from tests.schemas.kinds.seen import Placed, Refusing

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


def test_an_object_in_which_nothing_changes_is_loaded_as_it_is():
    field, sent = object_({"a": integer(), "b": optional(string)}), {"a": 1}
    assert field.deserialize(sent) is sent
    assert field.serialize("x", {"x": sent}) == sent
    assert field.deserialize({"a": "1", "b": "x"}) == {"a": 1, "b": "x"}


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
    assert quick.fill({"a": 2})["a"] == 2
    assert quick.load({}) == {}
    assert quick.fill([]) == []
    assert quick_of(object_({"in": optional(object_(fields))})).fill({"in": {}})["in"]["a"] == 1
    required = ObjectField({"a": mm.Raw(required=True)}).fields["a"]
    assert as_kind(object_({"a": required})).loader(fill=True) is None


@pytest.mark.parametrize(
    "field", [object_(), object_({}), object_({"a": string(), "b": optional(integer)})], ids=["free", "empty", "plain"]
)
def test_an_object_in_which_loading_changes_nothing_has_no_loader(field):
    assert [as_kind(field).loader(fill=fill) for fill in (True, False)] == [None, None]


def test_the_good_parts_of_an_object_are_loaded_and_the_others_refused():
    field: Any = object_({"a": object_({"n": defaulted(integer, 1), "at": optional(date)}), "free": object_()})
    assert field.deserialize({"a": {"at": "2024-01-01"}, "free": {"z": 1}}) == {
        "a": {"n": 1, "at": datetime(2024, 1, 1)},
        "free": {"z": 1},
    }
    with pytest.raises(ValidationError) as caught:
        field.deserialize({"a": {"n": "x"}, "free": []})
    assert caught.value.messages == {"a": {"n": ["Not a valid integer."]}, "free": ["Not a valid mapping type."]}


def test_a_quick_test_takes_exactly_the_fields_that_there_may_be():
    test = as_kind(object_(FIELDS)).quick_test()
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
    assert kind.quick_test() is None
    free = as_kind(object_())
    assert [bool(free.quick_test()(value)) for value in ({"a": 1}, {"$a": 1})] == [True, False]
    assert as_kind(object_({"a": mm.Raw()})).quick_test() is None


def test_an_object_that_may_be_null_is_stored_as_null():
    field = nullable(object_({"at": date(), "own": mm.Raw()}))
    assert check_value(field, None, "x") is None
    assert check_value(field, {"at": "2024-01-01", "own": 1}, "x") == {"at": datetime(2024, 1, 1), "own": 1}


def test_a_document_that_is_not_quite_right_is_stored_whole_or_refused():
    pure = {"at": date(), "own": optional(mm.Raw()), "part": optional(object_({"at": optional(date)}))}
    assert new_document(pure, {"part": {"at": "2024-01-01"}, "at": "2024-01-02"}) == {
        "at": datetime(2024, 1, 2),
        "part": {"at": datetime(2024, 1, 1)},
    }
    assert refusals(new_document, pure, {"at": "x", "part": 5}) == {
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


NOT = ["Not a valid integer."]


def test_a_list_that_is_too_long_is_refused_before_its_elements():
    assert checked(array(integer, size=(None, 2)), ["x"] * 3, "assert") == {
        "set.x": ["Longer than maximum length 2."],
    }


def test_filters_compare_with_one_element_or_a_whole_list():
    assert compared(array(integer), 1, [1, 2], [], None) == [1, [1, 2], [], None]
    assert compared(array(integer), "1", [1, "2"]) == [{"x": NOT}, {"x.1": NOT}]


def test_in_a_list_of_lists_a_list_is_an_element_where_it_is_no_whole():
    assert compared(array(array(integer)), [[1], [2]], [1, 2], 1) == [[[1], [2]], [1, 2], 1]


def test_a_list_is_as_large_as_its_elements_together():
    common = {"sorts": False, "abilities": ["LIST"], "sets parts": False}
    assert answers(array(integer, size=3)) == {**common, "largest": list_bytes(3, 8), "unstated": []}
    assert answers(array(string)) == {**common, "largest": ENDLESS, "unstated": ["x", "x[]"]}


def test_parts_are_the_elements_at_every_index():
    field = as_kind(array(integer))
    assert [path for path, _ in field.parts("x")] == ["x[]"]
    assert field.part(0) is field.elements
    assert field.part("name") is None


def test_a_setting_bounds_lists_of_ids_only():
    settings = Settings(max_text=1, max_body_text=1, max_ids=2)
    ids = put_maxima(array(object_id), settings, "act", ids=True)
    assert checked(ids, ["0" * 24] * 3, "assert") == {"set.x": ["Longer than maximum length 2."]}
    numbers = array(integer)
    assert put_maxima(numbers, settings, "act", ids=True) is numbers


@pytest.mark.parametrize(("count", "asked"), [(99, 99), (100, 100), (101, 101), (150, 101)])
def test_elements_after_the_errors_that_are_told_are_not_judged(count, asked):
    field = array(Refusing())
    assert checked(field, [1] * count, "create") == {f"set.x.{at}": ["No."] for at in range(min(count, 100))}
    assert field.inner.asked == asked


def test_elements_are_dumped_with_the_place_of_their_list():
    assert array(Placed()).serialize("x", {"x": [1]}) == [(1, "x", {"x": [1]})]
    assert array(date()).serialize("x", {"x": None}) is None


def test_good_lists_are_loaded_and_filled_quickly():
    quick = quick_of(array(object_({"at": optional(date), "n": defaulted(integer, 1)})))
    assert (quick.load([{}]), quick.fill([{}])) == ([{}], [{"n": 1}])
    good = [{"n": 2}]
    assert quick.fill(good) is good
    assert quick.fill(({},)) == ({},)
    assert as_kind(array(string)).loader(fill=True) is None


def test_a_list_that_may_be_null_is_stored_as_null():
    assert check_value(nullable(array(mm.Date())), None, "x") is None


def test_a_list_is_described_with_its_elements_and_lengths():
    assert as_kind(array(integer, size=(1, 3))).description() == {
        "kind": "array",
        "items": {"kind": "integer", "presence": "required"},
        "minItems": 1,
        "maxItems": 3,
    }


def test_a_setting_bounds_a_list_of_ids_where_it_is_asked_to():
    ids = as_kind(array(object_id))
    assert put_maxima(ids, Settings(max_ids=0), "act") is ids
    bound = put_maxima(ids, Settings(max_ids=0), "act", ids=True)
    assert (checked(bound, [], "assert"), checked(bound, ["0" * 24], "assert")) == (
        [],
        {"set.x": ["Longer than maximum length 0."]},
    )
    assert bound.states_maximum is False
    assert ids.states_maximum is True


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
    assert field.part("any") is field.part("other")
    assert field.part("any").kind == "integer"
    assert (field.part(0), [path for path, _ in field.parts("x")]) == (None, ["x.*"])


def test_a_mapping_has_no_bound():
    assert answers(mapping(integer)) == {
        "sorts": False,
        "abilities": [],
        "sets parts": True,
        "largest": ENDLESS,
        "unstated": ["x"],
    }


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_keys_are_texts_that_can_be_sent(mode):
    wrong = ["Not a valid key."]
    assert checked(mapping(integer), {1: 2, "\ud800": 1, "a": 1}, mode) == {"set.x.1": wrong, "set.x.\\ud800": wrong}
    assert compared(mapping(integer), {1: 2, "\ud800": 1}, {"a": 1, 5: 1}) == [
        {"x.1": wrong, "x.\\ud800": wrong},
        {"x.5": wrong},
    ]


@pytest.mark.parametrize(("count", "asked"), [(99, 99), (100, 100), (101, 101), (150, 101)])
def test_values_after_the_errors_that_are_told_are_not_judged(count, asked):
    field, sent = mapping(Refusing()), {f"k{at}": 1 for at in range(count)}
    assert checked(field, sent, "create") == {f"set.x.k{at}": ["No."] for at in range(min(count, 100))}
    assert field.inner.asked == asked


def test_values_are_dumped_with_their_keys():
    assert mapping(Placed()).serialize("x", {"x": {"a": 1}}) == {"a": (1, "a", {"a": 1})}
    assert mapping(date()).serialize("x", {"x": None}) is None


def test_good_mappings_are_loaded_and_filled_quickly():
    quick = quick_of(mapping(object_({"at": optional(date), "n": defaulted(integer, 1)})))
    assert (quick.load({"a": {}}), quick.fill({"a": {}})) == ({"a": {}}, {"a": {"n": 1}})
    good = {"a": {"n": 2}}
    assert quick.fill(good) is good
    assert quick.fill([{}]) == [{}]
    assert as_kind(mapping(string)).loader(fill=True) is None


def test_a_quick_test_knows_keys_that_the_database_can_hold():
    stored = as_kind(mapping(integer)).quick_test()
    given = [{}, {"a": 1, "b": 2}, {"$a": 1}, {1: 1}, {"\ud800": 1}, {"a": 1, "b": "x"}, MappingProxyType({"a": 1})]
    assert [bool(stored(value)) for value in given] == [True, True, False, False, False, False, False]
    assert as_kind(mapping(mm.Raw())).quick_test() is None


def test_a_mapping_that_may_be_null_is_stored_as_null():
    assert check_value(nullable(mapping(mm.Date())), None, "x") is None


def test_a_mapping_is_described_with_its_values():
    assert as_kind(mapping(string)).description() == {
        "kind": "mapping",
        "values": {"kind": "string", "presence": "required"},
    }
    assert list(as_kind(mapping(string)).unstated("x")) == ["x", "x.*"]


BOTH = pytest.mark.parametrize("kind", [array, mapping])


@BOTH
def test_a_copy_has_another_field_inside(kind):
    field, inner = kind(string()), integer()
    changed = as_kind(field).with_parts([inner])
    assert [one for _, one in as_kind(changed).parts()] == [inner]
    assert [one.kind for _, one in as_kind(field).parts()] == ["string"]


@BOTH
def test_good_values_are_loaded_as_they_are(kind):
    good = {array: [1, 2], mapping: {"a": 1}}[kind]
    assert kind(integer()).deserialize(good) is good
