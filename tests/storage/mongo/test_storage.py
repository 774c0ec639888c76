"""What is particular to the storage on MongoDB: clients, forks, conflicts, aborts, unknown outcomes, translation."""

from __future__ import annotations

import logging
import socket
import time
import uuid
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from gatewayfw.errors import DuplicateKey, StorageError, TooLarge, Unavailable
from gatewayfw.settings import Settings
from gatewayfw.storage import Index, Lock, MongoStorage
from gatewayfw.testing.storage_suite.topic import LOCK, read_all
from tests.storage.mongo.standalone import standalone_mongod


@pytest.fixture
def nowhere():
    """A storage on a port that is bound, so that nobody else takes it, but not listened to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"mongodb://127.0.0.1:{taken.getsockname()[1]}/db"
        storage = MongoStorage(uri, settings=Settings(server_selection_timeout=0.2))
        yield storage
        storage.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda storage: storage.count("things", {}),
        lambda storage: list(storage.find("things", {})),
        lambda storage: storage.insert("things", [{"_id": 1}]),
        lambda storage: storage.ensure("things", [Index((("a", 1),))], 10),
        lambda storage: storage.transaction(lambda: None),
        lambda storage: storage.has_transactions(),
    ],
    ids=["count", "find", "insert", "ensure", "transaction", "has_transactions"],
)
def test_without_a_server_everything_is_unavailable(call, nowhere):
    begin = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        call(nowhere)
    assert type(caught.value) is Unavailable
    assert time.monotonic() - begin < 10


@pytest.mark.mongo
def test_a_result_may_be_read_after_the_deadline_of_its_query(storage):
    with storage.deadline(0.2) as scope:
        found = storage.find("things", {})
        time.sleep(scope.remaining())
    assert list(found) == [{"_id": 1, "n": 0}]


@pytest.mark.mongo
@pytest.mark.parametrize(
    ("left", "looking", "building"), [(None, 30.0, 30.0), (100, 100, 100), (5, 5, 30.0)], ids=["none", "long", "short"]
)
def test_indexes_are_looked_for_in_the_time_left_and_built_in_at_least_that_of_an_operation(
    storage, monkeypatch, left, looking, building
):
    given = []

    @contextmanager
    def timeout(seconds):
        given.append(seconds)
        yield

    monkeypatch.setattr("gatewayfw.storage.mongo.storage.pymongo", SimpleNamespace(timeout=timeout))
    with nullcontext() if left is None else storage.deadline(left):
        assert storage.ensure("others", [Index((("a", 1),))], 10) == []
    assert given == pytest.approx([looking, building], rel=0.2)
    assert given[0] <= looking
    assert given[1] <= building


@pytest.mark.mongo
def test_what_only_some_servers_say_is_read_where_they_say_it(storage, monkeypatch):
    assert storage.transaction_lifetime() > 0
    replies = iter([{"transactionLifetimeLimitSeconds": 7}, {"sharded": True}])
    monkeypatch.setattr("pymongo.database.Database.command", lambda self, *_, **__: next(replies))
    assert storage.transaction_lifetime() == 7.0
    assert storage.is_sharded("things") is True

    def refuse(self, *_, **__):
        raise OperationFailure("not authorized", 13)

    monkeypatch.setattr("pymongo.database.Database.command", refuse)
    assert storage.transaction_lifetime() is None


@pytest.mark.mongo
@pytest.mark.parametrize("size", [16 * 2**20, 60 * 2**20], ids=["over the limit", "over the message limit"])
def test_a_document_that_is_too_large_is_refused(storage, size):
    with pytest.raises(TooLarge) as caught:
        storage.insert("things", [{"_id": 2, "a": "x" * size}])
    assert caught.value.message == "the document would be too large"
    assert read_all(storage) == [{"_id": 1, "n": 0}]


@pytest.mark.mongo
def test_a_document_that_grows_too_large_is_refused(storage):
    storage.update_many("things", {}, {"$set": {"a": "x" * 9 * 2**20}})
    with pytest.raises(TooLarge):
        storage.update_one("things", {}, {"$set": {"b": "x" * 9 * 2**20}}, None)
    with pytest.raises(TooLarge):
        storage.update_each("things", [(1, {"$set": {"b": "x" * 9 * 2**20}})])
    assert storage.count("things", {"b": {"$exists": True}}) == 0


@pytest.mark.mongo
@pytest.mark.parametrize("value", ["\ud800", {"a\0": 1}, {1: 1}], ids=["surrogate", "zero in a key", "integer key"])
def test_what_bson_cannot_hold_is_refused(storage, value):
    with pytest.raises(StorageError):
        storage.insert("things", [{"_id": 2, "a": value}])
    assert read_all(storage) == [{"_id": 1, "n": 0}]


@pytest.fixture(scope="module")
def standalone_uri(mongod_uri, tmp_path_factory):
    """A mongod without a replica set; `mongod_uri` skips or fails where there is none."""
    with standalone_mongod(tmp_path_factory.mktemp("standalone")) as port:
        with MongoClient("127.0.0.1", port, serverSelectionTimeoutMS=30_000) as client:
            client.admin.command("ping")
        yield f"mongodb://127.0.0.1:{port}/"


@pytest.fixture
def standalone(standalone_uri):
    storage = MongoStorage(f"{standalone_uri}db_{uuid.uuid4().hex}")
    yield storage
    storage.close()


@pytest.mark.mongo
def test_a_standalone_server_works_and_warns_once(standalone, caplog):
    def work():
        standalone.touch_many("things", [1], lock=LOCK)
        standalone.insert("things", [{"_id": 2}, {"_id": 3}])
        standalone.touch_many("things", [1], [({"_id": 3}, {"$set": {"a": 1}})], lock=LOCK)
        standalone.touch("things", {"_id": 3}, None, {"$set": {"b": 2}}, lock=LOCK)
        return standalone.touch("things", {"_id": 1}, None, lock=LOCK)

    standalone.insert("things", [{"_id": 1}])
    with caplog.at_level(logging.WARNING, "gatewayfw.storage"):
        assert [standalone.transaction(work), standalone.has_transactions()] == [{"_id": 1}, False]
        assert standalone.counts_locks() is False
        standalone.transaction(lambda: standalone.delete_many("things", {"_id": 2}))
    assert read_all(standalone) == [{"_id": 1}, {"_id": 3, "a": 1, "b": 2}]
    assert [record.getMessage() for record in caplog.records] == [
        "this MongoDB server is standalone and has no transactions: concurrent writes and crashes "
        "can leave stale copies. Run it as a replica set; one node is enough."
    ]


@pytest.mark.mongo
def test_on_a_standalone_server_what_was_written_before_a_failure_stays_and_is_said(standalone):
    def work():
        standalone.insert("things", [{"_id": 1}])
        raise Unavailable

    with standalone.deadline(20) as scope, pytest.raises(Unavailable):
        standalone.transaction(work)
    assert scope.committed is True
    assert read_all(standalone) == [{"_id": 1}]


@pytest.mark.parametrize("limit", [0, 40])
def test_large_documents_come_by_the_replies_of_the_server(mongo_database, limit):
    storage = MongoStorage(mongo_database)
    for number in range(40):
        storage.insert("big", [{"_id": number, "text": "x" * 1_000_000}])
    pieces = [len(piece) for piece in storage.find("big", {}, sort=[("_id", 1)], limit=limit).batches()]
    # A reply has 16 MB at most; PyMongo alone would gather 101 documents before it gave one.
    assert sum(pieces) == 40
    assert max(pieces) <= 16


def test_small_documents_come_in_pieces_of_101(mongo_database):
    storage = MongoStorage(mongo_database)
    storage.insert("small", [{"_id": number} for number in range(250)])
    pieces = [[one["_id"] for one in piece] for piece in storage.find("small", {}, sort=[("_id", 1)]).batches()]
    assert ([len(piece) for piece in pieces if piece], sum(pieces, [])) == ([101, 101, 48], list(range(250)))


@pytest.mark.mongo
@pytest.mark.parametrize(("limit", "at_most"), [(10_000, 10_001), (10_001, 1_000)])
def test_a_query_up_to_a_limit_is_one_command(noted, commands, limit, at_most):
    assert len(list(noted.find("things", {}, limit=limit))) == 3
    assert len(list(noted.find("things", {}, limit=limit, at_once=True))) == 3
    levels = ["majority", "snapshot" if limit == 10_000 else "majority"]
    assert [(sent["limit"], sent["batchSize"]) for sent in commands.sent] == [(limit, at_most)] * 2
    assert [sent["readConcern"]["level"] for sent in commands.sent] == levels


@pytest.mark.mongo
def test_what_is_not_read_is_given_up(noted, commands):
    noted.insert("numbers", [{"_id": number} for number in range(1_200)])
    commands.sent.clear()
    for read in (lambda: noted.find("numbers", {}), lambda: noted.aggregate("numbers", [{"$match": {}}])):
        found = read()
        next(found)
        del found
        assert len(list(read())) == 1_200
    names = [next(iter(sent)) for sent in commands.sent]
    assert names == ["find", "killCursors", "find", "getMore", "aggregate", "killCursors", "aggregate", "getMore"]
    assert [sent["cursor"] for sent in commands.sent if "aggregate" in sent] == [{"batchSize": 1_000}] * 2


@pytest.mark.mongo
def test_a_document_alone_is_inserted_without_a_transaction(noted, commands):
    noted.insert("things", [{"_id": 7}])
    noted.insert("things", [{"_id": 8}, {"_id": 9}])
    assert [(next(iter(sent)), sent.get("startTransaction")) for sent in commands.sent if "hello" not in sent] == [
        ("insert", None),
        ("insert", True),
        ("commitTransaction", None),
    ]


@pytest.mark.mongo
def test_without_transactions_a_touch_locks_nothing(noted, commands, monkeypatch):
    monkeypatch.setattr(noted, "has_transactions", lambda: False)
    noted.touch_many("things", [0, 1], lock=Lock("locks"))
    assert commands.sent == []
    found = [noted.touch("things", {"_id": id_}, ["name"], lock=Lock("locks")) for id_ in (1, 7)]
    assert (found, [sent["limit"] for sent in commands.sent]) == ([{"_id": 1, "name": "b"}, None], [1, 1])


@pytest.mark.mongo
def test_locking_no_document_sends_nothing(noted, commands):
    noted.has_transactions()
    commands.sent.clear()
    noted.touch_many("things", [], lock=Lock("locks"))
    assert commands.sent == []


@pytest.mark.mongo
def test_what_is_found_to_be_stored_is_not_decoded(storage):
    assert [type(one) for one in storage.find("things", {}, stored=True)] == [RawBSONDocument]


@pytest.mark.mongo
def test_counting_stops_at_the_limit(storage):
    storage.insert("numbers", [{"_id": number} for number in range(20)])
    assert [storage.count("numbers", {"_id": {"$lt": 9}}, limit) for limit in (0, 1, 9, 10)] == [9, 1, 9, 9]


@pytest.mark.mongo
@pytest.mark.parametrize(
    ("update", "expected"), [({"$set": {"n": 0}}, DuplicateKey), ({"$set": {"a": object()}}, StorageError)]
)
def test_a_touch_that_is_refused_meets_no_mark(storage, update, expected):
    storage.ensure("things", [Index((("n", 1),), {"unique": True})], 10)
    storage.insert("things", [{"_id": 2, "n": 2}])
    lock = Lock("locks", unmarked="mark")
    for touch in (
        lambda: storage.touch("things", {"_id": 2}, None, update, lock=lock),
        lambda: storage.touch_many("things", [1], [({"_id": 2}, update)], lock=lock),
    ):
        with pytest.raises(expected) as caught:
            storage.transaction(touch)
        assert type(caught.value) is expected
