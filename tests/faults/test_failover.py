"""The primary is killed under load; all mongods are killed and come back."""

from __future__ import annotations

import itertools
import random
import time

import pytest

from tests.faults.clients import Background, new_user
from tests.faults.invariants import audit

CLIENTS = 8


@pytest.fixture
def whole_set(replica_set):
    """The replica set with a primary; what a test killed is started again."""
    yield replica_set
    for member in replica_set.members:
        if not member.runs():
            member.start()
    replica_set.wait_for_primary()


@pytest.mark.mongo
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_with_the_primary(full, on_stage, whole_set, report):
    with on_stage(whole_set.uri) as stage:
        with Background(CLIENTS, adder(stage), pause=0.01):
            time.sleep(4 if full else 1)
            killed = time.monotonic()
            whole_set.wait_for_primary().kill()
            whole_set.wait_for_primary()
            elected = time.monotonic()
            time.sleep(6 if full else 1.5)
        recovered = first_success(stage, after=elected)
        report(told=dict(stage.ledger.told()), acknowledged=len(stage.ledger.acknowledged()))
        report(election_took=round(elected - killed, 2), recovery=round(recovered - elected, 2))
        assert audit(stage) == []
        assert {reply.status for reply in stage.ledger.replies()} <= {200, 503}
        if full:
            assert recovered - elected < 1


@pytest.mark.mongo
@pytest.mark.slow
def test_service_outlives_the_loss_of_all_mongods(full, on_stage, whole_set, report):
    with on_stage(whole_set.uri) as stage:
        with Background(CLIENTS, adder(stage), pause=0.01):
            time.sleep(3 if full else 1)
            workers = stage.server.booted()
            whole_set.kill()
            killed = time.monotonic()
            time.sleep(8 if full else 2)
            whole_set.start()
            whole_set.wait_for_primary()
            back = time.monotonic()
            time.sleep(8 if full else 1.5)
        replies = stage.ledger.replies()
        recovered = first_success(stage, after=back)
        longest = max(reply.took for reply in replies)
        report(slowest=sorted((round(reply.took, 2), reply.status, reply.code) for reply in replies)[-5:])
        report(told=dict(stage.ledger.told()), acknowledged=len(stage.ledger.acknowledged()))
        report(down_for=round(back - killed, 2), longest_reply=round(longest, 2), recovery=round(recovered - back, 2))
        assert audit(stage) == []
        assert {reply.status for reply in replies} == {200, 503}
        assert [reply for reply in replies if not reply.is_clean] == []
        assert stage.server.booted() == workers
        if full:
            assert longest < 6
            assert recovered - back < 5


def adder(stage):
    """Return what each client does over and over: add a new user to two of the organizations."""
    organizations = stage.add_organizations(40)
    numbers = itertools.count()

    def add(client):
        write = new_user(f"user{next(numbers)}@example.com", random.sample(organizations, 2))
        stage.ledger.send(stage.sender, write)

    return add


def first_success(stage, after):
    """When the first success arrived after a moment; infinity if none did."""
    arrived = [reply.arrived for reply in stage.ledger.replies() if reply.status == 200 and reply.arrived > after]
    return min(arrived, default=float("inf"))
