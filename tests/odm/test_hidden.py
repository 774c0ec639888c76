"""What the hidden field says, and when it is absent."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from bson import ObjectId
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.odm.hidden import clock, examine, reset
from tests.strategies import json_values


def hidden(world, model, id_):
    return world.raw(model, id_).get("_gw")


def test_a_document_that_says_nothing_has_no_hidden_field(world):
    land = world.add_country("land")
    city = world.add_city("city", land, flags=("cities", "biggest", "capital"))
    assert hidden(world, world.country, land) is None
    assert hidden(world, world.city, city) is None


def test_opting_out_is_noted_by_relation_and_reverse(world):
    land = world.add_country("land")
    city = world.add_city("city", land, flags=("cities",))
    assert hidden(world, world.city, city) == {"out": {"country": {"biggest": [land]}}}


def test_versions_count_updates_and_travel_with_every_copy(world):
    land = world.add_country("land")
    before = world.add_city("before", land)
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new"}})
    after = world.add_city("after", land)
    assert hidden(world, world.country, land) == {"v": 1, "r": 1}
    at = {"at": {"country": {str(land): 1}}}
    assert hidden(world, world.city, before) == at
    assert hidden(world, world.city, after) == at


def test_removal_forgets_version_and_opt_out(world):
    first, second = world.add_country("first"), world.add_country("second")
    world.country.find_one_and_update(filter={"_id": first}, update={"$set": {"population": 1}})
    person = world.add_person("p", {"visited": {"_ids": [first, second]}})
    some = {"some": {"visited": {"visitors": True}}}
    assert hidden(world, world.person, person) == {**some, "at": {"visited": {str(first): 1}}}
    world.person.remove_relation(filters={"_id": person}, relations={"visited": {"_ids": [first]}})
    assert hidden(world, world.person, person) == {"r": 1, **some}
    world.person.remove_relation(filters={"_id": person}, relations={"visited": {"_ids": [second]}})
    assert hidden(world, world.person, person) == {"r": 2}


def test_replacing_a_single_relation_forgets_the_old_source(world):
    first, second = world.add_country("first"), world.add_country("second")
    world.country.find_one_and_update(filter={"_id": first}, update={"$set": {"population": 1}})
    city = world.add_city("city", first, flags=())
    flags = {"cities": True, "biggest": True}
    world.city.add_relation(
        filters={"_id": city}, relations={"country": {"_ids": second, "relatedRelations": flags}}, replace=True
    )
    assert hidden(world, world.city, city) == {"r": 1}


def test_a_cascade_forgets_what_left_the_holders(world):
    land = world.add_country("land")
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"population": 1}})
    person = world.add_person("p", {"visited": {"_ids": [land]}, "born": {"_ids": land}})
    world.country.delete_one(filter={"_id": land}, hard_cascade=True)
    assert world.raw(world.person, person) == {"_id": person, "name": "p", "active": True, "_gw": {"r": 1}}


def test_an_own_id_starts_at_a_later_version_and_revision(world):
    id_ = ObjectId()
    assert world.add_country("land", _id=id_) == id_
    found = hidden(world, world.country, id_)
    assert found == dict.fromkeys(("v", "r"), found["v"])
    assert found["v"] > 1_700_000_000_000_000


def test_an_update_of_no_pure_field_changes_nothing(world):
    land = world.add_country("land")
    before = world.digest()
    shown = world.country.find_one_and_update(filter={"_id": land}, update={"$set": {}}, projection={"name": 1})
    assert shown == {"_id": land, "name": "land"}
    assert world.digest() == before


A, B = ObjectId("a" * 24), ObjectId("b" * 24)
NAN = float("nan")
OUT = {"out": {"x": {"y": [A]}}, "some": {"x": {"y": True}}, "in": {"x": {"y": [A]}}}
WHOLE = {"rev": 1, "v": 2, "r": 3, **OUT, "at": {"x": {"k": 4}}, "cut": {"y": 5, "z": None}, "n": 6}


@pytest.mark.parametrize("stored", [WHOLE, {}, {"out": {"x": {"y": []}}, "at": {"x": {}}, "cut": {}}, {"n": NAN}])
def test_a_field_of_the_right_form_is_read_as_it_is(stored):
    assert examine({"_gw": stored}) == (stored, [])


@pytest.mark.parametrize(
    ("stored", "right", "damaged"),
    [
        (None, {}, ["_gw"]),
        ([WHOLE], {}, ["_gw"]),
        ({"v": 2.0, "r": True, "rev": -1, "n": None}, {"n": None}, ["_gw.v", "_gw.r", "_gw.rev"]),
        ({"v": 2**62, "r": 2**62 + 1}, {"v": 2**62}, ["_gw.r"]),
        ({"some": {"x": {"y": 1, "z": True}}}, {"some": {"x": {"z": True}}}, ["_gw.some.x.y"]),
        ({"at": {"x": {"k": "1", "": 2}, "y": 5}}, {"at": {"x": {"": 2}}}, ["_gw.at.x.k", "_gw.at.y"]),
        (
            {"out": {"x": {"y": [A, 5, B], "z": [5]}, "w": []}},
            {"out": {"x": {"y": [A, B]}}},
            ["_gw.out.x.y", "_gw.out.x.z", "_gw.out.w"],
        ),
        ({"cut": {"y": "5", "z": None}}, {"cut": {"z": None}}, ["_gw.cut.y"]),
    ],
)
def test_damaged_parts_are_left_out_and_named(stored, right, damaged):
    assert examine({"_gw": stored}) == (right, damaged)


def test_damaged_counters_go_on_from_the_version_given():
    assert reset({"_gw": 5}, 9) == {"rev": 9, "v": 9, "r": 9}
    assert reset({"_gw": {"v": "x", "r": 2, "at": None}}, 9) == {"v": 9, "r": 2}


@given(
    json_values
    | st.dictionaries(st.sampled_from(["v", "r", "rev", "out", "some", "in", "at", "cut", "n"]), json_values)
)
@example({"n": NAN})
def test_nothing_of_a_field_that_was_reset_is_damaged(stored):
    assert examine({"_gw": reset({"_gw": stored}, 9)})[1] == []


def test_the_clock_gives_microseconds(monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.hidden.time", SimpleNamespace(time=lambda: 1.5))
    assert repr(clock()) == "1500000"
