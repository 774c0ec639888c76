"""The loop over jobs: what ends a run, and what it leaves behind."""

from __future__ import annotations

import logging

from gatewayfw.errors import Unavailable
from gatewayfw.odm.jobs.fan_out import Drained
from gatewayfw.odm.jobs.worker import JobWorker
from tests.odm.noted import note_commands


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

    def release(key, worker):
        raise Unavailable

    monkeypatch.setattr(worker.jobs, "release", release)
    with caplog.at_level(logging.DEBUG, "gatewayfw.odm"):
        drained = worker.drain(["a"], 30)
    assert (drained.left, caplog.messages) == ({"a"}, ["the lease of job a will expire"])


def test_a_worker_begins_with_a_limit_and_nothing_done(world):
    worker = JobWorker(world.odm.schemas, world.storage, 3)
    assert (worker.limit, worker.waits, worker.work(), Drained()) == (3, False, 0, Drained(set(), set(), {}))
