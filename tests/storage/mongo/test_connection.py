"""Clients of MongoDB: made late and once, closed, one for each process."""

from __future__ import annotations

import multiprocessing
import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from bson.binary import UuidRepresentation
from bson.codec_options import DEFAULT_CODEC_OPTIONS, CodecOptions, DatetimeConversion
from pymongo import MongoClient
from pymongo.errors import AutoReconnect, NetworkTimeout, OperationFailure
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage, Trouble
from gatewayfw.storage.mongo.connection import Connection
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


class Database:
    """A database whose commands are noted, and fail as they are told."""

    name = "shop"
    codec_options = DEFAULT_CODEC_OPTIONS

    def __init__(self, writable):
        self.sent, self.options, self.error = [], None, None
        self.client = self
        self.topology_description = SimpleNamespace(
            has_writable_server=lambda: writable,
            server_descriptions=lambda: {("h", 1): SimpleNamespace(error=None, server_type_name="Unknown")},
            replica_set_name=None,
            known_servers=[],
        )

    def with_options(self, *given, **named):
        self.options = (given, named)
        return self

    def command(self, command):
        self.sent.append(command)
        if self.error is not None:
            raise self.error


@pytest.fixture
def clock(monkeypatch):
    """The time, as a list of one, and the seconds that the driver is given each time."""
    now, given = [100.0], []

    @contextmanager
    def timeout(seconds):
        given.append(seconds)
        yield

    module = "gatewayfw.storage.mongo.connection"
    monkeypatch.setattr(f"{module}.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(f"{module}.pymongo", SimpleNamespace(timeout=timeout))
    return now, given


PROBE = {"listCollections": 1, "nameOnly": True, "authorizedCollections": True, "filter": {"name": "none"}}


def test_a_server_that_takes_writes_is_asked_nothing(clock):
    database = Database(writable=True)
    connection = Connection(database, Settings())
    connection.find_server()
    connection.find_server()
    assert (database.sent, clock[1]) == ([], [])
    connection.outages.suspected = True
    connection.find_server()  # what the driver knows is the same as before
    assert database.sent == []


def test_a_server_under_suspicion_is_asked_first(clock):
    database = Database(writable=True)
    connection = Connection(database, Settings(server_selection_timeout=4.0))
    connection.find_server()
    connection.note(AutoReconnect("x"))
    assert connection.outages.suspected is True
    assert connection.outages.trouble is None
    connection.find_server()
    assert database.sent == [PROBE]
    assert clock[1] == [4.0]
    assert connection.outages.suspected is False


@pytest.mark.parametrize(("waited", "kind"), [(1.9, None), (2.0, "unreachable")])
def test_silence_counts_after_half_the_time_to_find_a_server(clock, waited, kind):
    database = Database(writable=False)
    connection = Connection(database, Settings(server_selection_timeout=4.0))

    def fail(command):
        clock[0][0] += waited
        raise NetworkTimeout("x")

    database.command = fail
    with pytest.raises(NetworkTimeout):
        connection.find_server()
    trouble = connection.outages.trouble
    assert (trouble and trouble.kind) == kind
    assert connection.outages.suspected is True


@pytest.mark.parametrize(
    ("writable", "seconds", "given"), [(True, 3.0, 3.0), (False, 3.0, 2.5), (False, 1.0, 0.5), (False, 0.6, 0.3)]
)
def test_a_ping_leaves_the_driver_time_to_give_up(clock, writable, seconds, given):
    database = Database(writable)
    connection = Connection(database, Settings())
    connection.outages.begin(Trouble("unreachable", "words"))
    assert connection.ping(seconds) is None
    assert database.sent == [PROBE]
    assert clock[1] == [given]
    assert connection.outages.trouble is None
    database.error = NetworkTimeout("x")
    assert (
        connection.ping(seconds)
        == connection.outages.trouble
        == Trouble("unreachable", "no answer (h:1: no answer in time)")
    )
    database.error = OperationFailure("x", 59)
    with pytest.raises(OperationFailure):
        connection.ping(seconds)


def test_before_anything_is_known_the_hosts_of_the_uri_are_named():
    connection = Connection("mongodb://g,h:1/db", Settings())
    trouble = connection.note(NetworkTimeout("x"), waited=True)
    assert trouble == connection.outages.trouble == Trouble("unreachable", "no answer (g:27017, h:1)")


def test_what_a_server_refuses_is_no_outage(clock):
    connection = Connection(Database(writable=False), Settings())
    assert connection.note(OperationFailure("x", 59), waited=True) is None
    assert connection.outages.suspected is False
    assert connection.outages.trouble is None


def test_a_database_is_read_from_its_primary_as_most_servers_have_it(clock):
    database = Database(writable=True)
    database.codec_options = CodecOptions(tz_aware=True, uuid_representation=UuidRepresentation.STANDARD)
    connection = Connection(database, Settings())
    assert connection.database is database
    codec = DEFAULT_CODEC_OPTIONS.with_options(
        uuid_representation=UuidRepresentation.STANDARD, datetime_conversion=DatetimeConversion.DATETIME_AUTO
    )
    concerns = {"write_concern": WriteConcern("majority"), "read_concern": ReadConcern("majority")}
    assert database.options == ((codec, ReadPreference.PRIMARY), concerns)
    assert connection.name == "shop"
    assert connection.is_plain is True
    assert connection.is_closed is False


@pytest.mark.parametrize(("settings", "milliseconds"), [(None, 2000), (Settings(server_selection_timeout=1.25), 1250)])
def test_a_client_is_made_with_short_limits_and_a_name(monkeypatch, settings, milliseconds):
    made = []

    def make(*uris, **options):
        made.append((uris, options))
        return MongoClient(*uris, connect=False)

    monkeypatch.setattr("gatewayfw.storage.mongo.connection.MongoClient", make)
    storage = MongoStorage("mongodb://h/shop", settings=settings)
    assert storage._connection.database.name == "shop"
    storage.close()
    options = {"serverSelectionTimeoutMS": milliseconds, "waitQueueTimeoutMS": 1000, "connectTimeoutMS": 2000}
    assert made == [(("mongodb://h/shop",), {"appname": "gatewayfw", **options})]


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
    closed = [own_client.is_closed()]
    own_client.insert("things", [{"_id": 1}])
    closed.append(own_client.is_closed())
    own_client.close()
    closed.append(own_client.is_closed())
    assert read_all(own_client) == [{"_id": 1}]
    assert [*closed, own_client.is_closed()] == [False, False, True, False]


def test_what_was_never_used_can_be_closed():
    storage = MongoStorage("mongodb://h/db")
    storage.close()
    assert storage.is_closed()


@pytest.mark.mongo
def test_a_database_that_was_given_is_not_closed(storage, mongo_database):
    storage.close()
    assert not storage.is_closed()
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
