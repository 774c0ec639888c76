"""Fixtures of the tests of storage on MongoDB."""

from __future__ import annotations

import pytest
from pymongo import MongoClient
from pymongo.monitoring import CommandListener

from gatewayfw.storage import MongoStorage


@pytest.fixture
def storage(mongo_database):
    """A storage on MongoDB with one document, and a collection `others`."""
    storage = MongoStorage(mongo_database)
    storage.ensure("others", [], 10)
    storage.insert("things", [{"_id": 1, "n": 0}])
    return storage


@pytest.fixture
def uri(mongod_uri, mongo_database):
    """The URI of the test's own database."""
    return mongod_uri.replace("/?", f"/{mongo_database.name}?")


class Commands(CommandListener):
    """Notes the commands that a client sends."""

    def __init__(self):
        self.sent = []

    def started(self, event):
        self.sent.append(event.command)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


@pytest.fixture
def commands():
    return Commands()


@pytest.fixture
def noted(mongod_uri, mongo_database, commands):
    """A storage on a client whose commands are noted, with three things in it."""
    with MongoClient(mongod_uri, event_listeners=[commands]) as client:
        storage = MongoStorage(client[mongo_database.name])
        storage.insert("things", [{"_id": number, "name": "abc"[number], "more": {"x": number}} for number in range(3)])
        commands.sent.clear()
        yield storage
