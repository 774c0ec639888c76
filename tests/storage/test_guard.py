"""Only the named subset of filters and updates is emitted, whatever the models are asked to do."""

from __future__ import annotations

import mongomock
import pytest
from bson import ObjectId

from gatewayfw.errors import Conflict, StillReferenced
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage
from gatewayfw.storage.base import Storage
from gatewayfw.testing.storage_suite.topic import LOCK
from tests.odm.world import World, define_world
from tests.storage.recording import OutsideSubset, RecordingStorage


@pytest.fixture
def recording():
    return RecordingStorage(MockStorage(mongomock.MongoClient().test))


@pytest.fixture
def world(recording):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(recording)
    return World(odm, define_world(odm))


def workload(world):
    """Every operation of the models, over relations of every kind."""
    land, other = world.add_country("land"), world.add_country("other", population=2)
    cities = [world.add_city(name, land, ("cities", "biggest", "capital"), population=1) for name in "abcd"]
    club = world.club.insert_one(
        doc={"name": "club"}, relations={"places": {"_ids": cities[:2], "relatedRelations": {"clubs": True}}}
    )["_id"]
    boss = world.add_person("boss", age=50)
    everything = {
        "home": {"_ids": cities[0]},
        "born": {"_ids": land, "relatedRelations": {"natives": True}},
        "visited": {"_ids": [land, other], "relatedRelations": {"visitors": True}},
        "friends": {"_ids": [boss], "relatedRelations": {"friendOf": False}},
        "boss": {"_ids": boss, "relatedRelations": {"reports": True, "assistant": True}},
        "clubs": {"_ids": [club], "relatedRelations": {"members": True, "president": True}},
    }
    one = world.add_person("one", everything, age=1)
    docs = [{"name": "two", "age": 2}, {"name": "three", "_id": ObjectId()}]
    two, three = (doc["_id"] for doc in world.person.insert_many(docs=docs, relations=everything))
    reading(world, land)
    changing(world, land, cities[0], one, boss)
    relating(world, two, three, other)
    deleting(world, land, cities, two)


def reading(world, land):
    world.city.find(filters={"country._id": str(land), "$or": [{"name": "a"}, {"population": {"$gte": 1}}]}).to_list()
    world.person.find(projection={"name": 1, "home": {"name": 1}}).sort("age", -1).skip(1).limit(1).to_list()
    world.person.find_one(filters={"visited": {"$elemMatch": {"name": {"$in": ["land"]}}}}, reveal=["password"])
    world.country.count({"population": {"$exists": True}})
    world.city.aggregate([{"$match": {"name": "a"}}]).to_list()


def changing(world, land, city, one, boss):
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new", "secret": "x"}})
    world.country.find_one_and_update(filter={"_id": land}, update={"$unset": {"population": ""}})
    for update in ({"$push": {"tags": "x"}}, {"$addToSet": {"tags": {"$each": ["x", "y"]}}}, {"$pull": {"tags": "x"}}):
        world.city.find_one_and_update(filter={"_id": city}, update=update)
    world.city.find_one_and_update(filter={"_id": city}, update={"$inc": {"population": 7}})
    for id_ in (one, boss):
        world.person.find_one_and_update(filter={"_id": id_}, update={"$set": {"age": 9, "name": "z"}})
    world.person.find_one_and_update(filter={"_id": boss}, update={"$set": {}})


def relating(world, two, three, other):
    def add(name, ids, replace=False, **flags):
        relation = {name: {"_ids": ids, "relatedRelations": flags}}
        world.person.add_relation(filters={"_id": two}, relations=relation, replace=replace)

    add("friends", [three], friendOf=True)
    add("friends", [three], replace=True, friendOf=False)
    add("boss", three, replace=True, reports=True, assistant=True)
    with pytest.raises(Conflict):
        add("boss", three)
    world.person.remove_relation(
        filters={"_id": two}, relations={"boss": {"_ids": three}, "visited": {"_ids": [other]}}
    )
    world.odm.transaction(lambda: [add("visited", [other], visitors=True), add("friends", [], replace=True)])


def deleting(world, land, cities, two):
    world.person.delete_one(filter={"_id": two})
    with pytest.raises(StillReferenced):
        world.country.delete_one(filter={"_id": land})
    world.city.delete_one(filter={"_id": cities[3]})
    world.country.delete_one(filter={"_id": land}, hard_cascade=True)


def test_the_models_emit_only_the_subset(world, recording):
    workload(world)
    assert world.problems() == []
    # Proof that the workload is one: it reached every method, and most operators.
    methods = {name for name in Storage.__abstractmethods__ if not name.startswith(("has_", "close"))}
    assert recording.emitted >= methods - {"ensure", "transaction", "aggregate", "indexes", "is_sharded"}
    assert recording.emitted >= {"$", "$set", "$unset", "$inc", "$push", "$pull", "$addToSet", "$in", "$ne"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda storage: storage.find("city", {"name": {"$regex": "("}}), "filter: name: $regex is malformed"),
        (lambda storage: storage.count("city", {"$where": "1"}), "filter: unknown operator $where"),
        (lambda storage: storage.touch("city", {"$not": [{}]}, None, lock=LOCK), "filter: unknown operator $not"),
        (lambda storage: storage.delete_many("city", {"a": {"$mod": [2, 1]}}), "filter: unknown operator $mod"),
        (lambda storage: storage.find("city", {}, ["a", "a.b"]), "find: field a.b"),
        (
            lambda storage: storage.update_one("city", {}, {"$set": {"a.$": 1}}, None),
            "update_one: $set a.$",
        ),
        (
            lambda storage: storage.update_one("city", {"a": {"$mod": [2, 0]}}, {"$set": {"a": 1}}, None),
            "filter: unknown operator $mod",
        ),
        (
            lambda storage: storage.update_many("city", {}, {"$set": {"a.$[x]": 1}}),
            "update_many: $set a.$[x]",
        ),
        (
            lambda storage: storage.update_many("city", {}, {"$unset": {"a.$": ""}}),
            "update_many: $unset a.$",
        ),
        (
            lambda storage: storage.update_many("city", {}, {"$set": {"a.$": 1, "b.$": 1}}),
            "update_many: two positional paths",
        ),
        (
            lambda storage: storage.update_each("city", iter([(1, {"$addToSet": {"a": {"$each": [], "$sort": 1}}})])),
            "update: $addToSet takes a value, or a list in $each",
        ),
        (
            lambda storage: storage.update_each("city", [(1, {"$rename": {"a": "b"}})]),
            "update: unknown operator $rename",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_guard_fails_outside_the_subset(recording, call, message):
    with pytest.raises(OutsideSubset) as caught:
        call(recording)
    assert str(caught.value) == message


def test_the_guard_sees_what_the_models_emit(world, monkeypatch):
    """An operator that slips into the algorithms does not pass."""
    land = world.add_country("land")
    monkeypatch.setattr("gatewayfw.odm.writing.plan.update.HIDDEN", "_gw.$[]")
    with pytest.raises(OutsideSubset) as caught:
        world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new"}})
    assert str(caught.value) == "update_one: $inc _gw.$[].v"
