"""A second transaction at every point of a first one: the outcome is that of one after the other."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from bson import ObjectId

from gatewayfw.errors import Conflict, NotFound
from gatewayfw.odm import Odm
from gatewayfw.odm.notes import STATE
from gatewayfw.odm.writing.inputs import NewDocument, parse_inputs
from gatewayfw.odm.writing.plan.insert import insert
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from tests.odm.stepping import Elsewhere, Point, SteppingMongo, Stored, UntouchingMongo, outcome
from tests.odm.world import World, define_world

pytestmark = pytest.mark.mongo

LAND, OTHER, EMPTY = (ObjectId(f"{number:024x}") for number in (1, 2, 3))
FAR, SOUTH, NORTH, TOP, NEW, NEWER = (ObjectId(f"{number:024x}") for number in range(11, 17))
ANNA, BERT, CARL, DORA, ERIC = (ObjectId(f"{number:024x}") for number in range(21, 26))
CHESS, GOLF = (ObjectId(f"{number:024x}") for number in (31, 32))
LOST, EARLY, LATE = (ObjectId(f"{number:024x}") for number in (17, 51, 52))
CROWD = [ObjectId(f"{number:024x}") for number in range(41, 46)]

#: The version of documents that were inserted with an `_id`, by the clock that `world_storage` sets.
V = 1_000_000


@pytest.fixture(params=[SteppingMongo])
def world_storage(request, world_database, monkeypatch):
    """An empty storage with points, at a fixed time, so that equal operations store equal documents."""
    monkeypatch.setattr("gatewayfw.odm.hidden.time", SimpleNamespace(time=lambda: 1.0))
    monkeypatch.setattr("gatewayfw.odm.jobs.background.random", SimpleNamespace(shuffle=lambda keys: None))
    monkeypatch.setattr("gatewayfw.odm.database.CONFLICTS", math.inf)  # on a slow machine one waits for another
    for name in world_database.list_collection_names():
        world_database[name].delete_many({})
    return request.param(world_database)


def populate(world):
    """Three countries, four cities of the first, four people, three of whom visited it, two clubs, and a trip.

    The trip keeps a frozen copy of a city that was deleted.
    """
    for id_, name in ((LAND, "land"), (OTHER, "other"), (EMPTY, "empty")):
        world.country.insert_one(doc={"_id": id_, "name": name})
    for id_, name, population in ((FAR, "far", 10), (SOUTH, "south", 20), (NORTH, "north", 30), (TOP, "top", 40)):
        insert_city(id_, name=name, population=population)(world)
    for id_, name, age, visited in ((ANNA, "anna", 30, [LAND, OTHER]), (BERT, "bert", 20, [LAND])):
        insert_person(id_, name=name, age=age, visited=visited)(world)
    insert_person(CARL, name="carl", age=40, visited=[LAND])(world)
    insert_person(ERIC, name="eric", age=50)(world)
    for id_, name, places in ((CHESS, "chess", [FAR]), (GOLF, "golf", [FAR, SOUTH])):
        relations = {"places": {"_ids": places, "relatedRelations": {"clubs": True}}}
        world.club.insert_one(doc={"_id": id_, "name": name}, relations=relations)
    relations = {"clubs": {"_ids": [GOLF], "relatedRelations": {"members": True, "president": True}}}
    world.person.add_relation(filters={"_id": CARL}, relations=relations)
    insert_city(LOST, country=OTHER, name="lost", flags=[])(world)
    insert_trip(EARLY, to=LOST, guests=[ERIC])(world)
    delete("city", LOST)(world)


@pytest.fixture(scope="module")
def population():
    """What `populate` stores, by collection, once a test has called it: the same each time, at a fixed time."""
    return {}


@pytest.fixture
def other(world, world_storage, world_database, population):
    """The same populated world as another process would see it."""
    world.odm.ready()
    if not population:
        populate(world)
        names = set(world_database.list_collection_names()) - {STATE}
        population.update({name: list(world_database[name].find()) for name in names})
    else:
        for name, documents in population.items():
            if documents:
                world_database[name].insert_many(documents)
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(type(world_storage)(world_database))
    other = World(odm, define_world(odm))
    odm.ready()
    return other


# -- operations


def insert_city(id_=NEW, country=LAND, flags=("cities", "biggest"), **fields):
    relations = {"country": {"_ids": country, "relatedRelations": dict.fromkeys(flags, True)}}
    return lambda world: world.city.insert_one(doc={"_id": id_, "name": "new", **fields}, relations=relations)


def push_city(id_=NEW, country=LAND, flags=("cities", "biggest"), **fields):
    """Insert a city as one whose `_id` was generated: it is pushed into windows."""

    def write(world):
        schema = world.city.schema
        given = {"country": {"_ids": country, "relatedRelations": dict.fromkeys(flags, True)}}
        new = NewDocument({"_id": id_, "name": "new", **fields}, 0, parse_inputs(schema, given))
        run = world.city._handle.database.run
        return run(lambda attempt: apply(world.storage, insert(attempt, schema, [new]))).result

    return write


def insert_cities(flags):
    relations = {"country": {"_ids": LAND, "relatedRelations": dict.fromkeys(flags, True)}}
    docs = [{"_id": NEW, "name": "new", "population": 35}, {"_id": NEWER, "name": "newer", "population": 36}]
    return lambda world: world.city.insert_many(docs=docs, relations=relations)


def insert_person(id_=DORA, visited=(), name="dora", age=25, **single):
    relations = {relation: {"_ids": target} for relation, target in single.items()}
    if visited:
        relations["visited"] = {"_ids": list(visited), "relatedRelations": {"visitors": True}}
    return lambda world: world.person.insert_one(doc={"_id": id_, "name": name, "age": age}, relations=relations)


def insert_trip(id_=LATE, to=SOUTH, guests=()):
    relations = {"to": {"_ids": to, "relatedRelations": {"latest": True}}}
    if guests:
        relations["guests"] = {"_ids": list(guests), "relatedRelations": {"invited": True}}
    return lambda world: world.trip.insert_one(doc={"_id": id_, "name": "trip", "age": 1}, relations=relations)


def invite(*ids, replace=False):
    relations = {"guests": {"_ids": list(ids), "relatedRelations": {"invited": True}}}
    return lambda world: world.trip.add_relation(filters={"_id": EARLY}, relations=relations, replace=replace)


def keep(to):
    relations = {"to": {"_ids": to, "relatedRelations": {"latest": True}}}
    return lambda world: world.trip.add_relation(filters={"_id": EARLY}, relations=relations, replace=True)


def insert_country(id_):
    return lambda world: world.country.insert_one(doc={"_id": id_, "name": "same"})


def change(model, id_, **fields):
    return lambda world: getattr(world, model).find_one_and_update(filter={"_id": id_}, update={"$set": fields})


def change_many(model, wanted, update):
    return lambda world: getattr(world, model).update_many(wanted, update)


def delete_many(model, *ids):
    return lambda world: getattr(world, model).delete_many({"_id": {"$in": ids}})


def delete(model, id_):
    return lambda world: getattr(world, model).delete_one(filter={"_id": id_})


def cascade(model, id_):
    return lambda world: getattr(world, model).delete_one(filter={"_id": id_}, hard_cascade=True)


def add(relation, ids, id_=BERT, flags=(), replace=False):
    relations = {relation: {"_ids": ids, "relatedRelations": dict.fromkeys(flags, True)}}
    return lambda world: world.person.add_relation(filters={"_id": id_}, relations=relations, replace=replace)


def remove(relation, ids, id_):
    return lambda world: world.person.remove_relation(filters={"_id": id_}, relations={relation: {"_ids": ids}})


def several(*operations):
    return lambda world: world.odm.transaction(lambda: [operation(world) for operation in operations])


LARGE, OLD = {"population": {"$gte": 30}}, {"age": {"$gte": 40}}
LARGER = {"$inc": {"population": 100}}
#: Pairs of operations that meet on some document.
PAIRS = {
    "insert-rename": (insert_city(flags=[]), change("country", LAND, name="new land")),
    "insert-delete": (insert_city(flags=[], country=EMPTY), delete("country", EMPTY)),
    "insert-outside": (insert_city(flags=["biggest"], population=25), delete("city", TOP)),
    "rename-outside": (change("city", FAR, name="new far"), delete("city", TOP)),
    "two-sources": (insert_person(home=NORTH, born=EMPTY), delete("country", EMPTY)),
    "insert-many": (insert_cities(flags=[]), change("country", LAND, name="new land")),
    "embed-delete": (add("home", NORTH, ERIC), delete("city", NORTH)),
    "embed-cascade": (add("home", NORTH, ERIC), cascade("country", LAND)),
    "insert-cascade": (insert_person(home=TOP), cascade("country", LAND)),
    "remove-change": (remove("visited", [LAND], ANNA), change("person", CARL, age=35)),
    "replace-rename": (add("visited", [EMPTY], ANNA, replace=True), change("country", EMPTY, name="new")),
    "insert-flagged": (insert_city(population=35), change("country", LAND, name="new land")),
    "move-delete": (change("city", SOUTH, population=35), delete("city", TOP)),
    "rename-cascade": (change("person", ANNA, name="new anna"), cascade("country", LAND)),
    "duplicate-id": (insert_city(TOP), change("country", LAND, name="new land")),
    "duplicate-name": (insert_country(NEW), insert_country(NEWER)),
    "two-claims": (insert_city(NEW, flags=["capital"]), insert_city(NEWER, flags=["capital"])),
    "add-change": (add("visited", [OTHER], flags=["visitors"]), change("person", ANNA, age=10)),
    "claim-depart": (add("clubs", [GOLF], flags=["members", "president"]), remove("clubs", [GOLF], CARL)),
    "push-outside": (push_city(flags=["biggest"], population=25), delete("city", TOP)),
    "push-rename": (push_city(population=35), change("country", LAND, name="new land")),
    "push-rename-member": (push_city(population=35), change("city", NORTH, name="new north")),
    "push-move": (push_city(population=35), change("city", SOUTH, population=36)),
    "push-leave": (push_city(population=15), delete("city", TOP)),
    "push-cascade": (push_city(population=35), cascade("country", LAND)),
    "two-pushes": (push_city(population=35), push_city(NEWER, population=36)),
    "two-first-pushes": (push_city(country=EMPTY, population=1), push_city(NEWER, country=EMPTY, population=2)),
    "push-claims": (push_city(flags=["cities", "capital"]), push_city(NEWER, flags=["capital"])),
    "many-rename": (change_many("city", LARGE, LARGER), change("country", LAND, name="new land")),
    "many-insert": (change_many("city", LARGE, LARGER), push_city(population=35)),
    "many-move": (change_many("city", LARGE, LARGER), change("city", NORTH, population=5)),
    "many-cascade": (change_many("person", OLD, {"$inc": {"age": 1}}), cascade("country", LAND)),
    "delete-many-embed": (delete_many("city", NORTH, TOP), add("home", NORTH, ERIC)),
    "delete-many-many": (delete_many("city", NORTH, TOP), change_many("city", LARGE, LARGER)),
    "freeze-rename": (insert_trip(), change("city", SOUTH, name="new south")),
    "freeze-delete": (insert_trip(to=TOP), delete("city", TOP)),
    "refreeze-rename": (invite(ERIC), change("person", ERIC, name="new eric")),
    "keep-delete": (invite(ERIC, ANNA, replace=True), delete("person", ERIC)),
    "keep-recreate": (keep(LOST), insert_city(LOST, country=OTHER)),
    "release-recreate": (delete("trip", EARLY), insert_city(LOST, country=OTHER)),
    "transactions": (
        several(insert_city(population=35), change("club", GOLF, name="new golf")),
        several(change("club", GOLF, name="newer golf"), change("country", LAND, name="new land")),
    ),
}
#: Those that leave something wrong without the touch; the others write what they meet on anyway.
NEED_TOUCH = list(PAIRS)[:11]


def together(world, other, first, second, point):
    """Run the second operation at a point of the first; return both outcomes and what is stored."""
    elsewhere = Elsewhere(other.storage, lambda: second(other))
    with world.storage.steps.watched(point, elsewhere.begin):
        one = outcome(lambda: first(world))
    return one, elsewhere.result(), world.digest()


def in_turn(world, stored, first, second):
    """Return both outcomes and what is stored when the second follows the first, where nothing is wrong."""
    stored.restore()
    outcomes = outcome(lambda: first(world)), outcome(lambda: second(world))
    assert world.problems() == []
    return *outcomes, world.digest()


def points_of(world, stored, operation):
    """Return the points of an operation that nothing disturbs; after a command is before the next one."""
    stored.restore()
    with world.storage.steps.watched() as points:
        outcome(lambda: operation(world))
    return [point for point in points if point.when == "before"]


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_at_every_point_the_outcome_is_that_of_one_after_the_other(world, other, world_database, pair):
    stored = Stored(world_database)
    first, second = PAIRS[pair]
    there = in_turn(world, stored, first, second)
    back = in_turn(world, stored, second, first)
    for one, two in ((first, second), (second, first)):
        allowed = [there, back[1::-1] + back[2:]]
        for point in points_of(world, stored, one):
            stored.restore()
            assert together(world, other, one, two, point) in allowed, point
        there, back = back, there


@pytest.mark.slow
@pytest.mark.parametrize("world_storage", [UntouchingMongo], indirect=True)
@pytest.mark.parametrize("pair", NEED_TOUCH)
def test_without_the_touch_some_point_leaves_a_copy_wrong(world, other, world_database, pair):
    stored = Stored(world_database)
    for first, second in (PAIRS[pair], PAIRS[pair][::-1]):
        for point in points_of(world, stored, first):
            stored.restore()
            together(world, other, first, second, point)
            if world.problems():
                return stored.restore()
    pytest.fail("nothing was wrong")


# -- some of them in full


def copy(id_, name, **fields):
    return {"_id": id_, "name": name, **fields}


def test_a_copy_taken_before_a_rename_is_renamed(world, other):
    first, second = PAIRS["insert-rename"]
    together(world, other, first, second, Point("touch", 1, "after"))
    out = {"country": {"cities": [LAND], "biggest": [LAND]}}
    hidden = {"v": V, "r": V, "out": out, "at": {"country": {str(LAND): V + 1}}}
    expected = {"_id": NEW, "name": "new", "country": copy(LAND, "new land"), "_gw": hidden}
    assert other.storage.again.is_set()
    assert world.raw(world.city, NEW) == expected


def test_a_copy_is_of_the_name_that_another_committed_since_the_snapshot(world, other):
    first, second = PAIRS["insert-rename"]
    together(world, other, first, second, Point("touch", 1, "before"))
    assert world.storage.again.is_set()
    assert world.raw(world.city, NEW)["country"] == copy(LAND, "new land")


def test_a_window_is_filled_with_what_was_outside_until_then(world, other):
    first, second = PAIRS["insert-outside"]
    together(world, other, first, second, Point("insert", 1, "after"))
    cities = [copy(NORTH, "north", population=30), copy(SOUTH, "south", population=20)]
    expected = {
        "cities": [*cities, copy(FAR, "far", population=10)],
        "biggest": [cities[0], copy(NEW, "new", population=25)],
    }
    land = world.raw(world.country, LAND)
    assert {name: land[name] for name in ("cities", "biggest")} == expected


def test_a_member_renamed_outside_a_window_comes_in_with_its_new_name(world, other):
    first, second = PAIRS["rename-outside"]
    together(world, other, first, second, Point("update_one", 1, "after"))
    assert world.raw(world.country, LAND)["cities"][-1] == copy(FAR, "new far", population=10)


def test_an_insert_finds_no_source_that_a_delete_had_counted_and_touched(world, other):
    insert, delete_it = PAIRS["insert-delete"]
    deleted, inserted, _ = together(world, other, delete_it, insert, Point("count", 1, "after"))
    assert (deleted["deletedCount"], inserted) == (1, NotFound)
    assert (world.raw(world.country, EMPTY), world.raw(world.city, NEW)) == (None, None)


def test_a_source_deleted_since_the_snapshot_is_missing(world, other):
    insert, delete_it = PAIRS["two-sources"]
    inserted, deleted, _ = together(world, other, insert, delete_it, Point("touch", 2, "before"))
    assert inserted == NotFound
    assert deleted["deletedCount"] == 1
    assert world.storage.again.is_set()
    assert (world.raw(world.country, EMPTY), world.raw(world.person, DORA)) == (None, None)


def test_a_cascade_reaches_who_embedded_a_doomed_document_since_the_snapshot(world, other):
    embed, cascade_it = PAIRS["embed-cascade"]
    together(world, other, embed, cascade_it, Point("update_one", 1, "after"))
    eric = world.raw(world.person, ERIC)
    assert {name: eric[name] for name in eric.keys() - {"invited"}} == {
        "_id": ERIC,
        "name": "eric",
        "age": 50,
        "active": True,
        "_gw": {"v": V, "r": V + 2},
    }
    assert [world.raw(world.city, id_) for id_ in (FAR, SOUTH, NORTH, TOP)] == [None] * 4


# -- jobs


@pytest.fixture
def crowd(world_database, monkeypatch):
    """Five people who visited one country, where a transaction may write 3 copies and a batch 2.

    No operation works on its own jobs, and every lease is over at once, so workers are always late.
    The search for jobs begins at the same relation each time.
    """
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    monkeypatch.setattr("gatewayfw.odm.jobs.records.LEASE", -1.0)
    monkeypatch.setattr("gatewayfw.odm.jobs.records.random", SimpleNamespace(randrange=lambda count: 0))
    monkeypatch.setattr("gatewayfw.odm.jobs.fan_out.BATCH", 2)
    for name in world_database.list_collection_names():
        world_database[name].delete_many({})
    crowd = few_at_once(SteppingMongo(world_database))
    crowd.country.insert_one(doc={"_id": LAND, "name": "land"})
    for id_ in CROWD:
        insert_person(id_, visited=[LAND])(crowd)
    return crowd


def few_at_once(storage):
    odm = Odm(Schemas(Settings()), Settings(inline_limit=3))
    odm.set_db(storage)
    crowd = World(odm, define_world(odm))
    odm.ready()
    return crowd


def work(world):
    return world.odm.work()


def one_by_one(*operations):
    return lambda world: [operation(world) for operation in operations]


RENAME = change("country", LAND, name="new")
AGAIN = change("country", LAND, name="newer")
NAMESAKE = one_by_one(work, lambda world: world.country.insert_one(doc={"_id": LAND, "name": "namesake"}))
#: What leaves the job, and what happens while a worker is at some point of it.
WHILE_WORKING = {
    "a newer change": (RENAME, AGAIN),
    "a newer change that is worked off": (RENAME, one_by_one(AGAIN, work)),
    "another worker": (RENAME, work),
    "a new holder": (RENAME, insert_person(visited=[LAND])),
    "a holder that leaves": (RENAME, remove("visited", [LAND], CROWD[2])),
    "a holder that leaves and returns": (
        RENAME,
        one_by_one(remove("visited", [LAND], CROWD[2]), AGAIN, add("visited", [LAND], CROWD[2])),
    ),
    "the source is deleted": (RENAME, cascade("country", LAND)),
    "the source is deleted and the rest worked off": (RENAME, one_by_one(cascade("country", LAND), work)),
    "another worker that removes": (cascade("country", LAND), work),
    "a namesake": (
        cascade("country", LAND),
        one_by_one(NAMESAKE, *(add("visited", [LAND], id_, ["visitors"]) for id_ in CROWD)),
    ),
}


def left_wrong(crowd, world_database, case):
    """Let each point of a worker meet what happens meanwhile; return what is wrong after the last job."""
    change, meanwhile = WHILE_WORKING[case]
    change(crowd)
    stored, elsewhere = Stored(world_database), few_at_once(SteppingMongo(world_database))
    for point in points_of(crowd, stored, work):
        stored.restore()
        together(crowd, elsewhere, work, meanwhile, point)
        work(crowd)
        if wrong := [*crowd.odm.jobs(), *crowd.problems()]:
            return [point, *wrong]
    return []


@pytest.mark.slow
@pytest.mark.parametrize("case", WHILE_WORKING)
def test_whatever_happens_while_a_worker_works_all_is_right_in_the_end(crowd, world_database, case):
    assert left_wrong(crowd, world_database, case) == []


GUARDS = {
    "version of the copy": ("gatewayfw.odm.jobs.fan_out.older", lambda *_: {}, "a newer change that is worked off"),
    "version of the removed": ("gatewayfw.odm.jobs.fan_out.older", lambda *_: {}, "a namesake"),
    "token of the job": ("gatewayfw.odm.jobs.records._unchanged", lambda job: {"_id": job.key}, "a newer change"),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_without_its_guard_a_late_worker_leaves_copies_wrong(crowd, world_database, monkeypatch, guard):
    where, nothing, case = GUARDS[guard]
    monkeypatch.setattr(where, nothing)
    assert left_wrong(crowd, world_database, case)


def test_no_document_takes_the_id_of_one_with_a_pending_job(crowd):
    cascade("country", LAND)(crowd)
    with pytest.raises(Conflict):
        crowd.country.insert_one(doc={"_id": LAND, "name": "namesake"})
    assert work(crowd) == 0
    assert crowd.problems() == []
    assert crowd.raw(crowd.country, LAND) is None
