"""Fixtures of all tests; the `mongod_uri` and `mongo_database` ones come from gatewayfw's own pytest plugin."""

from __future__ import annotations

import signal
import socket

import mongomock
import pytest
from hypothesis import settings
from pymongo.database import Database

from gatewayfw.storage import MockStorage, MongoStorage
from tests.missing import missing_in
from tests.upstream import upstreams

# No deadline per example: a loaded machine is not a failure.
settings.register_profile("gatewayfw", deadline=None)
settings.load_profile("gatewayfw")

#: Every database a test runs on; a test of both takes the fixture `database`, or `storage`.
DATABASES = ["mongomock", pytest.param("mongo", marks=pytest.mark.mongo)]


def pytest_collection_modifyitems(items):
    """Mark what needs a browser as slow, and put the files with slow tests first.

    With `--dist loadfile` a long file that begins last would keep one process busy, and the others idle.
    """
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a file that cannot be imported for want of an extra."""
    report = yield
    return skipped(report, str(collector.path))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Skip a test that fails for want of an extra."""
    report = yield
    return skipped(report, str(item.path))


def skipped(report, path):
    """Return the report, of a skip with its reason if only a library was missing."""
    library = missing_in(report.longreprtext) if report.failed else None
    if library is not None:
        report.outcome, report.longrepr = "skipped", (path, 0, f"Skipped: needs {library}")
    return report


@pytest.fixture
def default_signals():
    """Ctrl-C and a lost terminal as a terminal has them, for this process and its children.

    Started with ``nohup`` or in the background of a script, the whole session ignores them.
    """
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


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


@pytest.fixture
def upstream():
    """A function that starts a server whose answer to a POST is a script, and returns its URL."""
    with upstreams() as start:
        yield start


@pytest.fixture
def closed_port():
    """A port of 127.0.0.1 on which nothing listens, taken so that nothing will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def free_port():
    """A port of 127.0.0.1 that a test may listen on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
