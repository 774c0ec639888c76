"""Transactions on MongoDB: conflicts, aborts, deadlines, unknown outcomes."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pymongo
import pytest
from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import AutoReconnect, ExecutionTimeout, OperationFailure

from gatewayfw.errors import (
    DuplicateKey,
    OutcomeUnknown,
    StorageError,
    Timeout,
    Unavailable,
)
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from gatewayfw.storage.mongo.connection import Connection
from gatewayfw.storage.terms import WriteConflict
from gatewayfw.testing.storage_suite.topic import LOCK, read_all
from tests.storage.mongo.commits import TRANSACTIONS, UNKNOWN, failing_commit, take_a_minute

TRANSIENT = "TransientTransactionError"


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
    assert read_all(storage) == [{"_id": 1, "n": 40}]


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

    assert (storage.transaction(work), read_all(storage)) == (2, [{"_id": 1, "n": 6}])


@pytest.mark.mongo
def test_a_conflict_that_was_caught_runs_the_function_again_too(storage):
    runs = []

    def work():
        runs.append(1)
        storage.count("things", {})
        if len(runs) == 1:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(storage.update_many, "things", {}, {"$set": {"n": 5}}).result()
            with pytest.raises(WriteConflict):
                storage.update_many("things", {}, {"$inc": {"n": 1}})
        else:
            storage.update_many("things", {}, {"$inc": {"n": 1}})

    storage.transaction(work)
    assert (len(runs), read_all(storage)) == (2, [{"_id": 1, "n": 6}])


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
    assert re.fullmatch(r"\d+ conflicts with other writers", error.reason)
    assert read_all(storage, "others") == []


CONFLICTS = {
    "a write": (OperationFailure("x", 112, {"errorLabels": [TRANSIENT]}), True),
    "another": (OperationFailure("x", 251, {"errorLabels": [TRANSIENT]}), False),
    "no server": (AutoReconnect("x", {"errorLabels": [TRANSIENT]}), False),
}


@pytest.mark.mongo
@pytest.mark.parametrize(("error", "of_writes"), CONFLICTS.values(), ids=CONFLICTS)
def test_what_the_driver_calls_transient_runs_the_function_again(storage, monkeypatch, error, of_writes):
    caught = []

    def fail(self, *_, **__):
        raise error

    def work():
        with monkeypatch.context() as patched:
            if not caught:
                patched.setattr("pymongo.database.Database.command", fail)
            try:
                return storage.count("things", {})
            except Unavailable as found:
                caught.append(isinstance(found, WriteConflict))
                raise

    assert (storage.transaction(work), caught) == (1, [of_writes])


@pytest.mark.mongo
@pytest.mark.parametrize(
    ("name", "reason"),
    [("a write", "conflicts with other writers"), ("another", "attempts that the server broke off")],
)
def test_the_log_is_told_what_ended_all_attempts(storage, monkeypatch, name, reason):
    def fail(self, *_, **__):
        raise CONFLICTS[name][0]

    def work():
        with monkeypatch.context() as patched:
            patched.setattr("pymongo.database.Database.command", fail)
            storage.count("things", {})

    with storage.deadline(0.5), pytest.raises(Unavailable) as refused:
        storage.transaction(work)
    assert re.fullmatch(rf"\d+ {reason}", refused.value.reason)


@pytest.mark.mongo
@pytest.mark.parametrize(("error", "runs"), [(LookupError, 2), (KeyboardInterrupt, 1)])
def test_a_conflict_that_became_another_error_runs_the_function_again(storage, monkeypatch, error, runs):
    ran = []

    def fail(self, *_, **__):
        raise CONFLICTS["a write"][0]

    def work():
        ran.append(1)
        with monkeypatch.context() as patched:
            if len(ran) == 1:
                patched.setattr("pymongo.database.Database.command", fail)
            try:
                storage.count("things", {})
            except Unavailable:
                raise error from None

    with nullcontext() if runs == 2 else pytest.raises(error):
        storage.transaction(work)
    assert len(ran) == runs


@pytest.mark.mongo
def test_a_transaction_reads_from_the_primary_whatever_its_client_prefers(uri):
    with MongoClient(uri, readPreference="secondaryPreferred") as client:
        other = MongoStorage(client.get_default_database())
        assert other.transaction(lambda: other.count("things", {})) == 0


@pytest.fixture
def limits(monkeypatch):
    """The seconds that the driver is given each time."""
    given, timeout = [], pymongo.timeout
    counted = SimpleNamespace(timeout=lambda seconds: given.append(seconds) or timeout(seconds))
    monkeypatch.setattr("gatewayfw.storage.mongo.connection.pymongo", counted)
    return given


@pytest.mark.mongo
def test_an_abort_has_a_deadline_of_its_own(storage, limits):
    with pytest.raises(KeyError), storage.deadline(20):
        storage.transaction(lambda: storage.count("things", {}) and {}["x"])
    assert limits == [0.75]


@pytest.mark.mongo
def test_a_commit_has_the_time_left_and_the_look_at_its_outcome_a_moment(storage, limits, monkeypatch):
    calls = failing_commit(monkeypatch, UNKNOWN, really=True)
    passed = SimpleNamespace(monotonic=lambda: 19.0 * len(calls), sleep=lambda _: None)
    monkeypatch.setattr(f"{TRANSACTIONS}.time", passed)
    with storage.deadline(20) as scope:
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]), proof=("others", {"_id": 1}))
    assert scope.committed is True
    assert limits == pytest.approx([20, 1, 0.4], rel=0.2, abs=0.5)
    assert limits[-1] == 0.4


@pytest.mark.mongo
def test_an_outcome_that_cannot_be_looked_at_is_unknown(storage, monkeypatch):
    unanswered_commit(monkeypatch, really=True)

    def fail(self, *_, **__):
        raise AutoReconnect("x")

    monkeypatch.setattr("pymongo.collection.Collection.find_one", fail)
    with pytest.raises(OutcomeUnknown):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]), proof=("others", {"_id": 1}))


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
    assert read_all(storage, "others") == []


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
    def work():
        storage.insert("others", [{"_id": 1}])
        skipped = scope.remaining() - 0.1
        late = SimpleNamespace(monotonic=lambda: time.monotonic() + skipped)
        patch.setattr("gatewayfw.storage.deadlines.time", late)

    with monkeypatch.context() as patch, storage.deadline(20) as scope, pytest.raises(Timeout):
        storage.transaction(work)
    assert scope.committed is False
    assert read_all(storage, "others") == []
    assert free_at_once()


def unanswered_commit(monkeypatch, really):
    """Let a commit get no answer, whether it happened or not, until its time is over."""
    take_a_minute(monkeypatch, failing_commit(monkeypatch, UNKNOWN, really))


@pytest.mark.mongo
@pytest.mark.parametrize("really", [False, True], ids=["not committed", "committed"])
def test_a_commit_without_an_answer_is_unknown(storage, monkeypatch, really):
    unanswered_commit(monkeypatch, really)
    with storage.deadline(20) as scope, pytest.raises(OutcomeUnknown):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert scope.committed is False


@pytest.mark.mongo
def test_a_proof_that_exists_makes_a_commit_without_an_answer_a_success(storage, monkeypatch):
    unanswered_commit(monkeypatch, really=True)
    done = storage.transaction(lambda: storage.insert("others", [{"_id": 1}]) or "done", proof=("others", 1))
    assert (done, read_all(storage, "others")) == ("done", [{"_id": 1}])


@pytest.mark.mongo
def test_a_proof_that_does_not_exist_leaves_the_outcome_unknown(storage, monkeypatch):
    unanswered_commit(monkeypatch, really=False)
    with pytest.raises(OutcomeUnknown):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]), proof=("others", 1))


@pytest.mark.mongo
@pytest.mark.parametrize("really", [False, True], ids=["not committed", "committed"])
def test_an_unknown_commit_is_sent_again(storage, monkeypatch, really):
    calls = failing_commit(monkeypatch, UNKNOWN, really, times=1)
    storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert (len(calls), read_all(storage, "others")) == (2, [{"_id": 1}])


@pytest.mark.mongo
@pytest.mark.parametrize(
    ("deadline", "least", "slow"), [(20, 0.05, 0.5), (1, 1.5, 1.2)], ids=["the deadline", "a moment at least"]
)
def test_a_slow_commit_has_what_is_left(storage, monkeypatch, deadline, least, slow):
    answer, calls = ClientSession.commit_transaction, failing_commit(monkeypatch, UNKNOWN, really=False)
    monkeypatch.setattr("gatewayfw.storage.mongo.transactions.ENDING", least)
    fail, begun = ClientSession.commit_transaction, []

    def commit(session):
        begun[:] = begun or [time.monotonic()]
        if time.monotonic() - begun[0] < slow:
            fail(session)
        answer(session)

    monkeypatch.setattr(ClientSession, "commit_transaction", commit)
    with storage.deadline(deadline):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert len(calls) > 1
    assert read_all(storage, "others") == [{"_id": 1}]


@pytest.mark.mongo
def test_a_commit_that_conflicts_runs_the_function_again(storage, monkeypatch):
    runs = []
    failing_commit(monkeypatch, "TransientTransactionError", really=False, times=1)
    storage.transaction(lambda: runs.append(1) or storage.insert("others", [{"_id": 1}]))
    assert (len(runs), read_all(storage, "others")) == (2, [{"_id": 1}])


def pauses(monkeypatch):
    """Return the pauses from now on, each the longest possible; they take no time."""
    found = []
    monkeypatch.setattr(f"{TRANSACTIONS}.random", SimpleNamespace(random=lambda: 1.0))
    monkeypatch.setattr(f"{TRANSACTIONS}.time", SimpleNamespace(monotonic=time.monotonic, sleep=found.append))
    return found


@pytest.mark.mongo
def test_pauses_after_conflicts_grow_to_a_fifth_of_a_second(storage, monkeypatch):
    found = pauses(monkeypatch)
    failing_commit(monkeypatch, "TransientTransactionError", really=False, times=11)
    storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    milliseconds = [round(1000 * pause, 1) for pause in found]
    assert milliseconds == [7.5, 11.2, 16.9, 25.3, 38.0, 57.0, 85.4, 128.1, 192.2, 200.0, 200.0]


@pytest.mark.mongo
def test_pauses_between_commits_without_an_answer_are_short(storage, monkeypatch):
    found = pauses(monkeypatch)
    failing_commit(monkeypatch, UNKNOWN, really=True, times=2)
    storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))
    assert found == [0.02, 0.02]


@pytest.mark.mongo
@pytest.mark.parametrize(("seconds", "patience"), [(100, 1.0), (2, 0.5)])
def test_threads_queue_for_a_part_of_the_time_left_a_second_at_most(storage, monkeypatch, seconds, patience):
    queued = []

    @contextmanager
    def held(_stripes, documents, patience):
        queued.append((documents, patience))
        yield

    monkeypatch.setattr("gatewayfw.storage.mongo.transactions.Stripes.held", held)
    with storage.deadline(seconds):
        storage.transaction(lambda: None, hot=[("things", 1)])
    assert queued == [([("things", 1)], pytest.approx(patience, rel=0.2))]
    assert queued[0][1] <= patience


@pytest.mark.parametrize(
    ("hello", "found"),
    [({"setName": "rs0"}, True), ({"msg": "isdbgrid"}, True), ({"msg": "other"}, False), ({}, False)],
)
@pytest.mark.mongo
def test_replica_sets_and_mongos_have_transactions(mongo_database, monkeypatch, caplog, hello, found):
    storage = MongoStorage(mongo_database)
    storage.count("things", {})
    monkeypatch.setattr("pymongo.database.Database.command", lambda self, *_, **__: hello)
    assert [storage.has_transactions(), storage.has_transactions()] == [found, found]
    assert [(name, level) for name, level, _ in caplog.record_tuples] == [("gatewayfw.storage", 30)] * (not found)


@pytest.mark.mongo
def test_a_proof_is_looked_for_without_its_content(noted, commands, monkeypatch):
    take_a_minute(monkeypatch, failing_commit(monkeypatch, UNKNOWN, really=True))
    noted.transaction(lambda: noted.insert("others", [{"_id": 1}, {"_id": 2}]), proof=("others", {"_id": 2}))
    [look] = [sent for sent in commands.sent if "find" in sent]
    assert look["find"] == "others"
    assert look["filter"] == {"_id": 2}
    assert look["projection"] == {"_id": 1}


@pytest.mark.mongo
def test_a_transaction_is_committed_by_the_majority(noted, commands):
    noted.transaction(lambda: noted.update_many("things", {"_id": 1}, {"$set": {"a": 1}}))
    begun, ended = [sent for sent in commands.sent if "hello" not in sent]
    assert begun["startTransaction"] is True
    assert begun["readConcern"]["level"] == "snapshot"
    assert (ended["commitTransaction"], ended["writeConcern"]["w"]) == (1, "majority")


@pytest.mark.parametrize("settings", [None, Settings(server_selection_timeout=3, operation_timeout=4)])
def test_times_are_those_of_the_settings(monkeypatch, settings):
    found = []

    def connect(database, known):
        found.append((database, known.server_selection_timeout, known.operation_timeout))
        return Connection(database, known)

    monkeypatch.setattr(f"{TRANSACTIONS}.Connection", connect)
    MongoStorage("mongodb://h/db", settings=settings)
    assert found == [("mongodb://h/db", *((2.0, 30.0) if settings is None else (3, 4)))]


@pytest.mark.mongo
def test_after_a_commit_that_lost_the_server_the_next_use_asks_it_first(noted, commands, monkeypatch):
    lost, commit = [AutoReconnect("x", {"errorLabels": [UNKNOWN]})], ClientSession.commit_transaction

    def commit_late(session):
        if lost:
            raise lost.pop()
        commit(session)

    monkeypatch.setattr(ClientSession, "commit_transaction", commit_late)
    noted.transaction(lambda: noted.insert("others", [{"_id": 1}]))
    commands.sent.clear()
    assert noted.count("others", {}) == 1
    assert [next(iter(sent)) for sent in commands.sent] == ["listCollections", "aggregate"]


@pytest.mark.mongo
def test_a_commit_that_takes_too_long_is_a_timeout(storage, monkeypatch):
    def expire(session):
        raise ExecutionTimeout("x", 50)

    monkeypatch.setattr(ClientSession, "commit_transaction", expire)
    with pytest.raises(Timeout):
        storage.transaction(lambda: storage.insert("others", [{"_id": 1}]))


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
