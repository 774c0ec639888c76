"""Update operators, on the document and on its copies."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from bson import ObjectId

from gatewayfw.schemas import array, date, object_, object_id


@pytest.fixture
def city(world):
    land = world.add_country("land")
    return world.add_city("city", land, tags=["a", "b"], population=5)


@pytest.mark.parametrize(
    ("update", "changed"),
    [
        ({"$set": {"name": "new"}}, {"name": "new"}),
        ({"$set": {"tags": []}}, {"tags": []}),
        ({"$unset": {"population": ""}}, {"population": None}),
        ({"$inc": {"population": 2}}, {"population": 7}),
        ({"$push": {"tags": "c"}}, {"tags": ["a", "b", "c"]}),
        ({"$push": {"tags": {"$each": ["c", "a"]}}}, {"tags": ["a", "b", "c", "a"]}),
        ({"$addToSet": {"tags": "a"}}, {"tags": ["a", "b"]}),
        ({"$addToSet": {"tags": {"$each": ["a", "c"]}}}, {"tags": ["a", "b", "c"]}),
        ({"$pull": {"tags": "a"}}, {"tags": ["b"]}),
        ({"$pull": {"tags": {"$in": ["a", "b"]}}}, {"tags": []}),
        ({"$set": {"name": "new"}, "$inc": {"population": -5}}, {"name": "new", "population": 0}),
    ],
)
def test_operators_change_the_document_and_its_copies(world, city, update, changed):
    wanted = {"_id": city, "name": "city", "population": 5, "tags": ["a", "b"], **changed}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    shown = world.city.find_one_and_update(
        filter={"_id": city}, update=update, projection={"name": 1, "population": 1, "tags": 1}
    )
    assert shown == wanted
    assert world.country.find_one(filters={}, projection={"cities": 1})["cities"] == [wanted]


def test_paths_below_objects_are_set_and_unset(world):
    person = world.add_person("p", address={"street": "s", "zip": "z"}, extra={"a": {"b": 1}})
    update = {"$set": {"address.street": "t", "extra.a.c": 2}, "$unset": {"address.zip": "", "extra.a.b": ""}}
    get = {"address": 1, "extra": 1, "_id": 0}
    shown = world.person.find_one_and_update(filter={"_id": str(person)}, update=update, projection=get)
    assert shown == {"address": {"street": "t"}, "extra": {"a": {"c": 2}}}


def test_without_projection_everything_visible_is_returned(world, city):
    shown = world.city.find_one_and_update(filter={"_id": city}, update={"$set": {"name": "new"}})
    assert shown == world.city.find_one(filters={"_id": city})


def test_only_fields_of_a_copy_are_brought_to_it(world):
    land = world.add_country("land")
    city = world.add_city("city", land)
    before = world.raw(world.city, city)
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"secret": "s"}})
    assert world.raw(world.city, city) == before


def test_ids_and_dates_are_converted_where_elements_are_pulled(odm):
    kind = array(object_({"id": object_id(), "at": date()}))
    model = odm.new_model("log", {"entries": kind})
    entries = [{"id": letter * 24, "at": f"2026-01-0{number}"} for number, letter in enumerate("ab", 1)]
    id_ = model.insert_one(doc={"entries": entries})["_id"]
    update = {"$pull": {"entries": {"id": "A" * 24}}}
    shown = model.find_one_and_update(filter={"_id": id_}, update=update)
    assert shown == {"_id": id_, "entries": [{"id": ObjectId("b" * 24), "at": datetime(2026, 1, 2)}]}


def test_dates_in_free_values_come_back_as_they_are_shown(world):
    moment = datetime(2026, 1, 1, 2, 0, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    shown = world.person.insert_one(doc={"name": "x", "extra": {"at": [moment]}}, projection={"extra": 1})
    assert shown["extra"] == {"at": [datetime(2026, 1, 1, 0, 0, 0, 123000)]}
    assert world.person.find_one(projection={"extra": 1}) == shown
