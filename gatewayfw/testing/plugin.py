"""The pytest plugin: a MongoDB server, a database and a context for tests.

pytest loads it in every session of an environment that has gatewayfw, so nothing heavy is imported
before a fixture is asked for. Under pytest-xdist each worker starts a server of its own.

The context is what `ContextFns` work on outside of requests, so that hooks can be called by
themselves: each gateway has one in each test, fixtures of the test included. Threads that a test starts have none.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from gatewayfw.opened import open_scratch

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.database import Database


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker ``mongo`` known."""
    config.addinivalue_line("markers", "mongo: needs a MongoDB server")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Open a context of every gateway for one test, from its set-up to its teardown."""
    with open_scratch():
        yield


@pytest.fixture(scope="session")
def mongod_uri() -> Iterator[str]:
    """The connection string of a MongoDB replica set, started when first asked for.

    ``GATEWAYFW_TEST_MONGO_URI`` names a server to use instead. Without any mongod the test is
    skipped, or fails when ``GATEWAYFW_REQUIRE_MONGO=1``.
    """
    given = os.environ.get("GATEWAYFW_TEST_MONGO_URI")
    if given:
        yield given
        return
    from gatewayfw.testing.mongod import LocalMongod, MongodNotFound

    mongod = LocalMongod()
    try:
        mongod.start()
    except MongodNotFound as error:
        if os.environ.get("GATEWAYFW_REQUIRE_MONGO") == "1":
            pytest.fail(f"GATEWAYFW_REQUIRE_MONGO=1, but {error}", pytrace=False)
        pytest.skip(str(error))
    yield mongod.uri
    mongod.stop()


@pytest.fixture(scope="session")
def mongo_client(mongod_uri: str) -> Iterator[MongoClient[dict[str, Any]]]:
    """A client of `mongod_uri`, shared by the tests of the session."""
    from pymongo import MongoClient

    with MongoClient[dict[str, Any]](mongod_uri, serverSelectionTimeoutMS=5000) as client:
        yield client


@pytest.fixture
def mongo_database(mongo_client: MongoClient[dict[str, Any]]) -> Iterator[Database[dict[str, Any]]]:
    """An empty database with a name of its own, dropped after the test."""
    name = f"gatewayfw_{uuid.uuid4().hex}"
    yield mongo_client[name]
    mongo_client.drop_database(name)
