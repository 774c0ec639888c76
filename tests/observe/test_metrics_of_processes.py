"""Metrics of workers, some of which are killed, add up to the requests that were answered."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.serving import Server
from tests.observe.calls import UNKNOWN, counts
from tests.waiting import wait_until

HEADERS = {"Content-Type": "application/json"}
ACTS = {"list": "ok", "fail": "internal_error", "add": "validation_error"}
MADE_UP = 1_000


def body_of(act):
    return json.dumps({"model": "book", "act": act, "details": {"set": {}, "get": {}}})


@pytest.fixture
def server(mongo_database, mongod_uri, tmp_path, monkeypatch):
    (tmp_path / "metrics").mkdir()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path / "metrics"))
    uri = mongod_uri.replace("/?", f"/{mongo_database.name}?")
    options = ("-c", "sample_service/gunicorn.conf.py")
    found = Server(options, uri, "", tmp_path / "log", "tests.observe.metrics_service:create_app()")
    yield found
    found.stop()


@pytest.mark.slow
def test_the_page_adds_up_to_the_requests(server):
    bodies = [*(body_of(act) for act in ACTS), body_of("list"), "{", *(body_of(f"made{n}") for n in range(MADE_UP))]
    labels = {("main", "book", act, code): 1 for act, code in ACTS.items()}
    with ThreadPoolExecutor(4) as threads:
        first = list(threads.map(lambda body: server.post(body, HEADERS)[0], bodies))
        running = server.workers()
        assert server.kill_workers(1) == 1
        wait_until(lambda: len(server.workers()) == len(running) and set(server.workers()) != set(running))
        second = list(threads.map(lambda body: server.post(body, HEADERS)[0], bodies))
    statuses = Counter(first + second)
    assert statuses == {200: 4, 500: 2, 400: 4, 404: 2 * MADE_UP}
    page = server.pool.request("GET", "/gateway/metrics").data.decode()
    expected = {key: 2 * number for key, number in labels.items()}
    assert counts(page) == {**expected, ("main", "book", "list", "ok"): 4, UNKNOWN: 2 * (MADE_UP + 1)}


@pytest.mark.slow
def test_a_live_gauge_of_a_worker_that_ended_is_gone(server, tmp_path):
    def are_those_that_run():
        gauges = {file.name for file in (tmp_path / "metrics").glob("gauge_*")}
        return len(gauges) == 2 and gauges == {f"gauge_livesum_{pid}.db" for pid in server.workers()}

    assert wait_until(are_those_that_run)
    server.kill_workers(1)
    assert wait_until(lambda: len(server.booted()) == 3 and are_those_that_run())
    page = server.pool.request("GET", "/gateway/metrics").data.decode()
    assert "workers 2.0" in page.splitlines()
