"""New members are pushed into a window with its target's lock, where that makes what a recompute makes."""

from __future__ import annotations

import random
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from bson import Decimal128, ObjectId
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayfw.errors import DuplicateKey, NotFound
from gatewayfw.odm.copies.rules import LOCK, copy_of, entry, window_query
from gatewayfw.odm.writing.plan.attempt import Attempt, abilities_of
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.locks import lock_sources
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.schemas import RelatedRelation, Sort
from gatewayfw.storage import Index, MongoStorage
from tests.odm.world import World, define_world

TARGET = ObjectId("a" * 24)
FIELDS = ("name", "key")
ABSENT = object()
#: Values of a sort field, of which many are equal; of several kinds, as another tool may have written them.
KEYS = st.sampled_from([ABSENT, None, 0, 1, 1.0, 1.5, -3, 2**40, Decimal128("1"), "", "a", "A", "é"]) | st.sampled_from(
    [True, False, datetime(2024, 2, 29), datetime(1969, 1, 1), ObjectId("b" * 24), float("-inf"), float("nan")]
)


def reverse(limit=3, field="key", order="asc"):
    sort = Sort(field, order)
    return RelatedRelation(
        type="multiple", limit=limit, sort=sort, name="users", relation="orgs", member="user", target="org"
    )


def member(number, key):
    document = {"_id": ObjectId(f"{number:024x}"), "name": f"m{number}", "orgs": [{"_id": TARGET}]}
    return document if key is ABSENT else {**document, "key": key}


@pytest.fixture(scope="module")
def entered(mongo_client):
    """A database for many examples."""
    name = f"gatewayfw_entries_{uuid.uuid4().hex}"
    yield MongoStorage(mongo_client[name])
    mongo_client.drop_database(name)


def window(storage, one):
    query = window_query(one, FIELDS, TARGET)
    found = storage.find(query.collection, query.filter, query.fields, sort=query.sort, limit=query.limit)
    return [copy_of(document, FIELDS) for document in found]


@pytest.mark.slow
@pytest.mark.mongo
@settings(max_examples=150)
@given(
    keys=st.lists(KEYS, min_size=2, max_size=9),
    fresh=st.integers(1, 4),
    limit=st.integers(1, 6),
    field=st.sampled_from(["key", "key", "_id"]),
    order=st.sampled_from(["asc", "desc"]),
    shuffled=st.randoms(use_true_random=False),
)
def test_a_push_makes_the_window_that_a_recompute_makes(entered, keys, fresh, limit, field, order, shuffled):
    one = reverse(limit, field, order)
    members = [member(number, key) for number, key in enumerate(keys, 1)]
    shuffled.shuffle(members)
    new = members[: min(fresh, limit, len(members) - 1)]
    for name in ("user", "org"):
        entered.delete_many(name, {})
    entered.insert("user", members[len(new) :])
    entered.insert("org", [{"_id": TARGET, "users": window(entered, one)}])
    filter, push = entry(one, one.window, [copy_of(document, FIELDS) for document in new])
    entered.insert("user", new)
    touched = entered.touch("org", {"_id": TARGET, **filter}, ["users"], {"$push": {"users": push}}, lock=LOCK)
    assert repr(touched["users"]) == repr(window(entered, one))  # not a number equals nothing


#: Windows of `define_world`, by the members' model, the field that sorts them and their limit.
WINDOWS = {("city", "_id", 3): "cities", ("city", "population", 2): "biggest", ("person", "age", 2): "visitors"}


class NotingMongo(MongoStorage):
    """A storage that notes which windows are read from their members, in order."""

    def __init__(self, database):
        super().__init__(database)
        self.recomputed = []

    def find(self, collection, *given, sort=(), limit=0, **keys):
        if sort and (collection, sort[0][0], limit) in WINDOWS:
            self.recomputed.append(WINDOWS[collection, sort[0][0], limit])
        return super().find(collection, *given, sort=sort, limit=limit, **keys)


