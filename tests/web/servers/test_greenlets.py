"""gunicorn with workers of gevent: the gateway refuses to serve, in words, and nothing is lost."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.sample_service.serving import Gunicorn
from tests.waiting import wait_until

APP = "tests.faults.job_service:create_app()"
REFUSAL = "gevent has replaced the threads of this process by greenlets"


@pytest.fixture
def gunicorn(mongod_uri, mongo_database, tmp_path):
    """A function that starts gunicorn with these options and workers of gevent."""
    pytest.importorskip("gevent", reason="gevent is not installed")
    uri, servers = mongod_uri.replace("/?", f"/{mongo_database.name}?"), []

    def start(*options):
        options = (*options, "--worker-class", "gevent", "--workers", "1")
        servers.append(Gunicorn(options, uri, "k" * 32, tmp_path / "log", APP))
        return servers[0]

    yield start
    for server in servers:
        server.stop()


@pytest.mark.mongo
@pytest.mark.slow
def test_acts_are_refused_where_the_master_has_loaded_the_app(gunicorn, mongo_database):
    server = gunicorn("--preload")

    def call(act, name):
        body = {"model": "land", "act": act, "details": {"set": {"name": name}, "get": {}}}
        return server.post(json.dumps(body).encode(), {"Content-Type": "application/json"})[0]

    with ThreadPoolExecutor(6) as clients:
        held = clients.submit(call, "hold", "held")
        added = [clients.submit(call, "add", str(number)) for number in range(5)]
        assert [reply.result() for reply in (held, *added)] == [500] * 6
    assert list(mongo_database.land.find()) == []
    assert REFUSAL in server.log.read_text()


@pytest.mark.mongo
@pytest.mark.slow
def test_workers_that_load_the_app_themselves_do_not_start(gunicorn):
    log = gunicorn().log
    assert wait_until(lambda: "Worker failed to boot" in log.read_text(), 20)
    assert REFUSAL in log.read_text()
