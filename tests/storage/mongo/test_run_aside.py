"""Deadlines of the driver: work outside of the caller's."""

from __future__ import annotations

from contextvars import ContextVar

import pymongo
import pytest
from pymongo.errors import PyMongoError

from gatewayfw.storage.mongo.connection import run_aside

SPAN: ContextVar[str] = ContextVar("span")


@pytest.mark.mongo
def test_it_has_no_deadline_and_may_have_one_of_its_own(mongo_database):
    with pymongo.timeout(0.000001):
        with pytest.raises(PyMongoError):
            mongo_database.command("ping")
        assert run_aside(lambda: mongo_database.command("ping"))["ok"] == 1


def test_it_has_the_callers_variables_and_changes_none():
    token = SPAN.set("act")
    seen = []

    def work():
        seen.append(SPAN.get())
        SPAN.set("commit")
        return 3

    assert run_aside(work) == 3
    assert seen == ["act"]
    assert SPAN.get() == "act"
    SPAN.reset(token)
