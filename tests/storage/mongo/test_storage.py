"""What is particular to the storage on MongoDB: clients, forks, conflicts, aborts, unknown outcomes, translation."""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import subprocess
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from pymongo import MongoClient, errors
from pymongo.client_session import ClientSession

from gatewayfw.errors import (
    DefinitionError,
    DuplicateKey,
    OutcomeUnknown,
    StorageError,
    Timeout,
    TooLarge,
    Unavailable,
)
from gatewayfw.storage import Index, MongoStorage
from gatewayfw.storage.mongo.errors import translation
from gatewayfw.testing.mongod import find_mongod
from gatewayfw.testing.storage_suite.topic import LOCK


@pytest.fixture
def storage(mongo_database):
    """A storage on MongoDB with one document, and a collection `others`."""
    storage = MongoStorage(mongo_database)
    storage.ensure("others", [], 10)
    storage.insert("things", [{"_id": 1, "n": 0}])
    return storage


@pytest.fixture
def uri(mongod_uri, mongo_database):
    """The URI of the test's own database."""
    return mongod_uri.replace("/?", f"/{mongo_database.name}?")


@pytest.fixture
def own_client(uri):
    """A storage that makes its client itself."""
    storage = MongoStorage(uri)
    yield storage
    storage.close()


@pytest.fixture
def nowhere():
    """A storage on a port that is bound, so that nobody else takes it, but not listened to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"mongodb://127.0.0.1:{taken.getsockname()[1]}/db"
        storage = MongoStorage(uri, server_selection_timeout=0.2)
        yield storage
        storage.close()


def whole(storage, collection="things"):
    return [
        {key: value for key, value in document.items() if key != "hidden"}
        for document in storage.find(collection, {}, sort=[("_id", 1)])
    ]


# -- URIs and clients


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
FORM = (
    "malformed MongoDB URI: expected mongodb://user:password@host:27017/NAME?option=value, without what is not needed"
)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
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
        ("mongodb://h/d b", 'malformed MongoDB URI: Bad database name "d b"'),
    ],
)
def test_a_uri_that_is_wrong_is_refused_without_showing_it(uri, message):
    with pytest.raises(DefinitionError) as caught:
        MongoStorage(uri)
    assert caught.value.message == message


def test_a_misspelled_option_of_a_uri_is_named_and_no_password():
    with pytest.raises(DefinitionError, match="^malformed MongoDB URI: Unknown option: replicset"):
        MongoStorage("mongodb://user:secret@h/db?replicset=rs0")
    with pytest.raises(DefinitionError) as caught:
        MongoStorage("mongodb://user:replicset@h/db?replicset=rs0")
    assert caught.value.message == FORM


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
    assert whole(own_client) == [{"_id": 1}]


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


# -- no server


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


# -- conflicts


@pytest.mark.mongo
def test_transactions_that_conflict_lose_nothing(storage):
    def increment():
        n = storage.touch("things", {"_id": 1}, ["n"], lock=LOCK)["n"]
        storage.update_one("things", {"_id": 1}, {"$set": {"n": n + 1}}, None)

    def work():
        for _ in range(20):
            storage.transaction(increment)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work) for _ in range(2)]:
            done.result()
    assert whole(storage) == [{"_id": 1, "n": 40}]


@pytest.mark.mongo
def test_a_conflict_runs_the_function_again(storage):
    runs = []

    def work():
        runs.append(1)
        storage.count("things", {})  # the snapshot begins
        if len(runs) == 1:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(storage.update_many, "things", {}, {"$set": {"n": 5}}).result()
        storage.update_many("things", {}, {"$inc": {"n": 1}})
        return len(runs)

    assert (storage.transaction(work), whole(storage)) == (2, [{"_id": 1, "n": 6}])


@pytest.mark.mongo
def test_a_conflict_that_was_caught_runs_the_function_again_too(storage):
    runs = []

    def work():
        runs.append(1)
        storage.count("things", {})
        if len(runs) == 1:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(storage.update_many, "things", {}, {"$set": {"n": 5}}).result()
            with pytest.raises(Unavailable):
                storage.update_many("things", {}, {"$inc": {"n": 1}})
        else:
            storage.update_many("things", {}, {"$inc": {"n": 1}})

    storage.transaction(work)
    assert (len(runs), whole(storage)) == (2, [{"_id": 1, "n": 6}])


def blocked(storage, seconds):
    """Try to write a document that another thread's open transaction has touched."""

    def write():
        storage.insert("others", [{"_id": 1}])
        storage.touch("things", {"_id": 1}, None, lock=LOCK)

    def attempt():
        with storage.deadline(seconds):
            storage.transaction(write)

    def hold():
        storage.touch("things", {"_id": 1}, None, lock=LOCK)
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(attempt).exception()

    return storage.transaction(hold)


