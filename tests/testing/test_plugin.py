"""The pytest plugin, seen from a session that uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import mongomock
import pytest
from flask import Flask

from gatewayfw.testing import plugin
from gatewayfw.testing.mongod import memory_folder

USER = """
def test_user(mongo_database):
    assert mongo_database.list_collection_names() == []
    mongo_database.things.insert_one({})
    print("used", mongo_database.name)
"""


@pytest.fixture
def session(tmp_path, monkeypatch):
    """Run the tests of a user, with these options and environment variables; return status and output."""
    (tmp_path / "test_user.py").write_text(USER + USER.replace("test_user", "test_other"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    for name in ("GATEWAYFW_TEST_MONGO_URI", "GATEWAYFW_REQUIRE_MONGO", "GATEWAYFW_MONGOD"):
        monkeypatch.delenv(name, raising=False)

    def run(*options, **environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        command = [sys.executable, "-m", "pytest", "-q", "-rsP", "-p", "no:cacheprovider", *options, str(tmp_path)]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout

    return run


def test_a_session_has_an_option_and_a_marker():
    told = []

    class Session:
        def getgroup(self, name):
            told.append(name)
            return self

        def addoption(self, name, **options):
            told.append((name, options))

        def addinivalue_line(self, *line):
            told.append(line)

    plugin.pytest_addoption(Session())
    plugin.pytest_configure(Session())
    text = "Where the fixture gateway_database keeps data: in memory, or in a MongoDB that is started; without a "
    text += "mongod such tests fail, unless GATEWAYFW_REQUIRE_MONGO=0."
    assert told == [
        "gatewayfw",
        ("--gateway-storage", {"choices": ("mongomock", "mongo"), "default": "mongomock", "help": text}),
        ("markers", "mongo: needs a MongoDB server"),
    ]


@pytest.fixture
def uri(monkeypatch):
    """A function that begins the fixture ``mongod_uri`` of a session, as if no server were there yet."""
    for name in ("GATEWAYFW_TEST_MONGO_URI", "GATEWAYFW_REQUIRE_MONGO"):
        monkeypatch.delenv(name, raising=False)

    def uri(storage="mongomock", **environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        return plugin.mongod_uri.__wrapped__(SimpleNamespace(getoption={"--gateway-storage": storage}.__getitem__))

    return uri


NOWHERE = "GATEWAYFW_MONGOD=/nowhere is not a program"


@pytest.mark.parametrize(
    ("storage", "required", "ends", "start", "end"),
    [
        ("mongomock", {}, pytest.skip, NOWHERE, "gatewayfw[mongod]"),
        ("mongomock", {"GATEWAYFW_REQUIRE_MONGO": "0"}, pytest.skip, NOWHERE, "gatewayfw[mongod]"),
        ("mongo", {"GATEWAYFW_REQUIRE_MONGO": "0"}, pytest.skip, NOWHERE, "gatewayfw[mongod]"),
        (
            *("mongomock", {"GATEWAYFW_REQUIRE_MONGO": "1"}, pytest.fail),
            *(f"GATEWAYFW_REQUIRE_MONGO=1, but {NOWHERE}", "gatewayfw[mongod]"),
        ),
        (
            *("mongo", {}, pytest.fail, f"--gateway-storage=mongo, but {NOWHERE}"),
            "gatewayfw[mongod]; GATEWAYFW_REQUIRE_MONGO=0 skips these tests",
        ),
    ],
)
def test_without_a_mongod_tests_are_skipped_or_fail(uri, storage, required, ends, start, end):
    with pytest.raises(ends.Exception) as ended:
        next(uri(storage, GATEWAYFW_MONGOD="/nowhere", **required))
    told = ended.value.msg
    assert told.startswith(f"{start}; name one with ")
    assert told.endswith(end)
    assert ended.value.pytrace is (ends is pytest.skip)


def test_a_server_that_is_given_is_not_started(uri):
    assert list(uri(GATEWAYFW_TEST_MONGO_URI="mongodb://h/", GATEWAYFW_MONGOD="/nowhere")) == ["mongodb://h/"]


def test_a_server_runs_until_the_session_ends_with_its_data_in_memory(uri, monkeypatch):
    told = []

    class Mongod:
        uri = "mongodb://started/"

        def __init__(self, **given):
            told.append(given)

        def start(self):
            told.append("start")

        def stop(self):
            told.append("stop")

    monkeypatch.setattr("gatewayfw.testing.mongod.LocalMongod", Mongod)
    session = uri()
    assert (next(session), told) == ("mongodb://started/", [{"within": memory_folder()}, "start"])
    assert (list(session), told[2:]) == ([], ["stop"])


def test_tests_share_a_client_and_have_databases_of_their_own(monkeypatch):
    told, dropped = [], []

    class Client:
        def __class_getitem__(cls, documents):
            return lambda *given, **named: told.append((given, named)) or nullcontext(cls())

        def __getitem__(self, name):
            return name

        def drop_database(self, name):
            dropped.append(name)

    monkeypatch.setattr("pymongo.MongoClient", Client)
    (client,) = plugin.mongo_client.__wrapped__("mongodb://h/")
    names = [name for _ in range(2) for name in plugin.mongo_database.__wrapped__(client)]
    assert told == [(("mongodb://h/",), {"serverSelectionTimeoutMS": 5000})]
    assert ([bool(re.fullmatch("gatewayfw_[0-9a-f]{32}", name)) for name in names], len({*names})) == ([True] * 2, 2)
    assert dropped == names


class Request:
    """A test that asks for fixtures."""

    def __init__(self, storage="mongomock", **fixtures):
        self.config = SimpleNamespace(getoption={"--gateway-storage": storage}.__getitem__)
        self._fixtures = fixtures

    def getfixturevalue(self, name):
        return self._fixtures[name]


def test_the_database_is_that_of_the_option():
    database = plugin.gateway_database.__wrapped__
    mocks = [database(Request(mongo_database="mongo")) for _ in range(2)]
    assert [type(one) for one in mocks] == [mongomock.Database] * 2
    assert [bool(re.fullmatch("gatewayfw_[0-9a-f]{32}", one.name)) for one in mocks] == [True] * 2
    assert (len({one.name for one in mocks}), database(Request("mongo", mongo_database="mongo"))) == (2, "mongo")


@pytest.fixture
def app():
    return Flask("shop")


def test_the_client_has_the_app_and_the_tokens_of_the_tests_if_there_are_any(request, app, monkeypatch):
    monkeypatch.setattr("gatewayfw.testing.kit.GatewayClient", lambda *given: given)
    requests = (request, Request(app=app, gateway_tokens="tokens"))
    assert [plugin.gateway_client.__wrapped__(one) for one in requests] == [(app, None), (app, "tokens")]


@pytest.mark.slow
@pytest.mark.mongo
def test_each_test_has_an_empty_database_that_is_dropped(session, mongod_uri, mongo_client):
    status, output = session(GATEWAYFW_TEST_MONGO_URI=mongod_uri)
    used = re.findall(r"^used (\w+)$", output, re.MULTILINE)
    assert status == 0
    assert len(set(used)) == 2
    assert "2 passed" in output
    assert set(used).isdisjoint(mongo_client.list_database_names())


@pytest.mark.slow
def test_tests_are_skipped_where_there_is_no_mongod(session):
    status, output = session(GATEWAYFW_MONGOD="/nowhere")
    assert status == 0
    assert "2 skipped" in output
    assert "GATEWAYFW_MONGOD=/nowhere is not a program; name one with" in output


@pytest.mark.slow
def test_tests_fail_where_mongodb_is_required_and_there_is_no_mongod(session):
    status, output = session(GATEWAYFW_MONGOD="/nowhere", GATEWAYFW_REQUIRE_MONGO="1")
    assert status == 1
    assert "2 errors" in output
    assert "GATEWAYFW_REQUIRE_MONGO=1, but GATEWAYFW_MONGOD=/nowhere is not a program" in output


@pytest.mark.slow
def test_tests_fail_where_mongodb_is_asked_for_by_name_and_there_is_no_mongod(session):
    status, output = session("--gateway-storage=mongo", GATEWAYFW_MONGOD="/nowhere")
    assert status == 1
    assert "2 errors" in output
    assert re.search(
        r"^E? *--gateway-storage=mongo, but GATEWAYFW_MONGOD=/nowhere is not a program; .*; GATEWAYFW_REQUIRE_MONGO=0 "
        r"skips these tests$",
        output,
        re.MULTILINE,
    )


@pytest.mark.slow
def test_tests_that_need_not_run_are_skipped_even_if_mongodb_is_asked_for_by_name(session):
    status, output = session("--gateway-storage=mongo", GATEWAYFW_MONGOD="/nowhere", GATEWAYFW_REQUIRE_MONGO="0")
    assert status == 0
    assert "2 skipped" in output


#: Tests of somebody whose hooks are called by themselves.
HOOKS = """
from contextvars import Context
import pytest
from gatewayfw import gateway

