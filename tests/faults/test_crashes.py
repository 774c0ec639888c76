"""Workers are killed with SIGKILL while users are added."""

from __future__ import annotations

import itertools
import random
import time

import pytest

from tests.faults.clients import at_once, new_user
from tests.faults.invariants import audit, seconds_until_writable, transaction_lifetime
from tests.faults.serving import killing_workers

CLIENTS = 16
#: A new worker is ready at once only if the master has loaded the service.
OPTIONS = ("--preload", "--workers", "4")


@pytest.mark.mongo
@pytest.mark.slow
def test_acknowledged_users_are_whole_when_workers_are_killed(full, on_stage, mongod_uri, mongo_client, report):
    with on_stage(mongod_uri, *OPTIONS) as stage:
        organizations = stage.add_organizations(400)
        numbers = iter(range(2000 if full else 60))
        start = time.monotonic()
        with killing_workers(stage.server, 0.25 if full else 1) as killed:
            at_once(CLIENTS, lambda client: add_users(stage, numbers, organizations, random.Random(client)))
        took = time.monotonic() - start
        lifetime = transaction_lifetime(mongo_client)
        waited = seconds_until_writable(stage.storage, "organization", lifetime + 30)
        acknowledged = len(stage.ledger.acknowledged())
        report(acknowledged=acknowledged, told=dict(stage.ledger.told()), killed=sum(killed))
        report(seconds=round(took, 1), seconds_until_writable=round(waited, 2))
        assert audit(stage) == []
        assert sum(killed) > 0
        assert acknowledged > 0
        if full:
            assert waited < lifetime + 15


def add_users(stage, numbers, organizations, chance):
    """Add users until the numbers are used up, each to two organizations."""
    for number in itertools.takewhile(lambda number: number is not None, iter(lambda: next(numbers, None), object())):
        write = new_user(f"user{number}@example.com", chance.sample(organizations, 2))
        stage.ledger.send(stage.sender, write, attempts=50)
