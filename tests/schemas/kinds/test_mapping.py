"""Mappings: keys that clients choose, values of one kind."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw.schemas import date, defaulted, integer, mapping, nullable, object_, optional, string
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.mapping import MappingField
from gatewayfw.schemas.kinds.quick import SENT, STORED
from gatewayfw.schemas.kinds.sizes import ENDLESS
from gatewayfw.schemas.structs import check_value
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared
from tests.schemas.kinds.seen import Placed, Refusing


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
    field, sent = Refusing(), {f"k{at}": 1 for at in range(count)}
    assert checked(mapping(field), sent, "create") == {f"set.x.k{at}": ["No."] for at in range(min(count, 100))}
    assert field.asked == asked


def test_values_are_dumped_with_their_keys():
    assert mapping(Placed()).serialize("x", {"x": {"a": 1}}) == {"a": (1, "a", {"a": 1})}
    assert mapping(date()).serialize("x", {"x": None}) is None


def test_good_mappings_are_loaded_and_filled_quickly():
    quick = quick_of(mapping(object_({"at": optional(date), "n": defaulted(integer, 1)})))
    assert (quick.load({"a": {}}), quick.fill({"a": {}})) == ({"a": {}}, {"a": {"n": 1}})
    good = {"a": {"n": 2}}
    assert (quick.fill(good) is good, quick.fill([{}])) == (True, [{}])
    assert as_kind(mapping(string)).loader(fill=True) is None


def test_a_quick_test_knows_keys_for_its_purpose():
    sent, stored = (as_kind(mapping(integer)).quick_test(purpose) for purpose in (SENT, STORED))
    given = [{}, {"a": 1, "b": 2}, {"$a": 1}, {1: 1}, {"\ud800": 1}, {"a": 1, "b": "x"}, MappingProxyType({"a": 1})]
    assert [bool(sent(value)) for value in given] == [True, True, True, False, False, False, False]
    assert [bool(stored(value)) for value in given] == [True, True, False, False, False, False, False]
    assert as_kind(mapping(mm.Raw())).quick_test(SENT) is None


class Mine(MappingField):
    """A user's own mapping."""


def test_a_users_own_mapping_is_always_loaded():
    field = Mine(date())
    assert (field.loader(fill=True), field.load_quickly({}), quick_of(field)) == (None, missing, None)


def test_a_mapping_that_may_be_null_is_stored_as_null():
    assert check_value(nullable(mapping(mm.Date())), None, "x") is None


def test_a_mapping_is_described_with_its_values():
    assert as_kind(mapping(string)).description() == {
        "kind": "mapping",
        "values": {"kind": "string", "presence": "required"},
    }
    assert list(as_kind(mapping(string)).unstated("x")) == ["x", "x.*"]