gw, other = gateway(), gateway()

@pytest.fixture
def signed_in():
    gw.context_fns.add_context({"user": "Ana"})
    yield
    assert gw.context_fns.get_context_model()["seen"] == 1

def test_hook(signed_in):
    gw.context_fns.add_context({"seen": 1})
    assert gw.context_fns.get_context_model().user == "Ana"
    assert "user" not in other.context_fns.get_context_model()

def test_other():
    assert dict(gw.context_fns.get_context_model()) == {"Headers": {}, "body": None}

def test_without():
    with pytest.raises(RuntimeError, match="there is no context"):
        Context().run(gw.context_fns.get_context_model)
"""


def test_each_test_has_a_context_of_its_own(session, tmp_path):
    (tmp_path / "test_user.py").write_text(HOOKS)
    status, output = session()
    assert status == 0
    assert "3 passed" in output


KIT = """
import pytest
from gatewayfw import gateway, string
from gatewayfw.auth import Tokens

@pytest.fixture
def gw(gateway_database):
    gw = gateway()
    gw.odm.set_db(gateway_database, memory=True)
    things = gw.odm.new_model("thing", {"name": string})
    gw.acts.act("thing", "add", set={"name": string}, get=1, public=True)(
        lambda body: things.insert_one(body["details"]["set"], projection=body["details"]["get"])
    )
    return gw

@pytest.fixture
def app(gw):
    return gw.create_app()

def test_act(gateway_client, gw):
    print("kept by", type(gw.odm.storage).__name__)
    assert gateway_client.act("thing", "add", set={"name": "x"}, get={"_id": 0, "name": 1}) == {"name": "x"}

class TestTokens:
    @pytest.fixture
    def gateway_tokens(self):
        return Tokens("k" * 32)

    def test_user(self, gateway_client):
        assert gateway_client.as_user({"_id": "f" * 24}).act("thing", "add", set={"name": "x"})["_id"]
"""


@pytest.mark.slow
@pytest.mark.mongo
def test_the_option_says_where_the_data_is(session, tmp_path, mongod_uri):
    (tmp_path / "test_user.py").write_text(KIT)
    outcomes = []
    for storage in ("mongomock", "mongo"):
        (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = --gateway-storage={storage}\n")
        status, output = session(GATEWAYFW_TEST_MONGO_URI=mongod_uri)
        outcomes.append((status, re.findall(r"kept by (\w+)", output)))
    assert outcomes == [(0, ["MockStorage"]), (0, ["MongoStorage"])]