@pytest.mark.mongo
def test_touch_many_locks_too(storage):
    storage.insert("things", [{"_id": 2}])
    runs = []

    def elsewhere():
        runs.append(1)
        storage.update_one("things", {"_id": 2}, {"$set": {"n": 1}}, None)

    def hold():
        storage.touch_many("things", [1, 2], lock=LOCK)
        with ThreadPoolExecutor(1) as pool, storage.deadline(20):
            return pool.submit(attempt).exception()

    def attempt():
        with storage.deadline(0.6):
            storage.transaction(elsewhere)

    assert type(storage.transaction(hold)) is Unavailable
    assert len(runs) > 1


@pytest.mark.mongo
def test_conflicts_until_the_deadline_are_unavailable_and_nothing_is_written(storage):
    error = blocked(storage, 0.8)
    assert (type(error), error.message) == (Unavailable, "service unavailable, try again")
    assert whole(storage, "others") == []


# -- the end of a transaction


@pytest.fixture
def free_at_once(uri):
    """Tells whether another process could touch the document now, without a single conflict.

    With a client of its own: the driver would give the first one's session, with the transaction
    left open in it, to the next transaction of the same client, which ends it and hides the leak.
    """
    other = MongoStorage(uri)

    def is_free():
        runs = []

        def touch():
            runs.append(1)
            other.touch("things", {"_id": 1}, None, lock=LOCK)

        other.transaction(touch)
        return len(runs) == 1

    yield is_free
    other.close()


@pytest.mark.mongo
@pytest.mark.parametrize("again", [False, True], ids=["before the end", "before the next call"])
def test_an_expired_deadline_leaves_no_transaction_open(storage, free_at_once, again):
    def work(scope):
        storage.touch("things", {"_id": 1}, None, lock=LOCK)
        storage.insert("others", [{"_id": 1}])
        time.sleep(scope.remaining() + 0.01)
        if again:
            storage.count("things", {})

    with storage.deadline(0.5) as scope, pytest.raises(Timeout):
        storage.transaction(lambda: work(scope))
    assert free_at_once()
    assert whole(storage, "others") == []


@pytest.mark.mongo
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_no_transaction_open(storage, free_at_once, error):
    raised = error("mine")

    def work():
        storage.touch("things", {"_id": 1}, None, lock=LOCK)
        raise raised

    with pytest.raises(error) as caught:
        storage.transaction(work)
    assert caught.value is raised
    assert free_at_once()


@pytest.mark.mongo
def test_a_commit_is_not_begun_just_before_the_deadline(storage, free_at_once, monkeypatch):
    with monkeypatch.context() as patch, storage.deadline(20) as scope, pytest.raises(Timeout):
        patch.setattr("gatewayfw.storage.mongo.transactions._COMMIT_RESERVE", 60)
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert (scope.committed, whole(storage, "others")) == (False, [])
    assert free_at_once()


def failing_commit(monkeypatch, label, really, times=10**9):
    """Make commits raise an error with a label, after they happened or without."""
    commit, calls = ClientSession.commit_transaction, []

    def fail(session):
        calls.append(1)
        if really or len(calls) > times:
            commit(session)
        if len(calls) <= times:
            raise errors.OperationFailure("made up", 91, {"errorLabels": [label]})

    monkeypatch.setattr(ClientSession, "commit_transaction", fail)
    monkeypatch.setattr("gatewayfw.storage.mongo.transactions._ENDING", 0.5)
    return calls


UNKNOWN = "UnknownTransactionCommitResult"


@pytest.mark.mongo
@pytest.mark.parametrize("really", [False, True], ids=["not committed", "committed"])
def test_a_commit_without_an_answer_is_unknown(storage, monkeypatch, really):
    failing_commit(monkeypatch, UNKNOWN, really)
    with storage.deadline(1) as scope, pytest.raises(OutcomeUnknown):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert scope.committed is False


