"""`odm.after_commit`: once, after the outermost commit, whoever began it, and never after a rollback."""

from __future__ import annotations

import logging
import threading

import pytest

from gatewayfw.errors import DefinitionError, DuplicateKey, UsageError, ValidationError
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, integer, string
from gatewayfw.settings import Settings

UNIQUE = {"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}}


def make_odm(storage):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(storage)
    odm.things = odm.new_model("thing", {"name": string(), "n": integer()}, options=UNIQUE)
    return odm


@pytest.fixture
def odm(storage):
    """Things with unique names in an empty database."""
    return make_odm(storage)


@pytest.fixture
def seen(odm):
    """What was in the database when functions were called; ``seen.note`` is such a function."""

    class Seen(list):
        def note(self):
            self.append(sorted(one["name"] for one in odm.things.find(projection={"name": 1})))

    return Seen()


def add(odm, name, n=0):
    odm.things.insert_one(doc={"name": name, "n": n})


def test_it_is_called_after_the_commit(odm, seen):
    def work():
        odm.after_commit(seen.note)
        add(odm, "a")
        return list(seen)

    assert odm.transaction(work) == []
    assert seen == [["a"]]


def test_outside_of_a_transaction_it_is_called_at_once(odm, seen):
    odm.after_commit(seen.note)
    add(odm, "a")
    odm.after_commit(seen.note)
    assert seen == [[], ["a"]]


@pytest.mark.parametrize("fail", ["act", "database", "validation"])
def test_after_a_rollback_it_is_not_called(odm, seen, fail):
    add(odm, "taken")

    def work():
        odm.after_commit(seen.note)
        add(odm, "a")
        if fail == "act":
            raise RuntimeError
        add(odm, "taken" if fail == "database" else 5)

    with pytest.raises((RuntimeError, DuplicateKey, ValidationError)):
        odm.transaction(work)
    assert seen == []
    assert odm.things.count() == 1


def test_a_nested_transaction_waits_for_the_outermost(odm, seen):
    def inner():
        add(odm, "inner")
        odm.after_commit(seen.note)

    def outer():
        odm.transaction(inner)
        add(odm, "outer")

    odm.transaction(outer)
    assert seen == [["inner", "outer"]]


def test_another_gateways_transaction_on_the_same_storage_is_the_outermost(odm, seen, storage):
    other = make_odm(storage)

    def inner():
        add(odm, "inner")
        odm.after_commit(seen.note)
        return list(seen)

    def outer():
        before = other.transaction(lambda: odm.transaction(inner))
        add(other, "outer")
        return before + seen

    assert other.transaction(outer) == []
    assert seen == [["inner", "outer"]]


def test_in_anothers_failed_transaction_it_is_not_called(odm, seen, storage):
    def outer():
        odm.transaction(lambda: odm.after_commit(seen.note))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        make_odm(storage).transaction(outer)
    assert seen == []


def test_an_exception_does_not_hide_the_success(odm, seen, caplog):
    def fail():
        raise OSError("no mail server")

    def work():
        odm.after_commit(fail)
        odm.after_commit(seen.note)
        add(odm, "a")
        return "done"

    with caplog.at_level(logging.ERROR, "gatewayfw.storage"):
        assert odm.transaction(work) == "done"
        assert seen == [["a"]]
    assert "OSError: no mail server" in caplog.text


def test_a_transaction_that_begins_again_registers_once(odm, seen, storage):
    add(odm, "a")
    attempts, blocked, go = [], threading.Event(), threading.Event()
    rival = make_odm(storage)

    def work():
        attempts.append(1)
        odm.things.find_one({"name": "a"})
        odm.after_commit(seen.note)
        if len(attempts) == 1:
            blocked.set()
            go.wait(60)
        odm.things.find_one_and_update(filter={"name": "a"}, update={"$inc": {"n": 1}})

    def disturb():
        blocked.wait(60)
        if storage.multi_process:  # in memory it would wait for the end of the transaction
            rival.things.find_one_and_update(filter={"name": "a"}, update={"$inc": {"n": 10}})
        go.set()

    thread = threading.Thread(target=disturb)
    thread.start()
    odm.transaction(work)
    thread.join()
    assert seen == [["a"]]
    assert len(attempts) == (2 if storage.multi_process else 1)


def test_a_function_may_write_and_begin_transactions(odm, seen):
    def mail():
        odm.transaction(lambda: [add(odm, "sent"), odm.after_commit(seen.note)])

    odm.transaction(lambda: [add(odm, "a"), odm.after_commit(mail)])
    assert seen == [["a", "sent"]]


async def asynchronous():
    """Do nothing unless awaited."""


def generator():
    yield


@pytest.mark.parametrize("fn", [None, 5, asynchronous, generator])
def test_what_would_not_run_is_refused(odm, fn):
    with pytest.raises(DefinitionError) as raised:
        odm.after_commit(fn)
    assert raised.value.message == "after_commit: expected a plain function, not a generator or async one"


def test_a_transaction_of_the_storage_itself_is_refused(odm, seen, storage):
    with pytest.raises(UsageError, match="was not begun by odm.transaction"):
        storage.transaction(lambda: odm.after_commit(seen.note))
    assert seen == []


@pytest.mark.parametrize(
    ("upkeep", "name"),
    [
        (lambda odm: odm.work(), "odm.work"),
        (lambda odm: list(odm.integrity.check()), "odm.integrity"),
        (lambda odm: list(odm.integrity.repair()), "odm.integrity"),
    ],
    ids=["work", "check", "repair"],
)
def test_upkeep_is_refused_inside_a_transaction(odm, upkeep, name):
    def work():
        with pytest.raises(UsageError) as raised:
            upkeep(odm)
        odm.after_commit(lambda: upkeep(odm))
        return raised.value.message

    assert odm.transaction(work) == f"{name}: not inside a transaction"
