"""The records of idempotent acts in the database: how an attempt ends, and what is written then."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from gatewayfw.errors import DefinitionError, DuplicateKey, Timeout, Unavailable, UsageError
from gatewayfw.odm import Odm
from gatewayfw.odm.stored_replies import COLLECTION
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings

UNIQUE = {"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}}
LATER = datetime(2100, 1, 1)


def make_odm(storage):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(storage)
    odm.things = odm.new_model("thing", {"name": string()}, options=UNIQUE)
    return odm


@pytest.fixture
def odm(storage):
    """Things with unique names in an empty database."""
    return make_odm(storage)


def record(token="t1", **more):
    return {"_id": "r", "body": "b", "token": token, "expires": LATER, **more}


def records(odm):
    return list(odm.storage.find(COLLECTION, {}))


def never():
    raise AssertionError


def test_a_record_and_what_was_written_appear_together(odm):
    def answer():
        odm.things.insert_one(doc={"name": "a"})
        return {"status": 200}

    assert odm.replies.find("r") is None
    assert odm.replies.attempt(record(), answer, replace=None) == "DONE"
    assert odm.replies.find("r") == record(status=200)
    assert odm.things.count() == 1


@pytest.mark.parametrize("error", [RuntimeError, DuplicateKey, Timeout, KeyboardInterrupt])
def test_an_error_of_the_answer_leaves_neither(odm, error):
    def answer():
        odm.things.insert_one(doc={"name": "a"})
        raise error

    with pytest.raises(error):
        odm.replies.attempt(record(), answer, replace=None)
    assert records(odm) == []
    assert odm.things.count() == 0


def test_a_duplicate_in_the_answer_is_its_error(odm):
    odm.things.insert_one(doc={"name": "a"})

    def answer():
        odm.things.insert_one(doc={"name": "a"})
        return {}

    with pytest.raises(DuplicateKey) as raised:
        odm.replies.attempt(record(), answer, replace=None)
    assert raised.value.fields == ("name",)
    assert records(odm) == []


def test_who_finds_a_record_does_not_run(odm):
    odm.replies.attempt(record(), dict, replace=None)
    assert odm.replies.attempt(record("t2"), never, replace=None) == "DUPLICATE"
    assert records(odm) == [record()]


def test_only_the_record_that_was_seen_makes_room(odm):
    odm.replies.attempt(record(), dict, replace=None)
    assert odm.replies.attempt(record("t2"), never, replace="another") == "DUPLICATE"
    assert odm.replies.attempt(record("t2"), dict, replace="t1") == "DONE"
    assert records(odm) == [record("t2")]


def test_a_failure_keeps_the_record_that_would_have_made_room(odm):
    odm.replies.attempt(record(), dict, replace=None)
    with pytest.raises(AssertionError):
        odm.replies.attempt(record("t2"), never, replace="t1")
    assert records(odm) == [record()]


def test_who_meets_another_in_the_first_write_does_not_run(odm, storage):
    begun, go, outcomes = threading.Event(), threading.Event(), []
    rival = make_odm(storage)

    def slow():
        begun.set()
        go.wait(10)
        return {}

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(odm.replies.attempt, record(), slow, replace=None)
        begun.wait(10)
        second = threads.submit(lambda: outcomes.append(rival.replies.attempt(record("t2"), never, replace=None)))
        if storage.multi_process:
            second.result()
        go.set()
        second.result()
        assert first.result() == "DONE"
    assert outcomes == ["CONFLICT" if storage.multi_process else "DUPLICATE"]
    assert records(odm) == [record()]


@pytest.mark.parametrize("error", [Unavailable, Timeout])
def test_a_database_that_fails_in_the_first_write_is_no_other_request(odm, error, monkeypatch):
    def fail(*_):
        raise error

    assert odm.replies.find("r") is None
    with monkeypatch.context() as patched:
        patched.setattr(odm.storage, "insert", fail)
        with pytest.raises(error):
            odm.replies.attempt(record(), never, replace=None)
    assert records(odm) == []


@pytest.mark.mongo
def test_a_lost_connection_in_the_first_write_begins_it_again(mongo_database, monkeypatch):
    from gatewayfw.storage.mongo.transactions import _Conflict

    odm = make_odm(mongo_database)
    insert, failed = odm.storage.insert, []

    def lose(*given):
        if not failed:
            failed.append(given)
            raise _Conflict
        insert(*given)

    monkeypatch.setattr(odm.storage, "insert", lose)
    assert odm.replies.attempt(record(), dict, replace=None) == "DONE"
    assert len(failed) == 1
    assert records(odm) == [record()]


def test_records_are_found_by_id_and_end_by_themselves(odm, monkeypatch):
    found, find = [], odm.storage.find
    monkeypatch.setattr(odm.storage, "find", lambda *given, **keys: found.append((given, keys)) or find(*given, **keys))
    assert odm.replies.find("r") is None
    assert found[-1] == (("_gw_replies", {"_id": "r"}), {"limit": 1})
    (index,) = odm.storage.indexes("_gw_replies")
    assert (index.keys, index.options["expireAfterSeconds"]) == ((("expires", 1),), 0)


def test_a_record_with_its_token_proves_that_an_attempt_was_committed(odm, monkeypatch):
    given, transaction = [], odm.storage.transaction
    monkeypatch.setattr(odm.storage, "transaction", lambda *call: given.append(call) or transaction(*call))
    odm.replies.attempt(record(), dict, replace=None)
    assert given[0][1] == ("_gw_replies", {"_id": "r", "token": "t1"})


def test_nothing_may_be_done_inside_a_transaction(odm):
    message = "an idempotent act cannot be called with a key inside a transaction"
    for work in (lambda: odm.replies.find("r"), lambda: odm.replies.attempt(record(), dict, replace=None)):
        with pytest.raises(UsageError) as raised:
            odm.transaction(work)
        assert raised.value.message == message


def test_transactions_are_needed(odm, monkeypatch):
    monkeypatch.setattr(type(odm.storage), "has_transactions", lambda self: False)
    with pytest.raises(DefinitionError) as raised:
        odm.replies.find("r")
    needed = "idempotent acts need transactions, which a standalone MongoDB server does not have: run a replica set"
    assert raised.value.message == needed
