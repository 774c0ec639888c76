"""Jobs as they are stored: one for each source and relation, held by one worker."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from bson import ObjectId

from gatewayfw.odm.copies.jobs import COLLECTION, Backlog, Jobs
from gatewayfw.schemas import RelatedRelation, Relation

A, B = ObjectId("a" * 24), ObjectId("b" * 24)
ORGS = Relation("org", "multiple", name="orgs", model="user")
USERS = RelatedRelation(type="multiple", name="users", relation="orgs", member="user", target="org")
KEY = f"org:{A}:user.orgs"


@pytest.fixture
def jobs(storage):
    return Jobs(storage)


def put(jobs, v=1, kind="copies", targets=()):
    return jobs.put(kind, ("org", A), ORGS, v, targets)


def test_a_job_says_what_is_left_to_do(jobs):
    (job,) = [put(jobs)] and jobs.listed()
    assert (job.key, job.kind, job.model, job.id, job.relation, job.of, job.v) == (
        KEY,
        "copies",
        "org",
        A,
        "user.orgs",
        "org",
        1,
    )
    assert (job.after, job.again, job.targets, job.leased) == (None, False, (), None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, None) for name in ("kind", "model", "id", "relation", "of", "v", "token", "targets", "since")),
        *(("waited", 1), ("again", None), ("kind", "history"), ("targets", {}), ("since", "today")),
    ],
)
def test_what_another_version_wrote_is_left_alone(storage, jobs, name, value):
    put(jobs)
    foreign = next(storage.find(COLLECTION, {})) | {"_id": "foreign", name: value}
    storage.insert(COLLECTION, [foreign])
    assert ([job.key for job in jobs.listed()], jobs.unreadable()) == ([KEY], ["foreign"])
    assert jobs.claim("foreign", "me") is None


def test_a_document_without_anything_is_no_job(storage, jobs):
    storage.insert(COLLECTION, [{"_id": 7}])
    assert (jobs.listed(), jobs.unreadable(), jobs.pending()) == ([], [7], (0, None))


def test_a_second_change_of_a_source_joins_its_job(jobs):
    assert put(jobs) == put(jobs, v=2) == KEY
    (job,) = jobs.listed()
    assert (job.v, job.again) == (2, False)


def test_a_change_on_the_way_goes_around_once_more(jobs):
    put(jobs)
    jobs.advance(jobs.claim(KEY, "me"), {"after": B}, "me")
    put(jobs, v=2)
    (job,) = jobs.listed()
    assert (job.after, job.again) == (B, True)


def test_targets_are_added_once_each(jobs):
    put(jobs, kind="windows", targets=[B])
    put(jobs, kind="windows", targets=[A, B])
    (job,) = jobs.listed()
    assert (job.key, job.targets) == (f"{KEY}:windows", (B, A))


def test_one_worker_holds_a_job_until_it_lets_it_go(jobs):
    put(jobs)
    assert jobs.claim(KEY, "me").leased is not None
    assert (jobs.claim(KEY, "other"), jobs.claim(KEY, "me") is None) == (None, False)
    jobs.release(KEY, "other")
    assert jobs.claim(KEY, "other") is None
    jobs.release(KEY, "me")
    assert jobs.claim(KEY, "other") is not None


def test_of_workers_that_claim_at_once_one_gets_the_job(jobs):
    put(jobs)
    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda worker: jobs.claim(KEY, str(worker)), range(4)))
    assert [claim is None for claim in claims].count(False) == 1


def test_a_job_that_changed_is_neither_advanced_nor_finished(jobs):
    put(jobs)
    old = jobs.claim(KEY, "me")
    put(jobs, v=2)
    assert (jobs.advance(old, {"after": B}, "me"), jobs.finish(old), len(jobs.listed())) == (None, False, 1)
    assert (jobs.finish(jobs.claim(KEY, "me")), jobs.listed()) == (True, [])


def test_pending_jobs_cover_copies_and_block_their_source(jobs):
    assert (jobs.covers_copy(ORGS, A), jobs.blocked("org", [A, B])) == (False, [])
    put(jobs)
    assert (jobs.covers_copy(ORGS, A), jobs.covers_copy(ORGS, B), jobs.blocked("org", [A, B])) == (True, False, [A])
    assert jobs.blocked("user", [A]) == []


def test_jobs_for_windows_cover_those_of_their_targets(jobs):
    put(jobs, kind="windows", targets=[B])
    assert [jobs.covers_reverse(USERS, id_) for id_ in (A, B)] == [False, True]
    assert jobs.covers_copy(ORGS, A) is False


def test_jobs_are_written_in_the_transaction_of_their_change(jobs, storage):
    def fail():
        put(jobs)
        raise KeyError

    with pytest.raises(KeyError):
        storage.transaction(fail)
    assert storage.count(COLLECTION, {}) == 0


@pytest.mark.parametrize(
    ("limit", "already", "left"),
    [(10, 0, set()), (5, 0, {"large"}), (5, 4, {"large", "small"}), (0, 0, {"large", "small"})],
)
def test_the_largest_is_left_to_jobs_until_the_rest_keeps_the_limit(jobs, limit, already, left):
    assert Backlog(jobs, limit).beyond({"large": 6, "small": 3, "none": 0}, already) == left


def test_without_a_limit_everything_is_written_at_once(jobs):
    backlog = Backlog(jobs)
    assert (backlog.bounded, backlog.beyond({"large": 10**9})) == (False, set())


def test_a_backlog_knows_the_jobs_it_left(jobs):
    backlog = Backlog(jobs, 1)
    backlog.leave("copies", ("org", A), ORGS, 1)
    assert (backlog.keys, [job.key for job in jobs.listed()]) == ({KEY}, [KEY])
