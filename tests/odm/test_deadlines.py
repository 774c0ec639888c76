"""Deadlines and failures at every point of every operation: nothing stays locked, and the reply is true."""

from __future__ import annotations

from types import SimpleNamespace

import mongomock
import pytest
from bson import ObjectId
from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import AutoReconnect, ExecutionTimeout

from gatewayfw.errors import OutcomeUnknown, Timeout, Unavailable
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from tests.conftest import DATABASES
from tests.odm.stepping import Point, SteppingMock, SteppingMongo, Stored, expire, outcome
from tests.odm.world import MODELS, World, define_world

LAND, OTHER, FAR, NEAR, ANNA, CHESS, NEW, NEWER = (ObjectId(f"{number:024x}") for number in range(1, 9))
FLAGS = {"cities": True, "biggest": True, "capital": True}


def populate(world):
    """Two countries, two cities of the first with one club in both, and someone who visited it."""
    for id_, name in ((LAND, "land"), (OTHER, "other")):
        world.country.insert_one(doc={"_id": id_, "name": name})
    relations = {"country": {"_ids": LAND, "relatedRelations": FLAGS}}
    for id_, name in ((FAR, "far"), (NEAR, "near")):
        world.city.insert_one(doc={"_id": id_, "name": name, "population": 5}, relations=relations)
    places = {"_ids": [FAR, NEAR], "relatedRelations": {"clubs": True}}
    world.club.insert_one(doc={"_id": CHESS, "name": "chess"}, relations={"places": places})
    visited = {"_ids": [LAND], "relatedRelations": {"visitors": True}}
    relations = {"visited": visited, "clubs": {"_ids": [CHESS], "relatedRelations": {"president": True}}}
    world.person.insert_one(doc={"_id": ANNA, "name": "anna", "age": 30}, relations=relations)


def insert_one(world):
    relations = {"country": {"_ids": LAND, "relatedRelations": FLAGS}}
    return world.city.insert_one(doc={"_id": NEW, "name": "new", "population": 9}, relations=relations)


def insert_many(world):
    docs = [{"_id": NEW, "name": "new"}, {"_id": NEWER, "name": "newer"}]
    relations = {
        "visited": {"_ids": [LAND, OTHER], "relatedRelations": {"visitors": True}},
        "home": {"_ids": NEAR},
    }
    return world.person.insert_many(docs=docs, relations=relations)


def update(world):
    return world.city.find_one_and_update(filter={"_id": NEAR}, update={"$set": {"name": "new", "population": 1}})


def delete_cascade(world):
    return world.country.delete_one(filter={"_id": LAND}, hard_cascade=True)


def replace_relation(world):
    relations = {"visited": {"_ids": [OTHER], "relatedRelations": {"visitors": True}}}
    return world.person.add_relation(filters={"_id": ANNA}, relations=relations, replace=True)


def remove_relation(world):
    return world.person.remove_relation(filters={"_id": ANNA}, relations={"visited": {"_ids": [LAND]}})


def update_many(world):
    return world.city.update_many({"_id": {"$in": [FAR, NEAR]}}, {"$inc": {"population": 1}})


def delete_many(world):
    return world.club.delete_many({"name": "chess"}, hard_cascade=True)


def transaction(world):
    return world.odm.transaction(lambda: [insert_one(world), replace_relation(world)])


#: The commit, where nothing can be undone any more.
COMMITTED = Point("commit", 1, "after")
COMMITTING = (Point("commit", 1, "before"), COMMITTED)
OPERATIONS = [insert_one, insert_many, update, delete_cascade, replace_relation, remove_relation, transaction]
OPERATIONS += [update_many, delete_many]


class Place:
    """A populated world, put back before each try.

    Attributes:
        before, after: what is stored before the operation, and after its success.
        points: those of the operation when nothing disturbs it.
        result: what it then returns.
    """

    def __init__(self, world):
        world.odm.ready()
        populate(world)
        self.world = world
        self._stored = Stored(world.storage._db)
        self.before = world.digest()

    def measure(self, operation):
        """Run the operation undisturbed and keep what it passes, returns and leaves."""
        with self.world.storage.steps.watched() as self.points:
            self.result = operation(self.world)
        self.after = self.world.digest()
        assert self.after != self.before

    def strike(self, operation, point, blow, seconds=20):
        """Run the operation with a blow at a point; return its outcome and what is stored then."""
        self._stored.restore()
        with (
            self.world.storage.deadline(seconds) as scope,
            self.world.storage.steps.watched(point, lambda: blow(scope)),
        ):
            got = outcome(lambda: operation(self.world))
        assert self.world.storage.locked() == [], point
        return got, self.world.digest()


@pytest.fixture
def fixed_time(monkeypatch):
    """One time for all inserts with an `_id`, so that equal operations store equal documents."""
    monkeypatch.setattr("gatewayfw.odm.hidden.time", SimpleNamespace(time=lambda: 1.0))


