"""The pytest plugin, seen from a session that uses it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

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


@pytest.mark.slow
@pytest.mark.mongo
def test_each_test_has_an_empty_database_that_is_dropped(session, mongod_uri, mongo_client):
    status, output = session(GATEWAYFW_TEST_MONGO_URI=mongod_uri)
    used = re.findall(r"^used (\w+)$", output, re.MULTILINE)
    assert (status, len(set(used)), "2 passed" in output) == (0, 2, True)
    assert set(used).isdisjoint(mongo_client.list_database_names())


@pytest.mark.slow
def test_tests_are_skipped_where_there_is_no_mongod(session):
    status, output = session(GATEWAYFW_MONGOD="/nowhere")
    assert (status, "2 skipped" in output) == (0, True)
    assert "GATEWAYFW_MONGOD=/nowhere is not a program; name one with" in output


@pytest.mark.slow
def test_tests_fail_where_mongodb_is_required_and_there_is_no_mongod(session):
    status, output = session(GATEWAYFW_MONGOD="/nowhere", GATEWAYFW_REQUIRE_MONGO="1")
    assert (status, "2 errors" in output) == (1, True)
    assert "GATEWAYFW_REQUIRE_MONGO=1, but GATEWAYFW_MONGOD=/nowhere is not a program" in output


@pytest.mark.slow
def test_tests_fail_where_mongodb_is_asked_for_by_name_and_there_is_no_mongod(session):
    status, output = session("--gateway-storage=mongo", GATEWAYFW_MONGOD="/nowhere")
    assert (status, "2 errors" in output) == (1, True)
    assert re.search(
        r"^E? *--gateway-storage=mongo, but GATEWAYFW_MONGOD=/nowhere is not a program; .*; GATEWAYFW_REQUIRE_MONGO=0 "
        r"skips these tests$",
        output,
        re.MULTILINE,
    )


@pytest.mark.slow
def test_tests_that_need_not_run_are_skipped_even_if_mongodb_is_asked_for_by_name(session):
    status, output = session("--gateway-storage=mongo", GATEWAYFW_MONGOD="/nowhere", GATEWAYFW_REQUIRE_MONGO="0")
    assert (status, "2 skipped" in output) == (0, True)


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
    assert (status, "3 passed" in output) == (0, True)


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
