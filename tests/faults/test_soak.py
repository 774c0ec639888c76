"""What runs for long grows no longer: memory, sessions, cursors, connections, collections of our own.

Two workers, of which one is killed again and again, and a replica set whose primary steps down or is killed.
``GATEWAYFW_TEST_SOAK=3600 ./dev test --faults tests/faults/test_soak.py`` does that for an hour.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from statistics import median

import pytest
from pymongo import MongoClient

from gatewayfw.errors import GatewayError
from tests.faults import soak_service
from tests.faults.clients import Background
from tests.faults.invariants import problems
from tests.faults.replica import ReplicaSet
from tests.faults.serving import KEY, Server
from tests.faults.soak import CITIES, PACE, PARAMETERS, Faults, SoakClient, Watch, follow, growing, slope
from tests.waiting import wait_until

APP = "tests.faults.soak_service:create_app()"
CLIENTS = 4
#: Seconds after which bytes without a document are swept; longer than a request takes.
SWEPT = 20
#: The share of the time that is not judged, because caches still fill.
WARM = 0.25


@pytest.fixture
def seconds(full):
    """How long to soak."""
    return float(os.environ.get("GATEWAYFW_TEST_SOAK", "60" if full else "6"))


@pytest.fixture
def soaked(mongod, monkeypatch):
    """A replica set, and a connection string of the database that the service has there."""
    with ReplicaSet(parameters=PARAMETERS) as replica_set:
        uri = replica_set.uri.replace("/?", "/soak?")
        monkeypatch.setenv("MONGODB_URI", uri)
        with MongoClient(uri) as client:
            yield replica_set, uri, client.get_default_database()


@pytest.fixture
def here(soaked):
    """The service in this process."""
    gw = soak_service.make(soaked[1])
    gw.odm.ready()
    yield gw
    gw.odm.storage.close()


@pytest.fixture
def server(here, soaked, tmp_path):
    server = Server(["-c", "sample_service/gunicorn.conf.py"], soaked[1], KEY, tmp_path / "log", app=APP)
    assert wait_until(lambda: len(server.workers()) == 2, log=server.log.read_text)
    yield server
    server.stop()


@pytest.fixture
def clients(here, server):
    """Clients that have a land each, and all the cities that each keeps."""
    names = [f"land {number}" for number in range(CLIENTS)]
    lands = here.odm.model("land").insert_many([{"name": name} for name in names])
    url = f"http://127.0.0.1:{server.pool.port}"
    clients = [SoakClient(url, number, str(land["_id"]), names[number]) for number, land in enumerate(lands)]
    for _ in range(CITIES):  # as many as each keeps
        for client in clients:
            client.add()
    yield clients
    for client in clients:
        client.close()


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory and descriptors are read in /proc")
def test_nothing_grows_while_workers_and_primaries_die(full, seconds, soaked, here, clients, server, tmp_path, report):
    replica_set, _, database = soaked
    watch = Watch(server, replica_set, database, lambda: sum(client.told["ok"] for client in clients))
    faults = Faults(server, replica_set)
    works = [
        (watch.sample, seconds / 240),
        (faults.kill_worker, min(20, seconds / 6)),
        (faults.fail_over, min(90, seconds / 4)),
        (lambda: sweep(here), SWEPT / 4),
    ]
    with Background(CLIENTS, lambda number: clients[number].step(), pause=0.1 if seconds > 600 else 0.02):
        follow(works, seconds)
    (tmp_path / "series.json").write_text(json.dumps([watch.times, watch.series]))
    times, series = watch.after(seconds * WARM)
    report(seconds=seconds, **faults.done, told=dict(sum((client.told for client in clients), Counter())))
    report(samples=len(times), **{name: levels(values) for name, values in series.items()})
    assert stored(here, database) == expected(clients)
    assert check_fit() == 0
    assert server.workers()[0] == watch.worker
    assert not full or growing(times, series) == {}


def sweep(here):
    """Delete bytes that requests have left without a document."""
    with suppress(GatewayError):  # there is no primary
        here.files.sweep(SWEPT)


def levels(values):
    """Return the median of the first third of samples, and of the last."""
    third = len(values) // 3
    return f"{median(values[:third]):.4g} to {median(values[-third:]):.4g}"


def stored(here, database):
    """Return what the clients may know of, once jobs are done and bytes without a document are swept."""
    assert problems(here.odm) == []
    here.files.sweep(-60)
    assert database["fs.files"].count_documents({}) == database["file"].count_documents({})
    cities = {(city["name"], city["land"]["name"]) for city in database["city"].find()}
    return cities, {str(file["_id"]) for file in database["file"].find()}, database["city"].count_documents({})


def expected(clients):
    """Return what the clients were told is stored."""
    cities = {(name, client.name) for client in clients for name in client.cities}
    return cities, {id_ for client in clients for id_ in client.files}, len(cities)


def check_fit():
    """Run ``flask gateway check --fit``; return its status."""
    command = [sys.executable, "-m", "flask", "--app", APP, "gateway", "check", "--fit"]
    return subprocess.run(command, timeout=120, check=False).returncode


def test_a_line_through_samples_is_not_moved_by_one_of_them():
    assert slope([0, 1, 2, 3, 4], [5, 5, 5, 5, 900]) == 0
    assert slope([0, 2, 4, 6], [1, 5, 9, 13]) == 2


def test_what_rises_is_told_and_what_saws_is_not():
    times = list(range(120))
    series = {
        "saw": [time % 10 for time in times],
        "level": [20] * 120,
        "leak": [time / 10 for time in times],
        "worker MB": [60 + time / 20 for time in times],
        "steady MB": [60 + time % 3 for time in times],
    }
    assert sorted(growing(times, series)) == ["leak", "worker MB"]
    assert sorted(growing(times, {PACE: [50 + time / 2 for time in times], **series})) == ["leak", "worker MB"]


def test_what_is_kept_for_a_while_may_follow_the_pace():
    times = list(range(120))
    kept = [30 + time / 10 for time in times]
    assert growing(times, {"kept": kept}).keys() == {"kept"}
    assert growing(times, {"kept": kept, PACE: [value * 2 for value in kept]}) == {}
