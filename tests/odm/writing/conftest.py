"""Fixtures of the tests of writes: models whose documents have known ids, and the commands of the storage."""

from __future__ import annotations

import uuid
from types import SimpleNamespace

import pytest

from gatewayfw.storage import MongoStorage
from tests.odm.towns import NEW, Towns, V


@pytest.fixture(scope="session")
def towns_database(mongo_client):
    """A MongoDB database for `towns`; its indexes outlive a test."""
    name = f"gatewayfw_towns_{uuid.uuid4().hex}"
    yield mongo_client[name]
    mongo_client.drop_database(name)


@pytest.fixture
def towns(towns_database, monkeypatch):
    """A function that gives `Towns` on MongoDB: time stands still, and each new document has the id `NEW`."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    monkeypatch.setattr("gatewayfw.odm.copies.rules.time", SimpleNamespace(time=lambda: V / 1_000_000))
    monkeypatch.setattr("gatewayfw.odm.writing.new_documents.ObjectId", lambda: NEW)
    return lambda limit=3: Towns(MongoStorage(towns_database), limit)
