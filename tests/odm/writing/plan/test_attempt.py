"""How much one attempt writes itself, when it is run again, and which copies it need not count."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from bson import ObjectId

from gatewayfw.errors import Unavailable
from gatewayfw.odm import Odm
from gatewayfw.odm.sizes.budgets import SizeChecks
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from tests.odm.world import MODELS, World, define_world


@pytest.mark.parametrize(
    ("limit", "already", "left"),
    [
        (9, 0, set()),
        (8, 0, {"large"}),
        (9, 1, {"large"}),
        (3, 0, {"large"}),
        (5, 4, {"large", "small"}),
        (0, 0, {"large", "small"}),
    ],
)
def test_the_largest_is_left_to_jobs_until_the_rest_keeps_the_limit(limit, already, left):
    assert Attempt(None, None, limit).beyond({"large": 6, "small": 3, "none": 0}, already) == left


def test_without_a_limit_everything_is_written_at_once():
    attempt = Attempt(None, None)
    assert attempt.is_bounded is False
    assert attempt.beyond({"large": 10**9}) == set()
    assert attempt.jobs == set()
    assert attempt.size_checks == SizeChecks.NONE
    assert attempt.renewed == []
    assert attempt.freed == set()


def test_what_a_document_spends_leaves_room_for_another_like_the_largest():
    attempt = Attempt(None, None, 0)
    assert attempt.is_bounded is True
    assert attempt.has_room is True
    assert attempt.beyond({"none": 0}) == set()
    attempt, told = Attempt(None, None, 9), []
    for copies in (3, 1, 1, 1):
        attempt.spend(copies)
        told.append((attempt.limit, attempt.has_room))
    assert told == [(6, True), (5, True), (4, True), (3, True)]
    attempt.spend(1)
    assert attempt.limit == 2
    assert attempt.has_room is False


LAND = ObjectId()


# -- counting copies in operations


class CountingStorage(MongoStorage):
    """Counts how often it is asked for a number of documents."""

    counted = 0

    def count(self, collection, *args, **keys):
        self.counted += collection in MODELS
        return super().count(collection, *args, **keys)


@pytest.fixture
def world(world_database, monkeypatch):
    """The world on MongoDB with two cities in a country; a transaction may write 5 copies."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    for name in world_database.list_collection_names():
        world_database[name].delete_many({})
    odm = Odm(Schemas(Settings()), Settings(inline_limit=5))
    odm.set_db(CountingStorage(world_database))
    world = World(odm, define_world(odm))
    world.country.insert_one(doc={"_id": LAND, "name": "land"})
    for name in ("a", "b"):
        world.add_city(name, LAND)
    yield world
    assert (odm.work(), world.problems()) == (0, [])


def renamed(world, name, id_=LAND):
    """Rename the country; return how many times copies were counted, in three relations, and the jobs left."""
    before = world.storage.counted
    world.country.find_one_and_update(filter={"_id": id_}, update={"$set": {"name": name}})
    return world.storage.counted - before, [job.relation for job in world.odm.jobs()]


def add_four(world):
    world.city.insert_many(docs=[{"name": name} for name in "wxyz"], relations={"country": {"_ids": LAND}})


def visit(world):
    id_ = world.add_person("Ann")
    world.person.add_relation(filters={"_id": id_}, relations={"visited": {"_ids": [LAND]}})


CHANGES = {
    "nothing": (lambda world: None, (0, [])),
    "a member more": (lambda world: world.add_city("c", LAND), (0, [])),
    "four in one command": (add_four, (3, ["city.country"])),
    "two more that may be of each relation": (lambda world: [visit(world), visit(world)], (3, [])),
    "another document of that id": (
        lambda world: world.storage.update_one("country", {"_id": LAND}, {"$unset": {"_gw": ""}}, ()),
        (3, []),
    ),
}


