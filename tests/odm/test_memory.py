"""Data in memory: warned of, refused where it would be lost, and taken where that is said to be meant."""

from __future__ import annotations

import multiprocessing
import sys
from logging import WARNING
from types import ModuleType

import mongomock
import pytest

from gatewayfw import gateway, string
from gatewayfw.environment import judge_memory
from gatewayfw.errors import DefinitionError
from gatewayfw.odm import database
from gatewayfw.storage import MockStorage

WHAT = "it is lost when its process ends, and no other process, such as another worker, sees it"
REMEDY = "give set_db a MongoDB URI, or memory=True if you want this"


@pytest.fixture(autouse=True)
def environ(monkeypatch):
    """The environment of a process that runs no tests, without any of the names that count."""
    for name in ("GATEWAYFW_ENV", "FLASK_ENV", "FLASK_DEBUG", "SERVER_SOFTWARE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(database, "judge_memory", lambda environ, modules, server: judge_memory(environ, (), server))
    return monkeypatch


@pytest.fixture(params=["mongomock", "a Storage of one's own"])
def db(request):
    mock = mongomock.MongoClient().test
    return mock if request.param == "mongomock" else MockStorage(mock)


def test_it_is_warned_of_once(db, caplog):
    gw = gateway()
    gw.odm.set_db(db)
    things = gw.odm.new_model("thing", {"name": string()})
    gw.create_app()
    things.insert_one(doc={"name": "a"})
    assert caplog.record_tuples == [("gatewayfw.odm", WARNING, f"the data is in memory: {WHAT}; {REMEDY}")]


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("GATEWAYFW_ENV", "production", "in the environment 'production'"),
        ("FLASK_ENV", "Production", "in the environment 'production'"),
        ("SERVER_SOFTWARE", "gunicorn/27.0.1", "under gunicorn"),
    ],
)
def test_it_is_refused_where_it_would_be_lost(db, environ, name, value, where):
    environ.setenv(name, value)
    gw = gateway()
    with pytest.raises(DefinitionError) as caught:
        gw.odm.set_db(db)
    assert caught.value.message == f"set_db: data in memory is refused {where}: {WHAT}; {REMEDY}"
    with pytest.raises(DefinitionError, match="^no database"):
        gw.odm.storage.name  # noqa: B018  (a property)


@pytest.mark.parametrize("server", ["granian", "uwsgi"])
def test_it_is_refused_in_workers_that_each_have_their_own(db, environ, server):
    if server == "granian":
        environ.setattr(multiprocessing.current_process(), "name", "granian-worker")
    else:
        environ.setitem(sys.modules, "uwsgi", ModuleType("uwsgi"))
    gw = gateway()
    with pytest.raises(DefinitionError) as caught:
        gw.odm.set_db(db)
    assert caught.value.message == f"set_db: data in memory is refused under {server}: {WHAT}; {REMEDY}"
    gw.odm.set_db(db, memory=True)


@pytest.mark.parametrize("name", ["production", "staging", "development", ""])
def test_it_is_taken_without_a_word_where_that_is_meant(db, environ, caplog, name):
    environ.setenv("GATEWAYFW_ENV", name)
    gw = gateway()
    gw.odm.set_db(db, memory=True)
    assert gw.odm.storage.multi_process is False
    assert gw.odm.database.memory_is_meant is True
    assert caplog.messages == []


def test_in_development_nothing_is_said(db, environ, caplog):
    environ.setenv("GATEWAYFW_ENV", "development")
    gateway().odm.set_db(db)
    assert caplog.messages == []


@pytest.mark.parametrize("memory", [False, True])
def test_a_shared_database_is_taken_everywhere(environ, caplog, memory):
    environ.setenv("GATEWAYFW_ENV", "production")
    gateway().odm.set_db("mongodb://127.0.0.1:1/shop", memory=memory)  # connects at first use
    assert caplog.messages == []


@pytest.mark.parametrize("db", [None, "", " "], ids=repr)
def test_no_database_is_named_as_what_it_is(db):
    with pytest.raises(DefinitionError) as refused:
        gateway().odm.set_db(db)
    message = "set_db: no database is given; is the environment variable with its URI set?"
    assert refused.value.message == message


def test_memory_is_true_or_false():
    with pytest.raises(DefinitionError, match="^set_db: memory: expected true or false$"):
        gateway().odm.set_db(mongomock.MongoClient().test, memory="yes")
