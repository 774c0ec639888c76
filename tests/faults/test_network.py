"""Replies of the database are swallowed or late, or its connections drop: nothing is stored twice."""

from __future__ import annotations

import itertools
import time

import pytest

from tests.faults.clients import Background, new_organization, new_user
from tests.faults.invariants import audit

CLIENTS = 8

#: What happens, given the proxy and how many seconds it lasts.
FAULTS = {
    "swallowed": lambda proxy, seconds: during(proxy.swallowing(), seconds),
    "late": lambda proxy, seconds: during(proxy.delaying(0.2), seconds),
    "dropped": lambda proxy, seconds: during(proxy.dropping(), seconds),
    "dropped again and again": lambda proxy, seconds: drop_often(proxy, seconds),
}


def during(fault, seconds):
    """Let a fault last some seconds."""
    with fault:
        time.sleep(seconds)


def drop_often(proxy, seconds):
    """Drop all connections every 0.1 s."""
    for _ in range(int(seconds / 0.1)):
        during(proxy.dropping(), 0)
        time.sleep(0.1)


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_stored_twice_or_lost(fault, full, on_stage, proxied, proxy, report):
    with on_stage(proxied.uri) as stage:
        with Background(CLIENTS, adder(stage), pause=0.01):
            time.sleep(2 if full else 0.3)
            FAULTS[fault](proxy, 3 if full else 0.5)
            time.sleep(8 if full else 0.8)
        report(told=dict(stage.ledger.told()), acknowledged=len(stage.ledger.acknowledged()))
        assert audit(stage) == []
        assert {reply.status for reply in stage.ledger.replies()} <= {200, 409, 503}
        assert stage.ledger.replies()[-1].status == 200


def adder(stage):
    """Return what each client does: add a user, again while that is not sure, and an organization, once."""
    organizations = stage.add_organizations(40)
    numbers = itertools.count()

    def add(client):
        number = next(numbers)
        related = [organizations[number % 40], organizations[(number + 7) % 40]]
        stage.ledger.send(stage.sender, new_user(f"user{number}@example.com", related), attempts=5)
        # No unique index stands behind this one: sent twice, it would be there twice.
        stage.ledger.send(stage.sender, new_organization(f"new {number}"))

    return add
