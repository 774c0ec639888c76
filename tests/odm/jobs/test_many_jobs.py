"""What very many jobs cost those who look at them, and jobs that fail again and again."""

from __future__ import annotations

import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest
from bson import ObjectId

from gatewayfw.errors import Timeout
from gatewayfw.odm import Odm
from gatewayfw.odm.jobs import background
from gatewayfw.odm.jobs.background import PAUSE, SHORT_PAUSE, JobWorker
from gatewayfw.odm.jobs.fan_out import FanOut
from gatewayfw.odm.jobs.records import COLLECTION, MOST_COUNTED, Jobs, now
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings


def towns(db, embeds="land"):
    """Return an Odm whose cities embed a land, or another model."""
    odm = Odm(Schemas(Settings()), Settings(inline_limit=0))
    odm.set_db(db)
    names = {"name": string()}
    for model in ("land", "planet"):
        odm.new_model(model, names)
    if embeds is not None:
        odm.new_model("city", names, {"of": {"schemaName": embeds, "type": "single"}})
    return odm


def stored(number, **given):
    """Return a job as it is stored, which a process that knows cities of lands can do."""
    source = {"kind": "copies", "model": "land", "id": ObjectId(), "relation": "city.of", "of": "land"}
    plain = {"type": "single", "optional": False, "v": 1, "token": ObjectId(), "after": None, "waited": False}
    rest = {"again": False, "targets": [], "since": datetime(2026, 1, 1), "failures": 0, "lease": None}
    return {"_id": f"job {number}", **source, "needs": "copies city.of land", **plain, **rest, **given}


def resting():
    return {"worker": None, "until": now() + timedelta(hours=1)}


#: Jobs that a process cannot do now, by why that is.
IDLE = {
    "of a relation that is not known here": lambda: {"relation": "tree.leaf", "needs": "copies tree.leaf land"},
    "of a relation to another model here": lambda: {"of": "planet", "needs": "copies city.of planet"},
    "of a kind that is not known here": lambda: {"kind": "colours", "needs": "colours city.of land"},
    "that nobody can read": lambda: {"needs": None, "token": "strange"},
    "that have failed": lambda: {"failures": 9, "lease": resting()},
    "that others work on": lambda: {"lease": resting() | {"worker": "other"}},
}


@contextmanager
def examined(database):
    """Give the commands about jobs, each with the documents and index keys that it examined, after the block."""
    found = []
    database.command("profile", 2)
    try:
        yield found
    finally:
        database.command("profile", 0)
        for entry in database["system.profile"].find({"ns": f"{database.name}.{COLLECTION}"}):
            found.append((entry["docsExamined"], entry["keysExamined"]))
        database["system.profile"].drop()


@pytest.fixture
def filled(mongo_database):
    """A function that stores very many jobs, in a collection with its indexes, and gives the Odm of cities."""

    def fill(*kinds, number=2_000):
        odm = towns(mongo_database)
        odm.ready()
        rows = (stored(at, **kinds[at % len(kinds)]) for at in range(number))
        mongo_database[COLLECTION].insert_many(rows, ordered=False)
        return odm

    return fill


@pytest.mark.mongo
@pytest.mark.parametrize("why", IDLE)
def test_jobs_that_cannot_be_done_cost_nothing(filled, mongo_database, why):
    odm = filled(IDLE[why]())
    with examined(mongo_database) as seen:
        assert odm.database.worker.attend() == PAUSE
    assert len(seen) <= 3
    assert {docs for docs, _ in seen} == {0}
    assert max(keys for _, keys in seen) < 10


@pytest.mark.mongo
def test_who_counts_jobs_stops_at_a_thousand(filled, mongo_database):
    odm = filled({})
    odm.readiness.state()
    with examined(mongo_database) as seen:
        assert Jobs(odm.storage).pending() == (MOST_COUNTED, datetime(2026, 1, 1))
    assert sorted(seen) == [(0, 1_000), (1, 1)]
    assert odm.readiness.state().jobs == MOST_COUNTED


