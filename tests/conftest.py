"""Fixtures of all tests; the `mongod_uri` and `mongo_database` ones come from gatewayfw's own pytest plugin."""

from __future__ import annotations

import mongomock
import pytest
from hypothesis import settings
from pymongo.database import Database

from gatewayfw.storage import MockStorage, MongoStorage

# No deadline per example: a loaded machine is not a failure.
settings.register_profile("gatewayfw", deadline=None)
settings.load_profile("gatewayfw")

#: Every database a test runs on; a test of both takes the fixture `database`, or `storage`.
DATABASES = ["mongomock", pytest.param("mongo", marks=pytest.mark.mongo)]


@pytest.fixture(params=DATABASES)
def database(request):
    """An empty database: of mongomock, and of a one-node replica set started for the tests."""
    if request.param == "mongo":
        return request.getfixturevalue("mongo_database")
    return mongomock.MongoClient().test


@pytest.fixture
def storage(database):
    """An empty storage over `database`, by the adapter that fits it."""
    adapter = MongoStorage if isinstance(database, Database) else MockStorage
    return adapter(database)
