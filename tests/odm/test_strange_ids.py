"""Documents of other tools whose `_id` is no ObjectId stop nothing, and everything beside them stays right."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime

import mongomock
import pytest
from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, Timestamp

from gatewayfw.odm import Place, Problem
from gatewayfw.storage import MockStorage, MongoStorage

NAN = float("nan")
ALL = {"name": {"$ne": ""}}
#: Every type that MongoDB takes; it refuses lists, regular expressions and undefined.
IDS = [None, "", "a.b", "$x", "x" * 2000, "a" * 24, -0.0, NAN, float("inf"), Int64(2**62), True, {}, {"a": [1]}]
IDS += [datetime(1, 1, 1), b"", Binary(b"x", 128), Binary(b"y" * 16, 4), {"rel._id": {"b": None}}]
IDS += [DBRef("x", {"a": [1]}), Timestamp(1, 2), MinKey(), MaxKey(), Code("x"), Code("x", {"y": 1}), Decimal128("NaN")]
#: Of each kind one: nothing, what looks like a path or an ObjectId, what differs from itself, what Python cannot hash.
SOME = [None, "a.b", "a" * 24, NAN, {"a": [1]}, Binary(b"x", 128), DBRef("x", {"a": [1]}), Decimal128("NaN")]


def cases(ids):
    """Pairs of a database and an `_id`: of mongomock, and of MongoDB."""
    mock = [pytest.param(("mongomock", one), id=f"mongomock-{one!r:.30}") for one in ids]
    return mock + [pytest.param(("mongo", one), id=f"mongo-{one!r:.30}", marks=pytest.mark.mongo) for one in ids]


with_some = pytest.mark.parametrize("case", cases(SOME), indirect=True)


@pytest.fixture(params=cases(IDS))
def case(request):
    """The name of a database, and an `_id` that it takes."""
    return request.param


@pytest.fixture
def strange_id(case):
    """An `_id` of another tool."""
    return case[1]


@pytest.fixture
def world_storage(case, request):
    """An empty storage for the models of `world`."""
    if case[0] == "mongomock":
        return MockStorage(mongomock.MongoClient().test)
    database = request.getfixturevalue("world_database")
    for name in database.list_collection_names():
        database[name].delete_many(ALL)
    return MongoStorage(database)


@pytest.fixture
def strange(world, strange_id):
    """The id of a country with three cities; the first city, another country and a person have a strange id."""
    land = world.add_country("land")
    copy = {"_id": land, "name": "land"}
    world.storage.insert("city", [{"_id": strange_id, "name": "strange", "country": copy}])
    world.storage.insert("country", [{"_id": strange_id, "name": "strange"}])
    friends = [{"_id": strange_id, "name": "strange", "active": True}]
    world.storage.insert("person", [{"_id": strange_id, "name": "strange", "visited": [copy], "friends": friends}])
    for name in ("b", "c"):
        world.add_city(name, land)
    list(world.odm.integrity.repair())
    yield land
    for model in ("city", "country", "person"):
        world.storage.delete_many(model, ALL)


def names(world, model, path):
    found = world.storage.find(model, {}, [path], sort=[("name", 1)])
    return [one.get(path.partition(".")[0], {}).get("name") for one in found]


def test_everything_beside_it_is_checked_and_mended(world, strange):
    good = next(world.storage.find("city", {"name": "c"}))["_id"]
    world.storage.update_one("city", {"_id": good}, {"$set": {"country.name": "stale"}}, ())
    problem = Problem("city", good, f"country.{strange}", "differs from its source")
    places = []
    assert problem in list(world.odm.integrity.check(on_progress=places.append))
    stored = [Place(**json.loads(json.dumps(asdict(place)))) for place in places]
    assert [list(world.odm.integrity.check(after=place)) == [] for place in stored][-1]
    list(world.odm.integrity.repair())
    assert [one for one in world.odm.integrity.check() if one.id == good or one.model == "country"] == []


@with_some
def test_it_is_checked_and_mended_itself(world, strange, strange_id):
    world.storage.update_one("city", {"_id": strange_id}, {"$set": {"country.name": "stale"}}, ())
    found = [(one.model, one.path) for one in world.odm.integrity.check() if one.model == "city"]
    assert found == [("city", f"country.{strange}")]
    list(world.odm.integrity.repair())
    assert names(world, "city", "country.name") == ["land"] * 3


@pytest.mark.parametrize("beyond", [200, 0])
def test_copies_in_it_follow_their_source(world, strange, beyond):
    with world.odm.leave_to_jobs(beyond):
        world.country.find_one_and_update({"_id": strange}, {"$set": {"name": "new"}})
    assert names(world, "city", "country.name") == ["new"] * 3
    visited = next(world.storage.find("person", {"name": "strange"}))["visited"]
    assert [one["name"] for one in visited] == ["new"]


@with_some
@pytest.mark.parametrize(("model", "beyond"), [("country", 200), ("country", 0), ("city", 0)])
def test_its_own_change_touches_nothing_that_it_is_not_in(world, strange, model, beyond):
    with world.odm.leave_to_jobs(beyond):
        changed = getattr(world, model).find_one_and_update({"name": "strange"}, {"$set": {"name": "new"}})
    assert changed["name"] == "new"
    assert sorted(map(str, names(world, "city", "country.name"))) == ["land"] * 3
    assert [one.model for one in world.odm.integrity.check() if one.model == "country"] == []
    getattr(world, model).find_one_and_update({"name": "new"}, {"$set": {"name": "strange"}})


@with_some
@pytest.mark.parametrize(("model", "cascade"), [("country", False), ("country", True), ("person", True)])
def test_its_deletion_takes_nothing_else_away(world, strange, model, cascade):
    before = world.digest()
    assert getattr(world, model).delete_one({"name": "strange"}, hard_cascade=cascade)["cascaded"] == {}
    after = world.digest()
    assert {name: len(found) - (name == model) for name, found in before.items()} == {
        name: len(found) for name, found in after.items()
    }
    assert [one.model for one in world.odm.integrity.check() if one.model == "country"] == []


@with_some
def test_it_goes_with_a_source_that_it_requires(world, strange):
    assert world.country.delete_one({"_id": strange}, hard_cascade=True)["cascaded"] == {"city": 3}
    assert "visited" not in next(world.storage.find("person", {"name": "strange"}))


@with_some
def test_many_are_updated_and_deleted(world, strange):
    assert world.city.update_many(ALL, {"$set": {"population": 1}}) == {"matched": 3, "modified": 3}
    assert world.person.update_many(ALL, {"$set": {"age": 1}}) == {"matched": 1, "modified": 1}
    assert world.person.delete_many(ALL)["deletedCount"] == 1
    assert world.city.delete_many(ALL)["deletedCount"] == 3
    assert world.country.delete_many(ALL, hard_cascade=True)["deletedCount"] == 2


@with_some
def test_it_is_related_to_others(world, strange):
    other = world.add_country("other")
    flags = {"cities": True, "biggest": False}
    related = {"country": {"_ids": other, "relatedRelations": flags}}
    world.city.add_relation({"name": "strange"}, relations=related, replace=True)
    assert [one["name"] for one in world.country.find_one({"_id": other}, projection={"cities": 1})["cities"]] == [
        "strange"
    ]
    world.person.add_relation({"name": "strange"}, relations={"visited": {"_ids": [other]}})
    world.person.remove_relation({"name": "strange"}, relations={"visited": {"_ids": [strange]}})
    visited = next(world.storage.find("person", {"name": "strange"}))["visited"]
    assert [one["_id"] for one in visited] == [other]


@with_some
def test_it_is_shown(world, strange):
    get = {"_id": 0, "name": 1, "country": {"_id": 0, "name": 1, "cities": {"_id": 0, "name": 1}}}
    cities = [{"name": name} for name in ("strange", "c", "b")]
    (shown,) = world.city.find({"name": "strange"}, projection=get).limit(1)
    shown["country"]["cities"].sort(key=lambda one: one["name"], reverse=True)
    assert shown == {"name": "strange", "country": {"name": "land", "cities": cities}}