@pytest.mark.mongo
def test_a_worker_looks_up_no_more_than_it_is_about_to_do(filled, mongo_database):
    odm = filled({})
    with examined(mongo_database) as seen, pytest.raises(KeyError):
        odm.database.worker.work(on_progress=stop)
    assert max(docs for docs, _ in seen) == background.AT_ONCE


def stop(_job):
    raise KeyError


@pytest.mark.mongo
def test_the_memory_of_a_worker_does_not_grow_with_the_jobs(filled):
    odm = filled({})
    odm.database.worker.work(0.2)  # what is made once
    assert memory_of(lambda: (odm.database.worker.work(0.5), odm.readiness.state())) < 1_000_000


@pytest.mark.mongo
@pytest.mark.slow
def test_a_hundred_thousand_jobs_cost_no_more(filled, mongo_database):
    odm = filled(*(given() for given in IDLE.values()), number=100_000)
    odm.readiness.state()
    with examined(mongo_database) as seen:
        most = memory_of(lambda: (odm.database.worker.attend(), Jobs(odm.storage).pending()))
    assert sorted(seen)[-2:] == [(0, 1_000), (1, 1)]
    assert sum(docs for docs, _ in seen) == 1
    assert most < 1_000_000


def memory_of(act):
    """Return the bytes of Python that something took at most at one time."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# -- versions side by side


@pytest.mark.parametrize("embeds", [None, "planet"])
def test_an_old_version_leaves_the_jobs_of_a_new_one_to_it(storage, embeds):
    old, new = towns(storage, embeds), towns(storage)
    land = new.model("land").insert_one({"name": "old"})["_id"]
    new.model("city").insert_one({"name": "city"}, relations={"of": {"_ids": land}})
    with pytest.raises(KeyError), new.leave_to_jobs():
        new.model("land").find_one_and_update({"_id": land}, {"$set": {"name": "new"}})
        raise KeyError
    before = next(storage.find(COLLECTION, {}))
    for _ in range(2):
        assert old.database.worker.attend() == PAUSE
    assert list(storage.find(COLLECTION, {})) == [before]
    assert new.work() == 0
    assert [city["of"]["name"] for city in storage.find("city", {})] == ["new"]


def test_no_relation_waits_for_all_jobs_of_another(storage):
    storage.insert(COLLECTION, [stored(number, needs="a") for number in range(9)] + [stored("last", needs="b")])
    found = [Jobs(storage).due(["a", "b"], 3) for _ in range(60)]
    assert {len(keys) for keys in found} == {3}
    assert any("job last" in keys for keys in found)
    assert Jobs(storage).due([], 3) == []


def test_workers_that_look_at_once_do_each_job_once(storage, monkeypatch):
    done = []
    monkeypatch.setattr(FanOut, "run", lambda self, job, *_: done.append(job.key))
    storage.insert(COLLECTION, [stored(number) for number in range(150)])
    workers = [JobWorker(towns(storage).schemas, storage, 3) for _ in range(4)]
    with ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(JobWorker.attend, workers))
    assert sorted(done) == sorted(f"job {number}" for number in range(150))
    assert storage.count(COLLECTION, {}) == 0


# -- jobs that fail


@pytest.fixture
def failing(storage, monkeypatch):
    """A worker whose one job fails while its list has an error; the list of the moments at which it was tried."""
    storage.insert(COLLECTION, [stored("bad")])
    worker = JobWorker(towns(storage).schemas, storage, 3)
    worker.errors, worker.tried, worker.at = [], [], now()
    monkeypatch.setattr("gatewayfw.odm.jobs.records.now", lambda: worker.at)

    def run(*_):
        worker.tried.append(worker.at)
        if worker.errors:
            raise worker.errors[0]

    monkeypatch.setattr(FanOut, "run", run)
    return worker


def test_a_job_that_fails_again_and_again_is_tried_less_and_less(failing):
    failing.errors.append(KeyError("poison"))
    while len(failing.tried) < 12:
        failing.attend()
        rest = 2 ** len(failing.tried) / 2
        failing.at += timedelta(seconds=min(rest, 300) - 0.1)
        failing.attend()
        failing.at += timedelta(seconds=0.2)
    times = [(moment - failing.tried[0]).total_seconds() for moment in failing.tried]
    rests = [round(late - early) for early, late in pairwise(times)]
    assert rests == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


@pytest.mark.parametrize(("failures", "rest"), [(0, SHORT_PAUSE), (3, SHORT_PAUSE), (4, PAUSE), (10**6, PAUSE)])
def test_the_thread_looks_again_soon_only_if_the_job_will_be_due(failing, storage, failures, rest):
    failing.errors.append(KeyError("poison"))
    storage.update_one(COLLECTION, {"_id": "job bad"}, {"$set": {"failures": failures}}, ())
    assert failing.attend() == rest


def test_a_job_that_has_failed_is_told_and_rests_for_all(failing, storage):
    failing.errors.append(Timeout())
    assert failing.work() == 1
    assert failing.work() == 1
    assert (len(failing.tried), [(job.failures, job.leased) for job in failing.jobs.listed()]) == (1, [(1, None)])
    assert failing.jobs.claim("job bad", "other") is None


def test_a_job_that_has_failed_is_tried_at_once_if_asked(failing):
    failing.errors.append(KeyError("poison"))
    failing.work()
    failing.errors.clear()
    failing.jobs.wake(failing.needs)
    assert (failing.work(), len(failing.tried)) == (0, 2)


def test_a_change_ends_the_rest_of_a_job_and_no_lease(failing, storage):
    relation = towns(storage).schemas.get_schema("city").relations["of"]
    land = ObjectId()
    key = failing.jobs.put("copies", ("land", land), relation, 1)
    failing.errors.append(KeyError("poison"))
    failing.work()
    failing.jobs.put("copies", ("land", land), relation, 2)
    claimed = failing.jobs.claim(key, "me")
    assert (claimed.v, claimed.failures) == (2, 0)
    failing.jobs.put("copies", ("land", land), relation, 3)
    assert failing.jobs.claim(key, "other") is None


def test_progress_ends_a_row_of_failures(failing, storage):
    storage.update_one(COLLECTION, {"_id": "job bad"}, {"$set": {"failures": 5}}, ())
    claimed = failing.jobs.claim("job bad", "me")
    assert (claimed.failures, failing.jobs.advance(claimed, {"waited": True}, "me").failures) == (5, 0)


def test_what_cannot_be_read_though_it_is_for_this_version_rests(failing, storage):
    storage.update_one(COLLECTION, {"_id": "job bad"}, {"$set": {"token": "strange"}}, ())
    assert (failing.work(), failing.attend(), failing.tried) == (1, PAUSE, [])
    assert failing.jobs.due(["copies city.of land"], 3) == []


def test_running_out_of_time_is_no_failure(failing, storage, monkeypatch):
    passed = []
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + sum(passed))
    monkeypatch.setattr("gatewayfw.odm.jobs.background.time", clock)

    def run(*_):
        passed.append(60)
        raise Timeout

    monkeypatch.setattr(FanOut, "run", run)
    assert failing.work(30.0) == 1
    assert [(job.failures, job.leased) for job in failing.jobs.listed()] == [(0, None)]
    assert failing.jobs.claim("job bad", "other") is not None


@pytest.mark.parametrize("error", [Timeout, KeyError])
def test_a_batch_that_had_little_time_fails_only_for_what_time_does_not_mend(failing, error):
    failing.errors.append(error())
    assert failing.work(5.0) == 1
    assert [job.failures for job in failing.jobs.listed()] == [0 if error is Timeout else 1]