@pytest.fixture(params=DATABASES)
def world_storage(request, fixed_time):
    """An empty storage with points."""
    if request.param == "mongo":
        return request.getfixturevalue("stepping_mongo")
    return SteppingMock(mongomock.MongoClient().test)


@pytest.fixture
def stepping_mongo(world_database, mongod_uri):
    """A storage with points on MongoDB, and what tells which collections another client cannot write.

    With a client of its own: the driver reuses sessions, which would hide a transaction left open.
    """
    for name in world_database.list_collection_names():
        world_database[name].delete_many({})
    storage = SteppingMongo(world_database)
    with MongoClient(mongod_uri) as client:
        storage.locked = lambda: [name for name in MODELS if not writable(client[world_database.name], name)]
        yield storage


def writable(database, name):
    """Whether all documents of a collection can be written before a transaction that was left open ends, in 5 s."""
    update = {"q": {}, "u": {"$inc": {"_gw.rev": 1}}, "multi": True}
    try:
        return database.command("update", name, updates=[update], maxTimeMS=3_000)["ok"] == 1
    except ExecutionTimeout:
        return False


@pytest.fixture
def place(world):
    """A `Place` of its own for each test."""
    return Place(world)


@pytest.fixture
def mongo_place(stepping_mongo, fixed_time):
    """A `Place` on MongoDB."""
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(stepping_mongo)
    world = World(odm, define_world(odm))
    yield Place(world)
    assert world.problems() == []


def interrupt(scope):
    raise KeyboardInterrupt


def lose(scope):
    raise AutoReconnect("lost")


def conflict(scope):
    raise AutoReconnect("lost", errors={"errorLabels": ["TransientTransactionError"]})


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_deadline_that_expires_anywhere_locks_nothing_and_the_reply_is_true(place, operation):
    place.measure(operation)
    for point in place.points:
        allowed = [(place.result, place.after)] if point in COMMITTING else [(Timeout, place.before)]
        assert place.strike(operation, point, expire) in allowed, point


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_interruption_anywhere_locks_nothing_and_writes_nothing(place, operation):
    place.measure(operation)
    for point in place.points:
        allowed = (KeyboardInterrupt, place.after if point == COMMITTED else place.before)
        assert place.strike(operation, point, interrupt) == allowed, point


@pytest.mark.mongo
@pytest.mark.parametrize("operation", [insert_many, delete_cascade, replace_relation])
def test_an_answer_lost_anywhere_locks_nothing_and_writes_nothing(mongo_place, operation):
    mongo_place.measure(operation)
    for point in mongo_place.points[1:-2:2]:
        assert mongo_place.strike(operation, point, lose) == (Unavailable, mongo_place.before), point


@pytest.mark.mongo
@pytest.mark.parametrize("operation", [insert_one, update, remove_relation])
def test_what_a_conflict_undoes_anywhere_is_done_again(mongo_place, operation):
    mongo_place.measure(operation)
    for point in mongo_place.points[1:-2:2]:
        assert mongo_place.strike(operation, point, conflict) == (mongo_place.result, mongo_place.after), point


# -- commits whose outcome stays unknown


def silent_commits(monkeypatch, really, times):
    """Let the first ``times`` commits get no answer, whether they ``really`` happen or not."""
    commit, calls = ClientSession.commit_transaction, []

    def lost(session):
        calls.append(1)
        if len(calls) > times:
            return commit(session)
        if really and len(calls) == 1:
            commit(session)
        raise AutoReconnect("lost", errors={"errorLabels": ["UnknownTransactionCommitResult"]})

    monkeypatch.setattr(ClientSession, "commit_transaction", lost)
    monkeypatch.setattr("gatewayfw.storage.mongo.transactions.ENDING", 0.2)


@pytest.mark.slow
@pytest.mark.mongo
@pytest.mark.parametrize(
    ("operation", "really"),
    [*((one, True) for one in OPERATIONS), *((one, False) for one in (insert_one, update, transaction))],
)
def test_an_unknown_commit_is_said_unless_an_insert_finds_its_own_id(mongo_place, monkeypatch, operation, really):
    mongo_place.measure(operation)
    silent_commits(monkeypatch, really, times=10**9)
    recognised = really and operation in (insert_one, insert_many)
    expected = (
        (mongo_place.result if recognised else OutcomeUnknown),
        (mongo_place.after if really else mongo_place.before),
    )
    assert mongo_place.strike(operation, None, None, seconds=1) == expected


@pytest.mark.mongo
@pytest.mark.parametrize("really", [True, False])
@pytest.mark.parametrize("operation", [insert_one, update, transaction])
def test_an_unanswered_commit_is_sent_again_and_happens_once(mongo_place, monkeypatch, operation, really):
    mongo_place.measure(operation)
    silent_commits(monkeypatch, really, times=1)
    assert mongo_place.strike(operation, None, None) == (mongo_place.result, mongo_place.after)