@pytest.mark.mongo
def test_a_proof_that_exists_makes_a_commit_without_an_answer_a_success(storage, monkeypatch):
    failing_commit(monkeypatch, UNKNOWN, really=True)
    with storage.deadline(1):
        done = storage.transaction(lambda: storage.insert("others", [{"_id": 1}]) or "done", proof=("others", 1))
    assert (done, whole(storage, "others")) == ("done", [{"_id": 1}])


@pytest.mark.mongo
def test_a_proof_that_does_not_exist_leaves_the_outcome_unknown(storage, monkeypatch):
    failing_commit(monkeypatch, UNKNOWN, really=False)
    with storage.deadline(1), pytest.raises(OutcomeUnknown):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]), proof=("others", 1))


@pytest.mark.mongo
@pytest.mark.parametrize("really", [False, True], ids=["not committed", "committed"])
def test_an_unknown_commit_is_sent_again(storage, monkeypatch, really):
    calls = failing_commit(monkeypatch, UNKNOWN, really, times=1)
    storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert (len(calls), whole(storage, "others")) == (2, [{"_id": 1}])


@pytest.mark.mongo
@pytest.mark.parametrize(
    ("deadline", "least", "slow"), [(20, 0.05, 0.5), (1, 1.5, 1.2)], ids=["the deadline", "a moment at least"]
)
def test_a_slow_commit_has_what_is_left(storage, monkeypatch, deadline, least, slow):
    answer, calls = ClientSession.commit_transaction, failing_commit(monkeypatch, UNKNOWN, really=False)
    monkeypatch.setattr("gatewayfw.storage.mongo.transactions._ENDING", least)
    fail, begun = ClientSession.commit_transaction, []

    def commit(session):
        begun[:] = begun or [time.monotonic()]
        if time.monotonic() - begun[0] < slow:
            fail(session)
        answer(session)

    monkeypatch.setattr(ClientSession, "commit_transaction", commit)
    with storage.deadline(deadline):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert (len(calls) > 1, whole(storage, "others")) == (True, [{"_id": 1}])


@pytest.mark.mongo
def test_a_commit_that_conflicts_runs_the_function_again(storage, monkeypatch):
    runs = []
    failing_commit(monkeypatch, "TransientTransactionError", really=False, times=1)
    storage.transaction(lambda: runs.append(1) or storage.insert("others", [{"_id": 1}]))
    assert (len(runs), whole(storage, "others")) == (2, [{"_id": 1}])


@pytest.mark.mongo
def test_a_commit_that_is_refused_is_an_error(storage, monkeypatch):
    failing_commit(monkeypatch, "NoLabel", really=False)
    with pytest.raises(StorageError):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))


@pytest.mark.mongo
def test_a_duplicate_that_was_caught_is_raised_at_once(storage, free_at_once):
    runs = []

    def work():
        runs.append(1)
        with pytest.raises(DuplicateKey):
            storage.insert("things", [{"_id": 1}])

    with pytest.raises(DuplicateKey):
        storage.transaction(work)
    assert runs == [1]
    assert free_at_once()


@pytest.mark.mongo
def test_a_result_may_be_read_after_the_deadline_of_its_query(storage):
    with storage.deadline(0.2) as scope:
        found = storage.find("things", {})
        time.sleep(scope.remaining())
    assert list(found) == [{"_id": 1, "n": 0}]


# -- errors


@pytest.mark.mongo
@pytest.mark.parametrize("size", [16 * 2**20, 60 * 2**20], ids=["over the limit", "over the message limit"])
def test_a_document_that_is_too_large_is_refused(storage, size):
    with pytest.raises(TooLarge) as caught:
        storage.insert("things", [{"_id": 2, "a": "x" * size}])
    assert caught.value.message == "the document would be too large"
    assert whole(storage) == [{"_id": 1, "n": 0}]


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
    assert whole(storage) == [{"_id": 1, "n": 0}]


def bulk(*codes):
    return errors.BulkWriteError({"writeErrors": [{"code": code} for code in codes]})


def write_timeout():
    return errors.WTimeoutError("x", 64, {})


