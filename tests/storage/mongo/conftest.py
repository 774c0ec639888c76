"""Fixtures of the tests of storage on MongoDB."""

from __future__ import annotations

import pytest

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
