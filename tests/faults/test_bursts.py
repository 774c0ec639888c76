"""Random operations of many threads and processes break no copy and no window."""

from __future__ import annotations

import sys

import pytest

from tests.faults.bursts import on_mongodb, on_mongomock


@pytest.fixture
def quick_switches():
    """Switch between threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_switches")
def test_bursts_of_threads_keep_the_promise(full, report):
    broken, ended = on_mongomock(100 if full else 2)
    report(broken=len(broken), operations=dict(ended))
    assert broken == {}


@pytest.mark.mongo
@pytest.mark.slow
def test_bursts_of_processes_keep_the_promise(full, mongod_uri, report):
    broken, ended = on_mongodb(mongod_uri, 200 if full else 2)
    report(broken=len(broken), operations=dict(ended))
    assert broken == {}