TOO_LARGE = "the document would be too large"
NO_RIGHT = "the user of the database lacks a right that this needs; the role readWrite has them all"


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (errors.DuplicateKeyError("x", 11000), DuplicateKey, None),
        (errors.OperationFailure("x", 11000), DuplicateKey, None),
        (bulk(11000), DuplicateKey, None),
        (bulk(1, 11000), DuplicateKey, None),
        (errors.WriteError("x", 10334), TooLarge, TOO_LARGE),
        (errors.OperationFailure("x", 17419), TooLarge, TOO_LARGE),
        (bulk(10334), TooLarge, TOO_LARGE),
        (errors.ServerSelectionTimeoutError("x"), Unavailable, None),
        (errors.WaitQueueTimeoutError("x"), Unavailable, None),
        (errors.NotPrimaryError("x"), Unavailable, None),
        (errors.AutoReconnect("x"), Unavailable, None),
        (errors.ConnectionFailure("x"), Unavailable, None),
        (errors.NetworkTimeout("x"), Timeout, None),
        (errors.ExecutionTimeout("x", 50), Timeout, None),
        (write_timeout(), Timeout, None),
        (bulk(1), StorageError, None),
        (errors.BulkWriteError({}), StorageError, None),
        (errors.WriteError("x", 2), StorageError, None),
        (errors.OperationFailure("not authorized", 13), StorageError, NO_RIGHT),
        (errors.OperationFailure("x", 13, {"errmsg": "Command find requires authentication"}), Unavailable, None),
        (errors.OperationFailure("Authentication failed.", 18), Unavailable, None),
        (errors.InvalidOperation("x"), StorageError, None),
        (errors.InvalidName("x"), StorageError, None),
        (errors.PyMongoError("x"), StorageError, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else getattr(value, "__name__", ""),
)
def test_the_drivers_errors_become_ours(error, expected, message):
    translated = translation(error)
    assert type(translated) is expected
    assert translated.message == (message or expected().message)


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (errors.DuplicateKeyError("x", 11000, {"keyPattern": {"b": 1, "a": -1}}), ("b", "a")),
        (errors.DuplicateKeyError("x", 11000, {}), ()),
        (errors.DuplicateKeyError("x", 11000), ()),
        (errors.BulkWriteError({"writeErrors": [{"code": 1}, {"code": 11000, "keyPattern": {"a": 1}}]}), ("a",)),
        (bulk(11000), ()),
    ],
    ids=["command", "before 4.4", "no details", "bulk", "bulk before 4.4"],
)
def test_a_duplicate_has_the_fields_that_the_server_names(error, fields):
    assert translation(error).fields == fields


# -- a standalone server


@pytest.fixture(scope="module")
def standalone_uri(mongod_uri, tmp_path_factory):
    """A mongod without a replica set; `mongod_uri` skips or fails where there is none."""
    program = find_mongod()
    if program is None:
        pytest.skip("there is a server, but no mongod to start")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = tmp_path_factory.mktemp("standalone")
    options = ["--dbpath", str(data), "--port", str(port), "--bind_ip", "127.0.0.1", "--nounixsocket"]
    options += ["--wiredTigerCacheSizeGB", "0.25", "--setParameter", "diagnosticDataCollectionEnabled=false"]
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            with MongoClient("127.0.0.1", port, serverSelectionTimeoutMS=30_000) as client:
                client.admin.command("ping")
            yield f"mongodb://127.0.0.1:{port}/"
        finally:
            process.terminate()


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
        assert [standalone.sorts_pushes(), standalone.counts_locks()] == [False, False]
        standalone.transaction(lambda: standalone.delete_many("things", {"_id": 2}))
    assert whole(standalone) == [{"_id": 1}, {"_id": 3, "a": 1, "b": 2}]
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
    assert (scope.committed, whole(standalone)) == (True, [{"_id": 1}])


@pytest.mark.parametrize("limit", [0, 40])
def test_large_documents_come_by_the_replies_of_the_server(mongo_database, limit):
    storage = MongoStorage(mongo_database)
    for number in range(40):
        storage.insert("big", [{"_id": number, "text": "x" * 1_000_000}])
    pieces = [len(piece) for piece in storage.find("big", {}, sort=[("_id", 1)], limit=limit).batches()]
    # A reply has 16 MB at most; PyMongo alone would gather 101 documents before it gave one.
    assert (sum(pieces), max(pieces) <= 16) == (40, True)


def test_small_documents_come_in_pieces_of_101(mongo_database):
    storage = MongoStorage(mongo_database)
    storage.insert("small", [{"_id": number} for number in range(250)])
    pieces = [[one["_id"] for one in piece] for piece in storage.find("small", {}, sort=[("_id", 1)]).batches()]
    assert ([len(piece) for piece in pieces if piece], sum(pieces, [])) == ([101, 101, 48], list(range(250)))
