"""Fixtures of the tests of policies."""

from __future__ import annotations

import uuid

import mongomock
import pytest

from tests.conftest import DATABASES
from tests.policies.judged.shop import Shop


@pytest.fixture(scope="session")
def policies_database(mongo_client):
    """A MongoDB database for shops; its indexes outlive a test, which saves most of the time."""
    name = f"gatewayfw_policies_{uuid.uuid4().hex}"
    yield mongo_client[name]
    mongo_client.drop_database(name)


@pytest.fixture(params=DATABASES)
def open_shop(request):
    """A function that opens a shop with these settings on an empty database."""
    mongo = request.getfixturevalue("policies_database") if request.param == "mongo" else None
    return lambda *args, **settings: Shop(mongomock.MongoClient().test if mongo is None else mongo, *args, **settings)


@pytest.fixture
def shop(open_shop):
    """A shop without policies."""
    return open_shop()
