"""Jobs as they are stored: one for each source and relation, held by one worker."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from bson import ObjectId

from gatewayfw.errors import DuplicateKey
from gatewayfw.odm.jobs import records
from gatewayfw.odm.jobs.records import COLLECTION, Job, Jobs, now
from gatewayfw.schemas import RelatedRelation, Relation
from tests.odm.noted import note_commands

A, B = ObjectId("a" * 24), ObjectId("b" * 24)
ORGS = Relation("org", "multiple", name="orgs", model="user")
USERS = RelatedRelation(type="multiple", name="users", relation="orgs", member="user", target="org")
KEY, WINDOWS = f"org:{A}:user.orgs:multiple", f"org:{A}:user.orgs:windows"


@pytest.fixture
def jobs(storage):
    return Jobs(storage)


def put(jobs, v=1, kind="copies", targets=()):
    return jobs.put(kind, ("org", A), ORGS, v, targets)


def in_milliseconds(moment):
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def test_a_job_says_what_is_left_to_do(storage, jobs):
    before = in_milliseconds(now())
    put(jobs, targets=[B])
    (stored,), (job,) = storage.find(COLLECTION, {}), jobs.listed()
    assert before <= job.since <= now()
    names = {"model": "org", "id": A, "relation": "user.orgs", "of": "org", "v": 1, "token": job.token}
    names |= {"type": "multiple", "optional": False}
    told = {"kind": "copies", **names, "after": None, "waited": False, "again": False}
    told |= {"since": job.since, "failures": 0}
    assert job == Job(key=KEY, **told, targets=(B,), leased=None)
    assert stored == {"_id": KEY, **told, "needs": "copies user.orgs org", "targets": [B], "lease": None}


def test_jobs_note_the_time_of_no_zone(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        before, moment, after = datetime.now(UTC), now(), datetime.now(UTC)
    time.tzset()
    assert before <= moment.replace(tzinfo=UTC) <= after


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, None) for name in ("kind", "model", "id", "relation", "of", "v", "token", "targets", "since")),
        *(("type", None), ("type", "several"), ("optional", 1)),
        *(("waited", 1), ("again", None), ("kind", "history"), ("targets", {}), ("since", "today"), ("_id", 7)),
    ],
)
def test_what_another_version_wrote_is_left_alone(storage, jobs, name, value):
    put(jobs)
    foreign = next(storage.find(COLLECTION, {})) | {"_id": "foreign", name: value}
    storage.insert(COLLECTION, [foreign])
    assert [job.key for job in jobs.listed()] == [KEY]
    assert list(jobs.unreadable()) == [foreign["_id"]]
    assert jobs.claim(foreign["_id"], "me") is None


def test_a_job_that_does_not_say_where_it_is_is_left_alone(storage, jobs):
    put(jobs)
    for id_ in "ba":
        foreign = next(storage.find(COLLECTION, {"_id": KEY})) | {"_id": id_}
        del foreign["after"]
        storage.insert(COLLECTION, [foreign])
    assert [job.key for job in jobs.listed()] == [KEY]
    assert list(jobs.unreadable()) == ["a", "b"]


def test_jobs_are_listed_by_age(storage, jobs):
    put(jobs)
    made = next(storage.find(COLLECTION, {}))
    others = [("b", 1), ("a", 1), ("c", 0)]
    storage.insert(COLLECTION, [{**made, "_id": id_, "since": datetime(1970 + years, 1, 1)} for id_, years in others])
    assert [job.key for job in jobs.listed()] == ["c", "a", "b", KEY]
    assert jobs.pending() == (4, datetime(1970, 1, 1))


def test_a_document_without_anything_is_no_job(storage, jobs):
    storage.insert(COLLECTION, [{"_id": 7}])
    assert jobs.listed() == []
    assert list(jobs.unreadable()) == [7]
    assert jobs.pending() == (0, None)


def test_a_second_change_of_a_source_joins_its_job(jobs):
    assert put(jobs) == put(jobs, v=2) == KEY
    (job,) = jobs.listed()
    assert job.v == 2
    assert job.again is False


def test_a_change_on_the_way_goes_around_once_more(jobs):
    put(jobs)
    jobs.advance(jobs.claim(KEY, "me"), {"after": B}, "me")
    put(jobs, v=2)
    (job,) = jobs.listed()
    assert job.after == B
    assert job.again is True


def test_a_change_forgets_that_its_job_waited_in_vain(jobs):
    put(jobs)
    jobs.advance(jobs.claim(KEY, "me"), {"waited": True}, "me")
    put(jobs, v=2)
    (job,) = jobs.listed()
    assert job.v == 2
    assert job.waited is False


def test_a_job_of_another_kind_begins_anew(jobs):
    put(jobs, targets=[A])
    jobs.advance(jobs.claim(KEY, "me"), {"after": B}, "me")
    assert put(jobs, v=2, kind="removal", targets=[B]) == KEY
    (job,) = jobs.listed()
    assert job.kind == "removal"
    assert job.v == 2
    assert job.after is None
    assert job.again is False
    assert job.targets == (B,)


def test_targets_are_added_once_each(jobs):
    put(jobs, kind="windows", targets=[B])
    put(jobs, kind="windows", targets=[A, B])
    (job,) = jobs.listed()
    assert (job.key, job.targets) == (WINDOWS, (B, A))


def test_one_worker_holds_a_job_until_it_lets_it_go(jobs):
    put(jobs)
    assert jobs.claim(KEY, "me").leased is not None
    assert jobs.claim(KEY, "other") is None
    assert jobs.claim(KEY, "me") is not None
    jobs.release(KEY, "other")
    assert jobs.claim(KEY, "other") is None
    jobs.release(KEY, "me")
    assert jobs.claim(KEY, "other") is not None


def test_a_lease_ends_after_ten_seconds(storage, jobs):
    put(jobs)
    before = in_milliseconds(now())
    job = jobs.claim(KEY, "me")
    assert before <= job.leased - timedelta(seconds=10) <= now()
    storage.update_one(COLLECTION, {"_id": KEY}, {"$set": {"lease.until": before - timedelta(seconds=1)}}, ())
    assert [one.leased for one in jobs.listed()] == [None]
    assert jobs.claim(KEY, "other").leased is not None


def test_a_lease_is_over_at_its_end(jobs, monkeypatch):
    put(jobs)
    end = jobs.claim(KEY, "me").leased
    monkeypatch.setattr("gatewayfw.odm.jobs.records.now", lambda: end)
    assert [job.leased for job in jobs.listed()] == [None]


def test_progress_renews_the_lease(storage, jobs):
    put(jobs)
    job, over = jobs.claim(KEY, "me"), {"lease.until": now() - timedelta(seconds=1)}
    storage.update_one(COLLECTION, {"_id": KEY}, {"$set": over}, ())
    advanced = jobs.advance(job, {"after": B}, "me")
    assert advanced.after == B
    assert advanced.leased is not None
    assert jobs.claim(KEY, "other") is None
    assert jobs.advance(job, {"after": A}, "me") is None
    assert jobs.finish(job) is False
    assert jobs.listed() == [advanced]
    assert jobs.claim(KEY, "me") is not None


def test_of_workers_that_claim_at_once_one_gets_the_job(jobs):
    put(jobs)
    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda worker: jobs.claim(KEY, str(worker)), range(4)))
    assert [claim is None for claim in claims].count(False) == 1


def test_a_job_that_changed_is_neither_advanced_nor_finished(jobs):
    put(jobs)
    old = jobs.claim(KEY, "me")
    put(jobs, v=2)
    assert jobs.advance(old, {"after": B}, "me") is None
    assert jobs.finish(old) is False
    assert len(jobs.listed()) == 1
    assert jobs.finish(jobs.claim(KEY, "me")) is True
    assert jobs.listed() == []


def test_pending_jobs_are_found_by_their_source_and_block_it(jobs, monkeypatch):
    monkeypatch.setattr(records, "SOURCES", 1)
    assert jobs.of_copies(ORGS, [A, B]) == {}
    assert jobs.blocked("org", [A, B]) == []
    put(jobs)
    assert jobs.of_copies(ORGS, [A, B]) == {A: jobs.listed()}
    assert jobs.of_copies(ORGS, [B]) == {}
    assert jobs.of_copies(replace(ORGS, name="other"), [A]) == {}
    assert jobs.blocked("org", [A, B]) == [A]
    assert jobs.blocked("user", [A]) == []


def test_jobs_for_windows_are_found_by_their_targets(jobs):
    put(jobs, kind="windows", targets=[B])
    assert jobs.of_windows(USERS, [A, B]) == {B: jobs.listed()}
    assert jobs.of_windows(USERS, [A]) == jobs.of_windows(replace(USERS, relation="other"), [B]) == {}
    assert jobs.of_copies(ORGS, [A]) == {}


def test_a_job_that_cannot_be_read_corrects_nothing(storage, jobs):
    put(jobs)
    put(jobs, kind="windows", targets=[B])
    storage.update_many(COLLECTION, {}, {"$set": {"token": "strange"}})
    assert jobs.of_copies(ORGS, [A]) == jobs.of_windows(USERS, [B]) == {}


#: What jobs are asked for, and the commands that this takes.
ASKED = {
    "blocked": (
        lambda jobs: jobs.blocked("org", [A]),
        ("find", {"id": {"$in": [A]}, "model": "org"}, ["id"]),
    ),
    "of copies": (
        lambda jobs: jobs.of_copies(ORGS, [A]),
        ("find", {"id": {"$in": [A]}, "model": "org", "relation": "user.orgs", "kind": {"$ne": "windows"}}),
    ),
    "of windows": (
        lambda jobs: jobs.of_windows(USERS, [A]),
        ("find", {"needs": "windows user.orgs org", "targets": {"$in": [A]}}),
    ),
    "pending": (
        lambda jobs: jobs.pending(),
        ("find", {"since": {"$gte": datetime(1970, 1, 1)}}, ["since"], {"sort": [("since", 1)], "limit": 1}),
    ),
    "put": (
        lambda jobs: jobs.put("copies", ("org", B), ORGS, 1),
        ("find", {"_id": f"org:{B}:user.orgs:multiple"}, ["kind", "after", "targets", "lease"]),
    ),
    "release": (
        lambda jobs: jobs.release(KEY, "me"),
        ("update_one", {"_id": KEY, "lease.worker": "me"}, {"$set": {"lease": None}}, ()),
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_jobs_are_read_no_further_than_asked(storage, jobs, name):
    ask, (command, *given) = ASKED[name]
    commands = note_commands(storage)
    ask(jobs)
    assert commands[0] == (command, COLLECTION, *given)


def test_without_transactions_a_job_that_appears_meanwhile_is_extended(storage, jobs, monkeypatch):
    insert = storage.insert

    def late(collection, documents):
        monkeypatch.setattr(storage, "insert", insert)
        put(jobs, v=1, kind="windows", targets=[B])
        insert(collection, documents)

    monkeypatch.setattr(storage, "insert", late)
    with pytest.raises(DuplicateKey):
        put(jobs, v=2, kind="windows", targets=[A])
    storage.delete_many(COLLECTION, {})
    monkeypatch.setattr(storage, "insert", late)
    monkeypatch.setattr(storage, "has_transactions", lambda: False)
    assert put(jobs, v=2, kind="windows", targets=[A]) == WINDOWS
    (job,) = jobs.listed()
    assert job.kind == "windows"
    assert job.model == "org"
    assert job.id == A
    assert job.v == 2
    assert job.targets == (B, A)


def test_without_transactions_a_job_that_ends_meanwhile_is_made_anew(storage, jobs, monkeypatch):
    put(jobs, kind="windows", targets=[B])
    update_one = storage.update_one

    def late(*given):
        monkeypatch.setattr(storage, "update_one", update_one)
        storage.delete_many(COLLECTION, {})
        return update_one(*given)

    monkeypatch.setattr(storage, "update_one", late)
    assert put(jobs, v=2, kind="windows", targets=[A]) == WINDOWS
    (job,) = jobs.listed()
    assert job.kind == "windows"
    assert job.model == "org"
    assert job.id == A
    assert job.v == 2
    assert job.targets == (A,)


def test_jobs_are_written_in_the_transaction_of_their_change(jobs, storage):
    def fail():
        put(jobs)
        raise KeyError

    with pytest.raises(KeyError):
        storage.transaction(fail)
    assert storage.count(COLLECTION, {}) == 0
