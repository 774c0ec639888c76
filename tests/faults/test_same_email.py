"""Many clients add the same user at once: one wins, and the others leave nothing."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from bson import ObjectId

from tests.faults.clients import at_once, new_user
from tests.faults.invariants import problems

CLIENTS = 8


@pytest.mark.mongo
@pytest.mark.slow
def test_same_email_is_stored_once_and_losers_leave_nothing(full, on_stage, mongod_uri, report):
    with on_stage(mongod_uri) as stage:
        shared, *own = stage.add_organizations(CLIENTS + 1)
        for number in range(20 if full else 3):
            email = f"user{number}@example.com"
            replies = at_once(CLIENTS, racer(stage, email, shared, own))
            assert Counter(reply.status for reply in replies) == {200: 1, 409: CLIENTS - 1}
            winner = next(client for client in range(CLIENTS) if replies[client].status == 200)
            assert holders(stage.storage, email) == {ObjectId(shared), ObjectId(own[winner])}
            (user,) = stage.storage.find("user", {"email": email})
            assert user["first_name"] == f"Client {winner}"
            assert str(user["_id"]) == replies[winner].envelope["body"]["_id"]
        report(told=dict(stage.ledger.told()))
        assert problems(stage.service.gw.odm) == []


def racer(stage, email, shared, own):
    """Return what each client does: wait for the others, then add the user to a shared and an own organization."""
    barrier = threading.Barrier(CLIENTS)

    def race(client):
        write = new_user(email, [shared, own[client]], first_name=f"Client {client}")
        barrier.wait(30)
        return stage.ledger.send(stage.sender, write)

    return race


def holders(storage, email):
    """The organizations that list a user with this e-mail."""
    return {document["_id"] for document in storage.find("organization", {"users.email": email}, ())}