@pytest.fixture
def mongo_world(world_database, odm_on):
    """The models of `define_world` on an empty MongoDB database."""
    for name in world_database.list_collection_names():
        world_database[name].delete_many({})
    odm = odm_on(NotingMongo(world_database))
    return World(odm, define_world(odm))


@pytest.fixture
def recomputed(mongo_world):
    """The names of the windows that were recomputed, in order."""
    return mongo_world.storage.recomputed


@pytest.fixture
def land(mongo_world):
    """A country with one city in both of its windows."""
    land = mongo_world.add_country("land")
    mongo_world.add_city("old", land, population=5)
    return land


def insert_one(world, land):
    world.add_city("new", land, population=7)


def insert_two(world, land):
    relations = {"country": {"_ids": land, "relatedRelations": {"cities": True, "biggest": True}}}
    world.city.insert_many(docs=[{"name": "a", "population": 7}, {"name": "b"}], relations=relations)


def insert_own_id(world, land):
    world.add_city("new", land, _id=ObjectId())


def insert_too_many(world, land):
    relations = {"country": {"_ids": land, "relatedRelations": {"biggest": True}}}
    world.city.insert_many(docs=[{"name": name} for name in "abc"], relations=relations)


@pytest.mark.mongo
@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (insert_one, []),
        (insert_two, []),
        (insert_own_id, ["cities", "biggest"]),
        (insert_too_many, ["biggest"]),
    ],
    ids=["one", "two", "an id of its own", "more than the window holds"],
)
def test_windows_are_recomputed_only_where_a_push_would_not_do(mongo_world, land, recomputed, write, expected):
    recomputed.clear()
    write(mongo_world, land)
    assert (recomputed, mongo_world.problems()) == (expected, [])


@pytest.mark.mongo
@pytest.mark.parametrize("stored", [None, "x", {"_id": TARGET}, [], 5], ids=repr)
def test_a_window_that_another_tool_broke_is_recomputed(mongo_world, land, stored):
    mongo_world.storage.update_many("country", {}, {"$set": {"cities": stored}})
    mongo_world.add_city("new", land)
    assert mongo_world.problems() == []


@pytest.mark.mongo
def test_a_window_that_was_never_made_is_recomputed(mongo_world, land):
    mongo_world.storage.update_many("country", {}, {"$unset": {"cities": ""}})
    mongo_world.add_city("new", land)
    assert mongo_world.problems() == []


@pytest.mark.mongo
def test_a_member_that_a_window_lists_already_is_not_pushed(mongo_world, land):
    """As after another tool took its relation away."""
    world, other = mongo_world, mongo_world.add_country("other")
    city = next(world.storage.find("city", {}))
    world.storage.update_many("city", {}, {"$set": {"country": {"_id": other, "name": "other"}}})
    flags = {"cities": True, "biggest": True}
    links = {"country": {"_ids": land, "relatedRelations": flags}}
    world.city.add_relation(filters={"_id": city["_id"]}, relations=links, replace=True)
    assert world.problems() == []


@pytest.mark.mongo
def test_adding_a_relation_pushes_only_where_there_was_none(mongo_world, land, recomputed):
    world = mongo_world
    links = {"visited": {"_ids": [land], "relatedRelations": {"visitors": True}}}
    first, second = world.add_person("first", links, age=2), world.add_person("second", age=1)
    recomputed.clear()
    world.person.add_relation(filters={"_id": second}, relations=links)
    assert (recomputed, world.problems()) == ([], [])
    world.person.add_relation(filters={"_id": first}, relations=links)
    assert (recomputed, world.problems()) == (["visitors"], [])


@pytest.mark.mongo
def test_a_friend_of_oneself_enters_the_own_window(mongo_world):
    world = mongo_world
    id_ = world.add_person("x")
    links = {"friends": {"_ids": [id_], "relatedRelations": {"friendOf": True}}}
    world.person.add_relation(filters={"_id": id_}, relations=links)
    assert (len(world.raw(world.person, id_)["friendOf"]), world.problems()) == (1, [])


