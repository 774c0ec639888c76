"""Fixtures of the ODM tests: gateways of models in which every kind of relation occurs."""

from __future__ import annotations

import gc
import threading
import uuid
from types import SimpleNamespace

import mongomock
import pytest

from gatewayfw.errors import (
    GatewayError,
)
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, MongoStorage
from tests.conftest import DATABASES
from tests.odm.towns import NEW, Towns, V
from tests.odm.world import World, define_world, populate_once
from tests.waiting import wait_until


@pytest.fixture
def helper_thread():
    """Wait after the test until the helper threads that it has started have ended."""
    others = set(threading.enumerate())  # of gateways of other tests
    yield

    def ended():
        gc.collect()  # Each time: a thread that was just looking kept its Odm until now.
        return not any(thread.name == "gatewayfw-jobs" for thread in set(threading.enumerate()) - others)

    assert wait_until(ended)


@pytest.fixture
def unattended(monkeypatch):
    """Let no operation work on its own jobs: they stay until a test does. Ask for it after `few`."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)


@pytest.fixture
def odm_on():
    """A function that gives an Odm without models on a database."""

    def make(db):
        odm = Odm(Schemas(Settings()), Settings())
        odm.set_db(db)
        return odm

    return make


@pytest.fixture
def odm(odm_on, storage):
    """An Odm without models on an empty storage."""
    return odm_on(storage)


@pytest.fixture
def asked(request, monkeypatch):
    """A function that notes calls of methods: name, what is given by position, by name.

    The methods are those of the storage of `odm`, or of another one, ``of``.
    """

    def watch(*names, of=None):
        noted, storage = [], of or request.getfixturevalue("odm").storage

        def noting(name, call):
            def noted_call(*given, **keys):
                noted.append((name, given, keys))
                return call(*given, **keys)

            return noted_call

        for name in names:
            monkeypatch.setattr(storage, name, noting(name, getattr(storage, name)))
        return noted

    return watch


@pytest.fixture(scope="session")
def world_database(mongo_client):
    """A MongoDB database for `world`; its indexes outlive a test, which saves most of the time."""
    name = f"gatewayfw_world_{uuid.uuid4().hex}"
    yield mongo_client[name]
    mongo_client.drop_database(name)


@pytest.fixture(params=DATABASES)
def world_storage(request):
    """An empty storage for the models of `world`."""
    if request.param != "mongo":
        return MockStorage(mongomock.MongoClient().test)
    database = request.getfixturevalue("world_database")
    for name in database.list_collection_names():
        database[name].delete_many({})
    return MongoStorage(database)


@pytest.fixture
def world(world_storage):
    """The models of `define_world`; after the test every copy and window must be right."""
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(world_storage)
    world = World(odm, define_world(odm))
    yield world
    assert world.problems() == []


@pytest.fixture(scope="session")
def populations():
    """What populations of a world have stored, for `populate_once`."""
    return {}


@pytest.fixture
def land(world):
    return world.add_country("land")


@pytest.fixture
def cities(world, land):
    """Forty cities of one country, which lists some; more than one batch has."""
    docs = [{"name": f"city {number}", "population": number} for number in range(40)]
    links = {"country": {"_ids": land, "relatedRelations": {"cities": True, "biggest": True}}}
    return [one["_id"] for one in world.city.insert_many(docs, relations=links, projection={"_id": 1})]


@pytest.fixture
def refused(world):
    """Run operations that must each fail with exactly this error, and change nothing."""

    def run(expected, message, *operations):
        before = world.digest()
        for operation in operations:
            with pytest.raises(GatewayError) as raised:
                operation()
            assert (type(raised.value), raised.value.message) == (expected, message)
        assert world.digest() == before

    return run


@pytest.fixture
def people(world, populations):
    """Three people, the first born in a country."""
    return populate_once(world, settle, populations)


def settle(world):
    """Add a country and three people; return the ids."""
    land = world.add_country("land", population=1)
    born = {"born": {"_ids": land, "relatedRelations": {"natives": True}}}
    ids = [
        world.add_person("a", born, age=1, born_on="2001-02-03T04:05:06.789+01:00", badge="a" * 24),
        world.add_person("b", {"visited": {"_ids": [land]}}, age=2, address={"street": "s"}),
        world.add_person("c", age=3, password="hash"),
    ]
    return [land, *ids]


@pytest.fixture(scope="session")
def towns_database(mongo_client):
    """A MongoDB database for `towns`; its indexes outlive a test."""
    name = f"gatewayfw_towns_{uuid.uuid4().hex}"
    yield mongo_client[name]
    mongo_client.drop_database(name)


@pytest.fixture
def towns(towns_database, monkeypatch):
    """A function that gives `Towns` on MongoDB: time stands still, and each new document has the id `NEW`."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    monkeypatch.setattr("gatewayfw.odm.hidden.time", SimpleNamespace(time=lambda: V / 1_000_000))
    monkeypatch.setattr("gatewayfw.odm.writing.inputs.new_id", lambda: NEW)
    return lambda limit=3: Towns(MongoStorage(towns_database), limit)
