"""A server that is told to stop finishes what it has, and takes nothing new."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import urllib3

from tests.faults.slow_service import SECONDS

ROOT = Path(__file__).parent.parent.parent
#: Acts under way; the server has 2 workers of 8 threads.
ACTS = 12
GUNICORN = ["gunicorn", "-c", "sample_service/gunicorn.conf.py", "tests.faults.slow_service:create_app()"]
SERVERS = {
    "run_server": lambda port: ["tests.faults.slow_service", str(port)],
    "gunicorn": lambda port: [*GUNICORN, "--bind", f"127.0.0.1:{port}"],
}


class Slow:
    """The slow service on a server, as a process."""

    def __init__(self, command, port, uri, folder):
        self.port = port
        self._started, self._log = folder / "started", folder / "server.log"
        environ = {"MONGODB_URI": uri, "STARTED": str(self._started)}
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=ROOT,
                env={**os.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self, ready):
        """Wait until a condition holds."""
        for _ in range(1200):
            if ready():
                return
            assert self.process.poll() is None, self._log.read_text()
            time.sleep(0.05)
        raise AssertionError(self._log.read_text())

    def listens(self):
        """Whether it takes connections."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def begun(self):
        """How many acts have begun."""
        return len(self._started.read_text().splitlines()) if self._started.exists() else 0

    def write(self, key):
        """Ask for one act; gives status and envelope."""
        body = {"model": "first", "act": "write", "details": {"set": {"key": key}, "get": {}}}
        with urllib3.HTTPConnectionPool("127.0.0.1", self.port, timeout=60, retries=False) as pool:
            reply = pool.request("POST", "/gateway", json=body)
            return reply.status, reply.json()

    def end(self):
        """Kill what is left of it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(params=SERVERS.values(), ids=SERVERS)
def slow(request, mongo_database, mongod_uri, tmp_path):
    """The slow service, listening."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    slow = Slow(request.param(port), port, mongod_uri.replace("/?", f"/{mongo_database.name}?"), tmp_path)
    try:
        slow.wait(slow.listens)
        yield slow
    finally:
        slow.end()


@pytest.mark.mongo
@pytest.mark.slow
def test_sigterm_lets_all_acts_under_way_answer_and_takes_nothing_new(slow, mongo_database, full, report):
    keys = [f"k{number}" for number in range(ACTS)]
    assert slow.write("first")[0] == 200  # the collections are there
    with ThreadPoolExecutor(ACTS) as clients:
        replies = [clients.submit(slow.write, key) for key in keys]
        slow.wait(lambda: slow.begun() == ACTS + 1)
        slow.process.send_signal(signal.SIGTERM)
        told = time.monotonic()
        refused = False
        while slow.process.poll() is None and time.monotonic() < told + 60:
            refused = refused or not slow.listens()
            time.sleep(0.02)
        took = time.monotonic() - told
        answers = [reply.result() for reply in replies]
    report(took=round(took, 2))
    assert answers == [(200, {"body": key + "x" * 100_000, "success": True}) for key in keys]
    assert slow.process.returncode == 0
    assert slow.listens() is False
    for name in ("first", "second"):
        assert sorted(one["key"] for one in mongo_database[name].find()) == sorted(["first", *keys])
    if full:
        assert refused
        assert took < SECONDS + 10