@pytest.mark.mongo
def test_a_document_that_is_related_to_itself_is_locked_once(mongo_world):
    id_ = mongo_world.add_person("x")
    mongo_world.person.add_relation(filters={"_id": id_}, relations={"friends": {"_ids": [id_]}})
    [stored] = mongo_world.storage.find("person", {"_id": id_}, ["_gw.rev"])
    assert stored == {"_id": id_, "_gw": {"rev": 1}}


@pytest.mark.mongo
@pytest.mark.parametrize("is_empty", [False, True], ids=["listed", "empty"])
def test_a_lock_notes_what_it_has_written(mongo_world, land, is_empty):
    world = mongo_world
    if is_empty:
        world.storage.update_many("country", {}, {"$unset": {"cities": ""}})
    relation = world.city.schema.relations["country"]
    key, copy = (relation.related_relations["cities"], land), {"_id": ObjectId(), "name": "new"}
    effects, attempt = Effects(entries={key: [copy]}), Attempt(world.odm.schemas, abilities_of(world.storage))
    plan = lock_sources(attempt, [(relation, land)], entering=effects)
    assert list(world.storage.transaction(lambda: apply(world.storage, plan))) == [("country", land)]
    noted = {"presumed": {key: [copy]}} if is_empty else {"written": {key}}
    assert effects == Effects(entries={key: [copy]}, **noted)
    assert copy in world.raw(world.country, land)["cities"]


@pytest.mark.mongo
def test_a_push_is_undone_with_an_insert_that_is_refused(mongo_database, odm_on):
    odm = odm_on(mongo_database)  # with an index that other tests must not meet
    world = World(odm, define_world(odm))
    links = {"born": {"_ids": world.add_country("land"), "relatedRelations": {"natives": True}}}
    world.add_person("x", links)
    world.storage.ensure("person", [Index((("name", 1),), {"unique": True})], 10)
    before = world.digest()
    with pytest.raises(DuplicateKey):
        world.add_person("x", links)
    assert (world.digest(), world.problems()) == (before, [])


@pytest.mark.mongo
def test_a_target_that_does_not_exist_is_named(mongo_world):
    gone = ObjectId()
    with pytest.raises(NotFound, match=str(gone)):
        mongo_world.add_city("x", gone)
    assert mongo_world.digest()["city"] == []


def hammer(world, land, seed, steps=20):
    """Add, change and remove cities of one country, and rename it, on a storage of its own, so that no queue helps."""
    chosen, mine = random.Random(seed), []
    for step in range(steps):
        kind = chosen.choice(["add", "add", "rename", "rename", "target", "target", "remove", "sort"])
        one, name = chosen.choice(mine) if mine else None, f"{kind}{seed}-{step}"
        if kind == "target":
            world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": name}})
        elif kind == "add" or one is None:
            flags = chosen.choice([(), ("cities",), ("cities", "biggest")])
            mine.append(world.add_city(name, land, flags, population=chosen.randrange(5)))
        elif kind == "rename":
            world.city.find_one_and_update(filter={"_id": one}, update={"$set": {"name": name}})
        elif kind == "sort":
            world.city.find_one_and_update(filter={"_id": one}, update={"$set": {"population": chosen.randrange(5)}})
        else:
            mine.remove(one)
            world.city.delete_one(filter={"_id": one})


@pytest.mark.mongo
def test_writers_of_one_hot_target_leave_no_stale_copy(mongo_world, land, world_database, odm_on):
    worlds = []
    for _ in range(4):
        odm = odm_on(MongoStorage(world_database))
        worlds.append(World(odm, define_world(odm)))
    with ThreadPoolExecutor(len(worlds)) as pool:
        for done in [pool.submit(hammer, one, land, seed) for seed, one in enumerate(worlds)]:
            done.result()
    assert (mongo_world.odm.work(), mongo_world.problems()) == (0, [])  # a change that lost thrice leaves a job
