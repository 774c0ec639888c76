"""The sample service on each database, some people in it, and requests as a client makes them."""

from __future__ import annotations

import functools
import hashlib
import json
import uuid
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mongomock
import pytest
from bson import ObjectId

from gatewayfw.odm.upkeep.integrity import Integrity
from sample_service.app import create_service
from tests.conftest import DATABASES
from tests.odm.oracle import check, copy_to_memory
from tests.sample_service.serving import Gunicorn

KEY = "k" * 32
PASSWORD = "correct horse battery staple"
HASH = hashlib.sha256(PASSWORD.encode()).hexdigest()
NEW_PASSWORD = "another horse"
NEW_HASH = hashlib.sha256(NEW_PASSWORD.encode()).hexdigest()
ROLES = ("Manager", "Admin", "OrgHead", "UnitHead", "Employee", "Ordinary")
NOBODY = "f" * 24


@dataclass
class Person:
    """A user in the database; ``role`` is the role's id as a client sends it."""

    id: str
    role: str
    token: str


#: The files whose requests meet gunicorn with ``--preload``, the others' without: each half has reads and writes.
PRELOADED = {"test_listings", "test_login", "test_update_user"}


def pytest_generate_tests(metafunc):
    """Run what sends requests (``call``) in this process on each database, and behind gunicorn; the rest here only."""
    if "place" in metafunc.fixturenames:
        server = "gunicorn --preload" if metafunc.module.__name__.split(".")[-1] in PRELOADED else "gunicorn"
        served = [pytest.param(server, marks=[pytest.mark.mongo, pytest.mark.slow])]
        places = [*DATABASES, *served] if "call" in metafunc.fixturenames else DATABASES
        metafunc.parametrize("place", places, indirect=True)


@pytest.fixture
def place(request):
    """Where the service runs."""
    return request.param


@pytest.fixture(scope="session")
def memory_database():
    """The database of all tests on mongomock."""
    return mongomock.MongoClient().test


@pytest.fixture
def database(place, request):
    """An empty database, kept for all tests of its place: only its documents are deleted."""
    kept = request.getfixturevalue("memory_database" if place == "mongomock" else "served_database")
    for name in kept.list_collection_names():
        kept[name].delete_many({})
    return kept


@pytest.fixture(scope="session")
def served_database(mongo_client):
    """The database of all tests on MongoDB, and of the gunicorn servers."""
    name = f"gatewayfw_served_{uuid.uuid4().hex}"
    yield mongo_client[name]
    mongo_client.drop_database(name)


@pytest.fixture(scope="session")
def gunicorns(mongod_uri, served_database, tmp_path_factory):
    """Give the server of a place, started when first asked for: ``gunicorns(place)``."""
    running = {}
    uri = mongod_uri.replace("/?", f"/{served_database.name}?")

    def gunicorn(place):
        if place not in running:
            log = tmp_path_factory.mktemp("gunicorn") / "log"
            running[place] = Gunicorn(place.split()[1:], uri, KEY, log)
        return running[place]

    yield gunicorn
    for server in running.values():
        server.stop()


@pytest.fixture
def post(service, place, request, caplog):
    """Send one body with headers; gives status and body.

    After the test no reply and no line of a log may have held a password or its hash.
    """
    if place.startswith("gunicorn"):
        server = request.getfixturevalue("gunicorns")(place)
        send, log, start = server.post, server.log.read_text, len(server.log.read_text())
    else:
        client = service.gw.create_app().test_client()
        send, log, start = client_post(client), lambda: caplog.text, 0
    seen = []

    def post(data, headers):
        status, body = send(data, headers)
        seen.append(body.decode())
        return status, body

    yield post
    shown = "\n".join([*seen, log()[start:]])
    assert [secret for secret in (PASSWORD, HASH, NEW_PASSWORD, NEW_HASH) if secret in shown] == []


def client_post(client):
    """Send requests through a test client."""

    def post(data, headers):
        reply = client.post("/gateway", data=data, headers=headers)
        return reply.status_code, reply.get_data()

    return post


