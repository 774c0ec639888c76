"""Update operators, on the document and on its copies."""

from __future__ import annotations

import pytest


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
