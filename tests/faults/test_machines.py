"""Two hosts of the service and three mongods, each on a machine of its own, lose each other under load."""

from __future__ import annotations

import itertools
import random
import time
import uuid

import pytest

from sample_service.app import create_service
from tests.faults.clients import Background, Ledger, Sender, new_user
from tests.faults.invariants import audit
from tests.faults.machines import Host, Network, can_make
from tests.faults.replica import ReplicaSet

KEY = "k" * 32
CLIENTS = 8
#: Acknowledged writes.
WRITES = 5_000

pytestmark = [pytest.mark.mongo, pytest.mark.slow]


@pytest.fixture
def machines(mongod):
    assert can_make(), "network namespaces need root and iproute2"
    with Network(5) as network:
        yield network.machines


class Site:
    """The service on its hosts, and in this process to look into the database."""

    def __init__(self, uri, hosts):
        self.service = create_service(uri, KEY)
        self.service.gw.odm.ready()
        self.storage = self.service.gw.odm.storage
        self.ledger = Ledger()
        ghost = {"first_name": "Ghost", "last_name": "Example", "email": "ghost@example.com", "password": "x"}
        caller = self.service.users.insert_one(doc={**ghost, "isGhost": True})["_id"]
        token = self.service.auth.tokens.issue({"_id": str(caller)})
        self.senders = [Sender(host.pool, token) for host in hosts]

    def acknowledged(self, since=0):
        """How many writes were acknowledged, of those sent after the first so many."""
        return sum(any(reply.status == 200 for reply in self.ledger.replies(one)) for one in self.ledger.writes[since:])

    def adder(self):
        """Return what each client does over and over: half of them call one host, half the other."""
        docs = [{"name": f"organization {number}"} for number in range(40)]
        organizations = [str(one["_id"]) for one in self.service.organizations.insert_many(docs=docs)]
        numbers = itertools.count()

        def add(client):
            write = new_user(f"user{next(numbers)}@example.com", random.sample(organizations, 2))
            self.ledger.send(self.senders[client % 2], write)

        return add


def wait_for_writes(site, more):
    """Wait until that many more writes were acknowledged."""
    before, start = len(site.ledger.writes), time.monotonic()
    while site.acknowledged(before) < more:
        assert time.monotonic() - start < 600, "the writes take too long"
        time.sleep(0.5)


def test_a_host_is_cut_off_and_a_primary_lost(machines, tmp_path, report):
    first, second, *mongods = machines
    with ReplicaSet(machines=mongods) as members:
        uri = members.uri.replace("/?", f"/{uuid.uuid4().hex}?")
        with Host(first, uri, KEY, tmp_path / "1.log") as one, Host(second, uri, KEY, tmp_path / "2.log") as two:
            for host in (one, two):
                host.seconds_until_ready()
            site = Site(uri, (one, two))
            share = WRITES // 4
            with Background(CLIENTS, site.adder(), pause=0.005):
                wait_for_writes(site, share)
                first.cut_off()
                wait_for_writes(site, share)
                assert not one.is_ready()
                first.join()
                back = one.seconds_until_ready()
                wait_for_writes(site, share)
                lost = members.wait_for_primary()
                lost.kill()
                members.wait_for_primary()
                again = max(host.seconds_until_ready() for host in (one, two))
                lost.start()
                wait_for_writes(site, share)
            report(told=dict(site.ledger.told()), acknowledged=len(site.ledger.acknowledged()))
            report(host_ready_again=round(back, 2), hosts_ready_after_election=round(again, 2))
            assert audit(site) == []
            assert len(site.ledger.acknowledged()) >= WRITES
            site.storage.close()
            assert back < 15
            assert again < 15
