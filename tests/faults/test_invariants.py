"""The harness notices what is lost, half, doubled or untrue, and what a missing guard does."""

from __future__ import annotations

from types import SimpleNamespace

import mongomock
import pytest
from bson import ObjectId

from sample_service.app import create_service
from tests.faults.clients import Ledger, Reply, new_user
from tests.faults.invariants import audit

EMAIL = "new@example.com"
HOME = ObjectId()


class Teller:
    """Stands for a server: gives the replies it was made with, one after another."""

    def __init__(self, *replies):
        self._replies = iter(replies)

    def send(self, *_):
        return next(self._replies)


@pytest.fixture
def told():
    """Give the stage after one user was sent and so answered; ``stored`` changes the stored users."""

    def told(*replies, stored=()):
        service = create_service(mongomock.MongoClient().test, "k" * 32)
        stage = SimpleNamespace(service=service, storage=service.gw.odm.storage, ledger=Ledger())
        service.organizations.insert_one(doc={"_id": HOME, "name": "Home"})
        write = new_user(EMAIL, [str(HOME)])
        stage.ledger.send(Teller(*replies), write, attempts=len(replies))
        for changes in stored:
            doc = {**write.stored, **changes}
            relations = {"organizations": {"_ids": [HOME], "relatedRelations": {"users": True}}}
            service.users.schema.options.indexes  # the e-mail is not unique here: see `drop`
            service.users.insert_one(doc=doc, relations=relations)
        return stage

    return told


def reply(status, code="", id_=None):
    body = {"_id": str(id_)} if status == 200 else {"message": "..."}
    return Reply(status, code, {"body": body, "success": status == 200}, 0.0, 0.0)
