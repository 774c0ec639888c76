"""The pytest plugin: databases, a client and a context for tests.

pytest loads it in every session of an environment that has gatewayfw, so nothing heavy is imported
before a fixture is asked for. Under pytest-xdist each worker starts a server of its own.

In each test, and in its fixtures, each gateway has a context on which `ContextFns` work outside requests, so that tests
can call hooks directly. Threads that a test starts have none.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from gatewayfw.context_variables import open_scratch

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.database import Database

    from gatewayfw.testing.kit import GatewayClient


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says where tests keep their data."""
    group = parser.getgroup("gatewayfw")
    group.addoption(
        "--gateway-storage",
        choices=("mongomock", "mongo"),
        default="mongomock",
        help="Where the fixture gateway_database keeps data: in memory, or in a MongoDB that is started; without a "
        "mongod such tests fail, unless GATEWAYFW_REQUIRE_MONGO=0.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker ``mongo`` known."""
    config.addinivalue_line("markers", "mongo: needs a MongoDB server")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Open a context of every gateway for one test, from its set-up to its teardown."""
    with open_scratch():
        yield


@pytest.fixture(scope="session")
def mongod_uri(pytestconfig: pytest.Config) -> Iterator[str]:
    """The connection string of a MongoDB replica set, started when first asked for.

    Its data is in memory where there is room, which saves most of the time of tests that make collections.

    ``GATEWAYFW_TEST_MONGO_URI`` names a server to use instead. Without any mongod the test is skipped; it fails with
    ``GATEWAYFW_REQUIRE_MONGO=1``, and with ``--gateway-storage=mongo`` unless ``GATEWAYFW_REQUIRE_MONGO=0``.
    """
    given = os.environ.get("GATEWAYFW_TEST_MONGO_URI")
    if given:
        yield given
        return
    from gatewayfw.testing.mongod import LocalMongod, MongodNotFound, memory_folder

    mongod = LocalMongod(within=memory_folder())
    try:
        mongod.start()
    except MongodNotFound as error:
        is_required = os.environ.get("GATEWAYFW_REQUIRE_MONGO")
        if is_required == "1":
            pytest.fail(f"GATEWAYFW_REQUIRE_MONGO=1, but {error}", pytrace=False)
        if is_required != "0" and pytestconfig.getoption("--gateway-storage") == "mongo":
            told = f"--gateway-storage=mongo, but {error}; GATEWAYFW_REQUIRE_MONGO=0 skips these tests"
            pytest.fail(told, pytrace=False)
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


@pytest.fixture
def gateway_database(request: pytest.FixtureRequest) -> Any:
    """An empty database for `set_db`, of the kind that ``--gateway-storage`` says."""
    if request.config.getoption("--gateway-storage") == "mongo":
        return request.getfixturevalue("mongo_database")
    import mongomock

    return mongomock.MongoClient()[f"gatewayfw_{uuid.uuid4().hex}"]


@pytest.fixture
def gateway_client(request: pytest.FixtureRequest) -> GatewayClient:
    """A client of the app in the fixture ``app``, which the tests define.

    It signs in as users (`as_user`) if there is a fixture ``gateway_tokens`` with the `Tokens` of the service.
    """
    from gatewayfw.testing.kit import GatewayClient

    try:
        tokens = request.getfixturevalue("gateway_tokens")
    except pytest.FixtureLookupError:
        tokens = None
    return GatewayClient(request.getfixturevalue("app"), tokens)