@pytest.fixture(scope="session")
def services():
    """Give the service on a database, made when first asked for: that takes longer than most tests.

    Like the gunicorn servers it has no limit of logins, whose count would outlive a test.
    """

    @functools.cache
    def service_on(database):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GATEWAYFW_LOGIN_LIMIT", "")
            return create_service(database, KEY)

    return service_on


@pytest.fixture
def service(services, database):
    """The service on an empty database; after the test every document must fit and every copy and window be right."""
    service = services(database)
    yield service
    schemas = service.gw.schemas
    stored = copy_to_memory(schemas, service.gw.odm.storage)
    integrity = Integrity(schemas, stored)
    assert [*integrity.misfits(), *integrity.check(), *check(schemas, stored)] == []


@pytest.fixture
def places(service):
    """Two organizations, and a unit of the first; their ids as a client sends them."""
    home, away = (one["_id"] for one in service.organizations.insert_many(docs=[{"name": "Home"}, {"name": "Away"}]))
    relation = {"_ids": home, "relatedRelations": {"units": True}}
    unit = service.units.insert_one(doc={"name": "Unit"}, relations={"organization": relation})["_id"]
    return SimpleNamespace(home=str(home), away=str(away), unit=str(unit))


@pytest.fixture
def people(service, places):
    """A user in each role by the role's name, and a ``ghost``; the OrgHead heads the organization home."""
    docs = [user_doc(name, roles=[role_of(name, places)]) for name in ROLES]
    docs.append(user_doc("ghost", isGhost=True))
    added = service.users.insert_many(docs=docs)
    return {
        name: Person(
            str(user["_id"]),
            str(doc.get("roles", [{"roleId": ""}])[0]["roleId"]),
            service.auth.tokens.issue({"_id": str(user["_id"])}),
        )
        for name, doc, user in zip([*ROLES, "ghost"], docs, added, strict=True)
    }


def user_doc(name, **more):
    return {
        "first_name": name,
        "last_name": "Example",
        "email": f"{name.lower()}@example.com",
        "password": HASH,
        **more,
    }


def role_of(name, places):
    scopes = {"OrgHead": ("organization", places.home), "UnitHead": ("unit", places.unit)}
    role = {"roleId": ObjectId(), "name": name}
    if name in scopes:
        role |= {"scopeType": scopes[name][0], "scopeId": ObjectId(scopes[name][1])}
    return role


@pytest.fixture
def call(post):
    """Send one request: ``call(model, act, set, get, token)`` gives status and envelope."""

    def call(model: str, act: str, set_: Any, get: Any, token: Any = None) -> tuple[int, Any]:
        body = {"model": model, "act": act, "details": {"set": set_, "get": get}}
        headers = {"Content-Type": "application/json", **({} if token is None else {"token": token})}
        status, reply = post(json.dumps(body).encode(), headers)
        return status, json.loads(reply)

    return call


@pytest.fixture
def act_as(call, people):
    """Send a request of someone: ``act_as(name, act, set, get)``, with token and active role, on user."""

    def act_as(name: str, act: str, set_: Any, get: Any, model: str = "user") -> tuple[int, Any]:
        role = {"activeRoleId": people[name].role} if people[name].role else {}
        return call(model, act, {**role, **set_}, get, people[name].token)

    return act_as


@pytest.fixture
def stored(service):
    """Return a function that gives a whole stored document, without what only MongoDB counts."""
    return lambda model, id_: next(map(calm, service.gw.odm.storage.find(model, {"_id": ObjectId(id_)})), None)


@pytest.fixture
def digest(service):
    """Return a function that gives everything stored, in the order of `_id`."""

    def digest():
        storage = service.gw.odm.storage
        models = service.gw.schemas.get_schemas()
        return {name: [calm(one) for one in storage.find(name, {}, sort=[("_id", 1)])] for name in models}

    return digest


def calm(document):
    hidden = {key: value for key, value in document.get("_gw", {}).items() if key != "rev"}
    rest = {key: value for key, value in document.items() if key != "_gw"}
    return {**rest, "_gw": hidden} if hidden else rest


def ok(body):
    return 200, {"body": body, "success": True}


def refused(status, message):
    return status, {"body": {"message": message}, "success": False}
