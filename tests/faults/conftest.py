"""Fixtures of the fault harness: its size, and what the faults happen to."""

from __future__ import annotations

import os

import pytest

from gatewayfw.testing.mongod import find_mongod
from tests.faults.proxy import Proxy
from tests.faults.replica import ReplicaSet
from tests.faults.serving import stage

#: What needs root, or is about times alone, runs at full size only.
collect_ignore = [] if os.environ.get("GATEWAYFW_TEST_FAULTS") == "1" else ["test_machines.py", "test_probes.py"]


@pytest.fixture(scope="session")
def full():
    """Whether the scenarios run at full size and assert times: with ``./dev test --faults``."""
    return os.environ.get("GATEWAYFW_TEST_FAULTS") == "1"


@pytest.fixture
def report(request):
    """Print figures of the test; ``-s`` shows them."""

    def report(**figures):
        text = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items())
        print(f"{request.node.name}: {text}")

    return report


@pytest.fixture(scope="session")
def mongod():
    """Skip, or fail, where there is no mongod to kill."""
    if find_mongod() is None:
        if os.environ.get("GATEWAYFW_REQUIRE_MONGO") == "1":
            pytest.fail("GATEWAYFW_REQUIRE_MONGO=1, but there is no mongod", pytrace=False)
        pytest.skip("there is no mongod")


@pytest.fixture(scope="session")
def replica_set(mongod):
    """Three mongods."""
    with ReplicaSet() as replica_set:
        yield replica_set


@pytest.fixture(scope="session")
def proxy(mongod):
    """What stands before `proxied`."""
    with Proxy() as proxy:
        yield proxy


@pytest.fixture(scope="session")
def proxied(proxy):
    """A mongod that is reached through `proxy`."""
    with ReplicaSet(proxy=proxy) as replica_set:
        yield replica_set


@pytest.fixture
def on_stage(tmp_path):
    """Give a context manager that serves on a MongoDB server: ``on_stage(uri, *options of gunicorn)``."""
    return lambda uri, *options, **kind: stage(uri, tmp_path, *options, **kind)
