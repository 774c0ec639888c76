"""The harness notices what is lost, half, doubled or untrue."""

from __future__ import annotations

from types import SimpleNamespace

import mongomock
import pytest
from bson import ObjectId

from sample_service.app import create_service
from tests.faults.clients import Ledger, Reply, new_user
from tests.faults.invariants import audit

EMAIL = "new@example.com"
ID = ObjectId()
NAMED = f"user {EMAIL}"


class Teller:
    """Stands for a server: gives the replies it was made with, one after another."""

    def __init__(self, replies):
        self._replies = iter(replies)

    def send(self, *_):
        return next(self._replies)


@pytest.fixture
def audited():
    """Give what the audit says after one user was sent and answered so, and these users are stored."""

    def audited(replies, *stored):
        service = create_service(mongomock.MongoClient().test, "k" * 32)
        stage = SimpleNamespace(service=service, storage=service.gw.odm.storage, ledger=Ledger())
        write = new_user(EMAIL, [])
        stage.ledger.send(Teller(replies), write, attempts=len(replies))
        # Behind the service's back, whose unique index would refuse a second one.
        stage.storage.insert("user", [{"_id": ObjectId(), **write.stored, **changes} for changes in stored])
        return audit(stage)

    return audited


def reply(status, code="", id_=ID):
    body = {"_id": str(id_)} if status == 200 else {"message": "no"}
    return Reply(status, code, {"body": body, "success": status == 200}, 0.0, 0.0)


DONE, BROKEN = reply(200), Reply(None, "ProtocolError", None, 0.0, 0.0)
REFUSED, UNKNOWN, TAKEN = reply(503, "unavailable"), reply(503, "outcome_unknown"), reply(409, "duplicate_key")

RIGHT = {
    "acknowledged": ([DONE], {"_id": ID}),
    "refused": ([REFUSED],),
    "unknown and there": ([UNKNOWN], {}),
    "unknown and not there": ([UNKNOWN],),
    "broken and there": ([BROKEN], {}),
    "again until it is there": ([BROKEN, REFUSED, TAKEN], {}),
}

WRONG = {
    "lost": ([DONE], [], [f"{NAMED} was acknowledged and is lost"]),
    "refused and there": ([REFUSED], [{}], [f"{NAMED} was refused and is stored"]),
    "duplicate of nothing": ([TAKEN], [], [f"{NAMED} was refused as a duplicate of nothing"]),
    "half": ([BROKEN], [{"last_name": None}], [f"{NAMED} is not stored whole"]),
    "more": ([BROKEN], [{"position": "x"}], [f"{NAMED} is not stored whole"]),
    "twice": ([BROKEN], [{}, {}], [f"{NAMED} is stored 2 times"]),
    "another _id": ([DONE], [{}], [f"{NAMED} was acknowledged with another _id"]),
}


@pytest.mark.parametrize("case", RIGHT.values(), ids=RIGHT)
def test_says_nothing_of_what_is_as_told(audited, case):
    assert audited(*case) == []


@pytest.mark.parametrize(("replies", "stored", "said"), WRONG.values(), ids=WRONG)
def test_says_what_is_not_as_told(audited, replies, stored, said):
    assert audited(replies, *stored) == said


def test_says_which_copies_are_not_right(audited):
    stale = {"_id": ID, "organizations": [{"_id": ID, "name": "gone"}]}
    said = audited([DONE], stale)
    assert len(said) == 2
    assert "its source does not exist" in said[0]
    assert said[1] == f"{NAMED} is not stored whole"
