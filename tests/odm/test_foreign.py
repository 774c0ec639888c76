"""Documents written to the collections by other means, with no hidden field, take part."""

from __future__ import annotations

import pytest
from bson import DatetimeMS, ObjectId

from gatewayfw.errors import Conflict
from gatewayfw.schemas import date


@pytest.fixture
def foreign(world):
    """A country and two cities of it that no operation of ours has written; copies as they may be."""
    land, old, new = ObjectId(), ObjectId(), ObjectId()
    world.storage.insert("country", [{"_id": land, "name": "land", "imported": True, "secret": "s"}])
    for id_, name in ((old, "old"), (new, "new")):
        world.storage.insert("city", [{"_id": id_, "name": name, "country": {"_id": land}, "imported": True}])
    return land, old, new


def test_an_update_of_the_source_makes_foreign_copies_right(world, foreign):
    land, old, new = foreign
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "renamed"}})
    copies = [world.raw(world.city, one)["country"] for one in (old, new)]
    assert copies == [{"_id": land, "name": "renamed"}] * 2
    world.add_city("mine", land)


def test_foreign_members_belong_to_windows_that_are_recomputed(world, foreign):
    land, old, new = foreign
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "renamed"}})
    mine = world.add_city("mine", land)
    stored = world.raw(world.country, land)
    assert stored["cities"] == [{"_id": mine, "name": "mine"}, {"_id": new, "name": "new"}, {"_id": old, "name": "old"}]
    assert stored["imported"] is True
    assert stored["secret"] == "s"
    assert stored["_gw"] == {"v": 1, "r": 1}


def test_foreign_members_can_depart_and_be_replaced(world, foreign):
    land, old, new = foreign
    other = world.add_country("other")
    flags = {"cities": True, "biggest": True}
    relation = {"country": {"_ids": other, "relatedRelations": flags}}
    world.city.add_relation(filters={"_id": old}, relations=relation, replace=True)
    world.city.delete_one(filter={"_id": new})
    assert world.raw(world.city, old) == {
        "_id": old,
        "name": "old",
        "country": {"_id": other, "name": "other"},
        "imported": True,
        "_gw": {"r": 1},
    }
    assert "cities" not in world.raw(world.country, land)


def test_foreign_fields_are_never_shown_or_copied(world, foreign):
    land, _, _ = foreign
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "renamed"}})
    city = world.city.insert_one(doc={"name": "x"}, relations={"country": {"_ids": land}}, projection={"country": 1})
    assert city["country"] == {"_id": land, "name": "renamed"}
    assert "imported" not in world.country.find_one(filters={"_id": land})
    world.add_city("mine", land)


def test_null_relations_read_as_absent(world):
    id_ = ObjectId()
    world.storage.insert("person", [{"_id": id_, "name": "x", "born": None, "visited": None}])
    assert world.person.find_one(filters={"_id": id_}, projection={"born": 1, "visited": 1}) == {
        "_id": id_,
        "visited": [],
    }
    land = world.add_country("land")
    relations = {"born": {"_ids": land}, "visited": {"_ids": [land]}}
    world.person.add_relation(filters={"_id": id_}, relations=relations)
    assert world.raw(world.person, id_)["visited"] == [{"_id": land, "name": "land"}]


def test_one_odd_holder_does_not_block_its_source(world):
    land = world.add_country("land")
    right = world.add_person("right", {"visited": {"_ids": [land], "relatedRelations": {"visitors": True}}})
    odd = ObjectId()
    world.storage.insert("person", [{"_id": odd, "name": "odd", "visited": {"_id": land, "name": "land"}}])
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "renamed"}})
    assert world.raw(world.person, right)["visited"] == [{"_id": land, "name": "renamed"}]
    assert [problem.id for problem in world.problems() if problem.model == "person"] == [odd]
    world.person.delete_one(filter={"_id": odd})


def test_several_documents_in_a_single_relation_are_kept_when_one_of_them_changes(world):
    land = world.add_country("land")
    first, second = world.add_city("first", land), world.add_city("second", land)
    odd, copies = ObjectId(), [{"_id": first, "name": "first"}, {"_id": second, "name": "second"}]
    world.storage.insert("person", [{"_id": odd, "name": "odd", "home": copies}])
    right = world.add_person("right", {"home": {"_ids": first}})
    world.city.find_one_and_update(filter={"_id": first}, update={"$set": {"name": "renamed"}})
    assert world.raw(world.person, right)["home"] == {"_id": first, "name": "renamed"}
    assert world.raw(world.person, odd)["home"] == copies
    assert [(problem.id, problem.path) for problem in world.problems()] == [(odd, f"home.{first}")]
    world.person.delete_one(filter={"_id": odd})


def test_a_copy_gets_and_loses_what_its_source_does_and_keeps_what_no_field_is(world):
    land = world.add_country("land")
    city = world.add_city("city", land)
    world.storage.update_one("city", {"_id": city}, {"$set": {"country.imported": 1}}, ())
    seen = []
    for change in ({"$set": {"population": 5}}, {"$unset": {"population": ""}, "$set": {"name": "empty"}}):
        world.country.find_one_and_update(filter={"_id": land}, update=change)
        seen.append(world.raw(world.city, city)["country"])
    assert seen == [
        {"_id": land, "name": "land", "population": 5, "imported": 1},
        {"_id": land, "name": "empty", "imported": 1},
    ]
    assert world.city.find_one(filters={"_id": city}, projection={"country": 1})["country"] == {
        "_id": land,
        "name": "empty",
    }
    assert [problem.id for problem in world.problems()] == [city]
    assert [problem.state for problem in world.odm.integrity.repair()] == ["mended"]
    assert world.raw(world.city, city)["country"] == {"_id": land, "name": "empty"}


@pytest.mark.parametrize("hidden", [{"out": 5, "at": []}, {"out": {"visited": 5}, "at": {"visited": 5}, "v": "x"}])
def test_a_hidden_field_that_another_tool_broke_is_read_as_empty(world, hidden):
    land, id_ = world.add_country("land"), ObjectId()
    world.storage.insert("person", [{"_id": id_, "name": "x", "_gw": hidden}])
    flags = {"relatedRelations": {"visitors": True}}
    world.person.add_relation(filters={"_id": id_}, relations={"visited": {"_ids": [land], **flags}})
    assert world.raw(world.country, land)["visitors"] == [{"_id": id_, "name": "x"}]


def test_removing_the_last_of_a_required_list_is_refused_even_when_it_is_there_twice(world):
    land = world.add_country("land")
    place, club = world.add_city("place", land), ObjectId()
    copy = {"_id": place, "name": "place"}
    world.storage.insert("club", [{"_id": club, "name": "x", "places": [copy, copy]}])
    with pytest.raises(Conflict, match="^places is required$"):
        world.club.remove_relation(filters={"_id": club}, relations={"places": {"_ids": [place]}})
    world.club.delete_one(filter={"_id": club})


@pytest.mark.mongo
def test_a_date_that_python_cannot_hold_is_readable(mongo_database, odm_on):
    model = odm_on(mongo_database).new_model("log", {"at": date()})
    mongo_database.log.insert_one({"at": DatetimeMS(2**53)})
    assert int(model.find_one(projection={"at": 1, "_id": 0})["at"]) == 2**53