@pytest.mark.mongo
@pytest.mark.parametrize("change", CHANGES)
def test_copies_are_counted_again_only_where_they_may_be_too_many(world, change):
    between, expected = CHANGES[change]
    assert renamed(world, "new") == (3, [])
    between(world)
    assert renamed(world, "newer") == expected


@pytest.mark.mongo
def test_what_another_tool_added_is_found_by_the_change_after(world):
    assert renamed(world, "new") == (3, [])
    world.storage.insert("city", [{"_id": ObjectId(), "name": "x", "country": {"_id": LAND}} for _ in range(5)])
    assert [renamed(world, name) for name in ("newer", "newest")] == [(0, []), (3, ["city.country"])]
    world.storage.delete_many("city", {"name": "x"})  # the country does not list them


@pytest.mark.mongo
def test_a_bound_over_which_a_change_failed_is_forgotten(world, monkeypatch):
    assert renamed(world, "new") == (3, [])
    with monkeypatch.context() as patch:
        patch.setattr(world.storage, "update_many", Mock(side_effect=Unavailable("gone")))
        with pytest.raises(Unavailable):
            renamed(world, "newer")
    assert renamed(world, "newest") == (3, [])


@pytest.mark.mongo
def test_what_a_failed_transaction_met_is_not_remembered(world):
    home = world.add_city("home", LAND)
    people = [world.add_person(name, {"home": {"_ids": home}}) for name in "abcdef"]

    def rename():
        world.city.find_one_and_update(filter={"_id": home}, update={"$set": {"name": "new"}})

    def work():
        for id_ in people:
            world.person.delete_one(filter={"_id": id_})
        rename()
        raise KeyError

    with pytest.raises(KeyError):
        world.odm.transaction(work)
    rename()
    assert [job.relation for job in world.odm.jobs()] == ["person.home"]


@pytest.mark.mongo
def test_another_document_of_the_same_id_is_counted_anew(world):
    def add(names):
        return [world.add_city(name, id_, flags=[]) for name in names]

    id_ = world.add_country("other")
    for city in add("abcdef"):
        world.city.delete_one(filter={"_id": city})
    assert renamed(world, "new", id_) == (3, [])
    locks = world.storage.update_one("country", {"_id": id_}, {"$unset": {"x": ""}}, None)["_gw"]["rev"]
    world.country.delete_one(filter={"_id": id_})
    world.country.insert_one(doc={"_id": id_, "name": "again"})
    add(map(str, range(locks)))
    assert locks > 5
    assert renamed(world, "newer", id_) == (3, ["city.country"])


@pytest.mark.mongo
def test_another_database_is_another_matter(world):
    assert [renamed(world, name) for name in ("new", "newer")] == [(3, []), (0, [])]
    world.odm.set_db(world.storage)
    assert renamed(world, "newest") == (3, [])


@pytest.mark.mongo
def test_documents_of_another_tool_are_counted_once(world):
    other = ObjectId()
    world.storage.insert("country", [{"_id": other, "name": "other"}])
    world.storage.insert("city", [{"_id": ObjectId(), "name": "x", "country": {"_id": other, "name": "other"}}])
    assert [renamed(world, name, other) for name in ("new", "newer")] == [(3, []), (0, [])]
    world.storage.delete_many("city", {"name": "x"})  # the country does not list it


@pytest.mark.mongo
def test_a_storage_that_counts_no_copies_is_asked_each_time(world, monkeypatch):
    monkeypatch.setattr(world.storage, "counts_locks", lambda: False)
    assert [renamed(world, name) for name in ("new", "newer")] == [(3, []), (3, [])]


def test_in_one_process_nothing_is_remembered(storage):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(storage)
    known = odm.database.counts
    world = World(odm, define_world(odm))
    world.country.insert_one(doc={"_id": LAND, "name": "land"})
    world.add_city("a", LAND)
    world.country.find_one_and_update(filter={"_id": LAND}, update={"$set": {"name": "new"}})
    assert len(known._met) == (3 if storage.multi_process else 0)
