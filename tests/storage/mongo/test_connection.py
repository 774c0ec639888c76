"""Clients of MongoDB: made late and once, closed, one for each process."""

from __future__ import annotations

import multiprocessing
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from pymongo import MongoClient

from gatewayfw.errors import (
    DefinitionError,
)
from gatewayfw.storage import MongoStorage
from gatewayfw.testing.storage_suite.topic import read_all


@pytest.fixture
def own_client(uri):
    """A storage that makes its client itself."""
    storage = MongoStorage(uri)
    yield storage
    storage.close()


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("mongodb://h/db", "db"),
        ("mongodb://h:1,g:2/db?replicaSet=rs0", "db"),
        ("mongodb://user:pass%40@h/db?authSource=admin", "db"),
        ("mongodb://[::1]:27017/my-db", "my-db"),
    ],
)
def test_a_uri_names_its_database(uri, name):
    assert MongoStorage(uri).name == name


NO_NAME = "the MongoDB URI must name a database: mongodb://host:27017/NAME"
BEGIN = "malformed MongoDB URI: it must begin with mongodb:// or mongodb+srv://"
ENCODED = "malformed MongoDB URI: user name and password must be percent-encoded, see urllib.parse.quote_plus"
FORM = "malformed MongoDB URI: expected mongodb://user:password@host:27017/NAME?option=value; only host and NAME needed"


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("mongodb://user:p@ss/w@h.example/db", ENCODED),
        ("mongodb://user:12/word@h.example/db?replicaSet=rs0", ENCODED),
        ("mongodb://h", NO_NAME),
        ("mongodb://h/", NO_NAME),
        ("mongodb://h:1,g:2/?replicaSet=rs0", NO_NAME),
        ("", BEGIN),
        ("h/db", BEGIN),
        ("localhost:27017/db", BEGIN),
        ("http://user:secret@h/db", BEGIN),
        ("mongodb://", "malformed MongoDB URI: Must provide at least one hostname or IP"),
        ("mongodb://user:se@cret@h/db", ENCODED),
        ("mongodb://user:se/cret@h/db", ENCODED),
        ("mongodb://user:se:cret@h/db", ENCODED),
        ("mongodb://h:port/db", FORM),
        ("mongodb://user:secret@h:port/db", FORM),
    ],
)
def test_a_uri_that_is_wrong_is_refused_without_showing_it(uri, message):
    with pytest.raises(DefinitionError) as caught:
        MongoStorage(uri)
    assert caught.value.message == message


# PyMongo before 4.20.1 also names what is wrong; from then on it leaves out all that the URI says.
@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("mongodb://user:secret@h/d b", r'Bad database name( "d b")?'),
        (
            "mongodb://user:secret@h/db?replicset=rs0",
            r"Unknown option(: replicset)?\. Did you mean one of \(replicaset.*",
        ),
    ],
)
def test_what_the_driver_says_of_a_uri_is_passed_on(uri, problem):
    with pytest.raises(DefinitionError) as caught:
        MongoStorage(uri)
    assert re.fullmatch(f"malformed MongoDB URI: {problem}", caught.value.message)
    assert "secret" not in caught.value.message


def test_what_the_driver_says_is_not_passed_on_where_it_names_the_password():
    with pytest.raises(DefinitionError) as caught:
        MongoStorage("mongodb://user:replicset@h/db?replicset=rs0")
    assert "replicset" not in caught.value.message


def test_making_a_storage_connects_to_nothing(monkeypatch):
    monkeypatch.setattr("gatewayfw.storage.mongo.connection.MongoClient", None)
    assert MongoStorage("mongodb://nowhere.invalid/db")._connection._database is None


@pytest.mark.mongo
def test_one_client_is_made_however_many_threads_begin(own_client, monkeypatch):
    made = []
    monkeypatch.setattr(
        "gatewayfw.storage.mongo.connection.MongoClient", lambda *a, **k: made.append(1) or MongoClient(*a, **k)
    )
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: own_client.count("things", {}), range(32))) == 0
    assert made == [1]


@pytest.mark.mongo
def test_after_closing_the_next_use_connects_again(own_client):
    own_client.insert("things", [{"_id": 1}])
    own_client.close()
    assert read_all(own_client) == [{"_id": 1}]


@pytest.mark.mongo
def test_a_database_that_was_given_is_not_closed(storage, mongo_database):
    storage.close()
    assert mongo_database.command("ping")["ok"] == 1


def in_child(fn):
    """Run in a forked process and return what it says; its warnings would be there too."""
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe(duplex=False)

    def run():
        try:
            its.send(fn())
        except BaseException as error:
            its.send(error)

    process = context.Process(target=run)
    process.start()
    said = mine.recv() if mine.poll(30) else "nothing"
    process.join(30)
    return said


# Python 3.12 warns of any fork while threads run, and the driver has some.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.mongo
@pytest.mark.parametrize("used_before", [False, True])
def test_a_forked_process_uses_a_client_of_its_own(own_client, used_before, capfd):
    if used_before:
        own_client.insert("things", [{"_id": 0}])
    parent = own_client._connection._database

    def child():
        own_client.transaction(lambda: own_client.insert("things", [{"_id": 1}, {"_id": 2}]))
        apart = own_client._connection._database is not parent and own_client._connection._pid == os.getpid()
        own_client.close()
        return apart

    assert in_child(child) is True
    assert own_client._connection._database is parent
    assert own_client.count("things", {"_id": {"$gt": 0}}) == 2
    assert capfd.readouterr().err == ""
