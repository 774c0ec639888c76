"""A primary hangs or dies, and comes back, while orchestrators probe the service from several places."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from typing import NamedTuple

import pytest

from tests.faults.replica import ReplicaSet
from tests.waiting import wait_until

#: Probes of each kind at the same time: more than the threads of one worker.
PROBERS = 10


class Answer(NamedTuple):
    """What a probe was told; times are in seconds."""

    path: str
    status: int
    word: str
    arrived: float
    took: float


class Probing:
    """Probes both routes from many threads, until the end of the block."""

    def __init__(self, server):
        self.answers = []
        self._server = server
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._probe, args=(f"/gateway/{name}",))
            for name in ("healthz", "readyz")
            for _ in range(PROBERS)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _probe(self, path):
        while not self._over.wait(0.2):
            begun = time.monotonic()
            reply = self._server.pool.request("GET", path)
            arrived = time.monotonic()
            self.answers.append(Answer(path, reply.status, json.loads(reply.data)["status"], arrived, arrived - begun))

    def of(self, name):
        """The answers of one route in the order of their arrival."""
        return sorted((one for one in self.answers if one.path.endswith(name)), key=lambda one: one.arrived)


@contextlib.contextmanager
def hanging(replica_set):
    """Stop the primary for the block, as a machine that is frozen."""
    group = replica_set.wait_for_primary().group
    os.killpg(group, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(group, signal.SIGCONT)


@contextlib.contextmanager
def killed(replica_set):
    """Kill all members; at the end of the block they are there again."""
    replica_set.kill()
    yield
    replica_set.start()
    replica_set.wait_for_primary()


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.parametrize(("size", "fault"), [(1, hanging), (3, hanging), (1, killed)])
def test_readyz_tells_of_a_primary_that_is_away(size, fault, full, on_stage, mongod, report):
    with ReplicaSet(size=size) as replica_set, on_stage(replica_set.uri) as stage, Probing(stage.server) as probing:
        # Each prober has a connection, and the service its own to the database.
        wait_until(lambda: len(probing.of("healthz")) > PROBERS and len(probing.of("readyz")) > PROBERS)
        with fault(replica_set):
            stopped = time.monotonic()
            time.sleep(8 if full else 4)
            ending = time.monotonic()
        back = time.monotonic()
        time.sleep(4)
    ready, healthy = probing.of("readyz"), probing.of("healthz")
    down = [one for one in ready if one.status == 503]
    slowest, slowest_healthy = (max(one.took for one in answers) for answers in (ready, healthy))
    report(unready_after=round(down[0].arrived - stopped, 2), ready_after=round(down[-1].arrived - back, 2))
    report(words=sorted({one.word for one in ready}), slowest=round(slowest, 2))
    report(answers=len(probing.answers), slowest_healthz=round(slowest_healthy, 3))
    assert {one.status for one in healthy} == {200}
    assert {one.word for one in ready} <= {"ok", "unreachable", "no_primary"}
    assert {one.status for one in ready if one.arrived < stopped} == {200}
    assert ready[-1].status == 200
    if full:
        late = {one.status for one in ready if stopped + 2 < one.arrived < ending}
        assert late == ({503} if size == 1 else {200, 503})
        assert slowest < 1.5
        assert {one.status for one in ready if one.arrived > back + 3} == {200}
