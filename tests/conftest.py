"""Fixtures of all tests; the `mongod_uri` and `mongo_database` ones come from gatewayfw's own pytest plugin."""

from __future__ import annotations

import gc
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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector away from what is collected, which lives as long as the process.

    Whenever it ran, it would look at a million objects of modules and tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items):
    """Mark what needs a browser as slow; put its files first, and the other slow ones evenly among the quick ones.

    With `--dist loadfile` a long file that begins last would keep one process busy, and the others idle. Browsers need
    all cores; other slow tests often wait, and at that time quick ones do not.
    """
    shown = [item for item in items if "browser" in getattr(item, "fixturenames", ())]
    for item in shown:
        item.add_marker(pytest.mark.slow)
    files, slow = dict.fromkeys(item.path for item in items), {item.path for item in items if is_slow(item)}
    places = {
        **spread([path for path in files if path not in slow], 1.0),
        **spread([path for path in files if path in slow], 0.7),
        **{item.path: -1.0 for item in shown},
    }
    items.sort(key=lambda item: places[item.path])


def is_slow(item):
    """Whether a test is marked as slow."""
    return item.get_closest_marker("slow") is not None


def spread(files, end):
    """Return a place of each file, from 0 on and in even steps up to an end."""
    return {path: number * end / len(files) for number, path in enumerate(files)}


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
