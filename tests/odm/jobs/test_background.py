"""The loop over jobs, and the thread: one per process, for as long as its owner lives."""

from __future__ import annotations

import gc
import logging
import threading
import time
from types import SimpleNamespace

import pytest

from gatewayfw.errors import Unavailable
from gatewayfw.odm.jobs import background
from gatewayfw.odm.jobs.background import JobThread, JobWorker
from gatewayfw.odm.jobs.fan_out import Drained
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from tests.odm.noted import note_commands
from tests.waiting import wait_until


class Owner:
    """Counts how often it was asked to work; the first answers, seconds to rest, are given."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), threading.Semaphore(0)

    def work(self):
        answer = self.answers.pop(0) if self.answers else 60.0
        self.asked.release()
        if isinstance(answer, Exception):
            raise answer
        return answer


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "gatewayfw-jobs"]


def ends(thread):
    thread.join(60)
    return not thread.is_alive()


def test_it_looks_at_once_and_when_woken():
    owner = Owner()
    thread = JobThread(owner.work)
    thread.start()
    assert owner.asked.acquire(timeout=60)
    assert not owner.asked.acquire(timeout=0.1)
    thread.wake()
    assert owner.asked.acquire(timeout=60)


def test_it_looks_again_when_the_work_says_or_soon_after_a_failure(monkeypatch):
    monkeypatch.setattr(background, "SHORT_PAUSE", 0.01)
    owner = Owner(0.01, Unavailable())
    JobThread(owner.work).start()
    assert [owner.asked.acquire(timeout=60) for _ in range(3)] == [True] * 3
    assert not owner.asked.acquire(timeout=0.1)


class Turns(threading.Event):
    """An event that comes at once for so many turns, and notes for how long it is waited for."""

    def __init__(self, most):
        super().__init__()
        self.most, self.waited = most, []

    def wait(self, timeout=None):
        self.waited.append(timeout)
        return len(self.waited) <= self.most or super().wait(5)


def test_it_rests_as_long_as_the_last_work_asks_for(monkeypatch, caplog):
    before, turns = set(threads()), Turns(5)
    monkeypatch.setattr(background, "threading", SimpleNamespace(Event=lambda: turns, Thread=threading.Thread))
    owner = Owner(7.0, 2.0, Unavailable(), KeyError("odd"), 3.0)
    JobThread(owner.work).start()
    assert [owner.asked.acquire(timeout=60) for _ in range(5)] == [True] * 5
    assert wait_until(lambda: len(turns.waited) == 6)
    del owner
    gc.collect()
    assert all(ends(thread) for thread in set(threads()) - before)
    assert turns.waited == [0.0, 7.0, 2.0, 1.0, 10.0, 3.0]


def test_the_first_process_of_a_machine_has_a_thread_too(monkeypatch):
    before = set(threads())
    monkeypatch.setattr(background, "os", SimpleNamespace(getpid=lambda: 1))
    owner = Owner()
    JobThread(owner.work).start()
    [started] = set(threads()) - before
    assert started.daemon


def test_a_process_starts_one_thread_and_a_child_its_own(monkeypatch):
    before = set(threads())
    owner = Owner()
    thread = JobThread(owner.work)
    thread.start()
    thread.start()
    assert len(set(threads()) - before) == 1
    monkeypatch.setattr(background, "os", SimpleNamespace(getpid=lambda: -1))
    thread.start()
    assert len(set(threads()) - before) == 2


def test_the_thread_ends_with_its_owner():
    owner = Owner()
    thread = JobThread(owner.work)
    before = set(threads())
    thread.start()
    [started] = set(threads()) - before
    assert owner.asked.acquire(timeout=60)
    time.sleep(0.05)
    del owner
    gc.collect()
    assert ends(started)


def test_the_thread_survives_an_error_of_any_kind(monkeypatch, caplog):
    monkeypatch.setattr(background, "PAUSE", 0.01)
    owner = Owner(KeyError("odd"))
    JobThread(owner.work).start()
    assert [owner.asked.acquire(timeout=60) for _ in range(2)] == [True] * 2
    [record] = caplog.records
    lines = record.getMessage().splitlines()
    assert record.name == "gatewayfw.odm"
    assert (lines[:2], lines[-1]) == (
        ["the work on jobs failed", "Traceback (most recent call last):"],
        "KeyError: 'odd'",
    )


def test_it_says_once_that_the_work_waits(monkeypatch, caplog):
    monkeypatch.setattr(background, "SHORT_PAUSE", 0.01)
    owner = Owner(Unavailable(), Unavailable(), Unavailable(), 0.01, Unavailable(), 0.01)
    JobThread(owner.work).start()
    assert [owner.asked.acquire(timeout=60) for _ in range(7)] == [True] * 7
    waits = "job worker paused: service unavailable, try again"
    assert [record.getMessage() for record in caplog.records] == [waits, waits]


def test_only_a_thread_that_was_started_is_woken():
    before = set(threads())
    owner = Owner()
    JobThread(owner.work).wake()
    assert set(threads()) <= before
    assert owner.asked.acquire(blocking=False) is False


@pytest.mark.mongo
def test_it_does_not_connect_a_closed_storage_again(mongod_uri, mongo_database):
    storage = MongoStorage(mongod_uri.replace("/?", f"/{mongo_database.name}?"))
    worker = JobWorker(Schemas(Settings()), storage, 1)
    assert worker.attend() == 10.0
    assert not storage.is_closed()
    storage.close()
    assert worker.attend() == 10.0
    assert storage.is_closed()
    assert worker.work() == 0
    assert not storage.is_closed()
    storage.close()


# -- the loop


def test_three_jobs_in_a_row_that_get_no_answer_end_a_run(world, monkeypatch):
    worker, tried = JobWorker(world.odm.schemas, world.storage, 0), []

    def claim(key, worker):
        tried.append(key)
        raise Unavailable

    monkeypatch.setattr(worker.jobs, "claim", claim)
    assert (worker.drain("abcde", 30).left, tried) == (set("de"), list("abc"))
    commands = note_commands(world.storage)
    assert (worker.drain("ab", 30).left, tried[3:]) == (set(), list("ab"))
    assert [command for command in commands if command[0] == "count"] == [
        ("count", "_gw_jobs", {"_id": key}, 1) for key in "ab"
    ]


def test_a_job_that_cannot_be_released_is_left_and_its_lease_expires(world, monkeypatch, caplog):
    worker = JobWorker(world.odm.schemas, world.storage, 0)

    def release(key, worker, failures):
        raise Unavailable

    monkeypatch.setattr(worker.jobs, "release", release)
    with caplog.at_level(logging.DEBUG, "gatewayfw.odm"):
        drained = worker.drain(["a"], 30)
    assert (drained.left, caplog.messages) == ({"a"}, ["the lease of job a will expire"])


def test_a_worker_begins_with_a_limit_and_nothing_done(world):
    worker = JobWorker(world.odm.schemas, world.storage, 3)
    assert worker.limit == 3
    assert worker.waits is False
    assert worker.work() == 0
    assert Drained() == Drained(set(), set(), {})
