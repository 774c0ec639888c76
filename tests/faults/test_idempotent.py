"""Workers die before a commit, or between it and the reply: the same key does it once, and gives the same bytes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import urllib3
from urllib3.exceptions import HTTPError

from tests.waiting import wait_until

#: A service whose act kills its worker at its first try: before the commit, after it, or not at all.
PROGRAM = """
import os, signal, sys
from pathlib import Path
from gatewayfw import gateway, integer
gw = gateway()
gw.odm.set_db(sys.argv[2])
things = gw.odm.new_model("thing", {"n": integer()})
met = Path(sys.argv[3])

def die(n):
    (met / str(n)).touch()
    os.kill(os.getpid(), signal.SIGKILL)

@gw.acts.act("thing", "add", set={"n": integer()}, idempotent="1h", idempotent_by=lambda body: "all")
def add(body):
    n = body["details"]["set"]["n"]
    added = things.insert_one(doc={"n": n}, projection={"n": 1})
    if n % 3 == 1 and not (met / str(n)).exists():
        die(n)
    if n % 3 == 2 and not (met / str(n)).exists():
        gw.odm.after_commit(lambda: die(n))
    return added

gw.run_server(port=int(sys.argv[1]), workers=int(sys.argv[4]), threads=4)
"""


class Service:
    """The program in a process group of its own."""

    def __init__(self, uri, folder, workers):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port = probe.getsockname()[1]
        self._log = folder / "service.log"
        (folder / "met").mkdir()
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(self._port), uri, str(folder / "met"), str(workers)],
                env={**os.environ, "PYTHONPATH": os.getcwd()},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def send(self, n):
        """Send the n-th request once; gives status, bytes and whether it is a replay, or None without a reply."""
        body = {"model": "thing", "act": "add", "details": {"set": {"n": n}, "get": {}}}
        try:
            with urllib3.HTTPConnectionPool("127.0.0.1", self._port, timeout=30, retries=False) as pool:
                reply = pool.request("POST", "/gateway", json=body, headers={"Idempotency-Key": f"key-{n}"})
                return reply.status, reply.data, reply.headers.get("Idempotent-Replay")
        except HTTPError:
            return None

    def send_until_done(self, n):
        """Send it until it succeeds; gives all replies."""
        replies = []

        def is_done():
            replies.append(self.send(n))
            return replies[-1] is not None and replies[-1][0] == 200

        assert wait_until(is_done, process=self.process, log=self._log.read_text), self._log.read_text()
        return replies

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def service(full, mongo_database, mongod_uri, tmp_path):
    """The program on a new database of a replica set."""
    uri = mongod_uri.replace("/?", f"/{mongo_database.name}?")
    running = Service(uri, tmp_path, 4 if full else 2)
    try:
        yield running
    finally:
        running.end()


@pytest.mark.slow
@pytest.mark.mongo
def test_a_worker_that_dies_around_the_commit_leaves_one_document_and_the_same_bytes(
    full, service, mongo_database, report
):
    numbers = range(240 if full else 3)
    with ThreadPoolExecutor(8 if full else 1) as clients:
        done = dict(zip(numbers, clients.map(service.send_until_done, numbers), strict=True))
    kept = sorted(one["n"] for one in mongo_database.thing.find())
    assert kept == list(numbers)
    again = {n: service.send_until_done(n)[-1] for n in numbers}
    assert {n: reply[1:] for n, reply in again.items()} == {n: (replies[-1][1], "1") for n, replies in done.items()}
    # Killed after the commit, so the reply that came at last is that of the first try, unless another request in the
    # same worker had killed it before.
    answered = {replies[-1][2] for n, replies in done.items() if n % 3 == 2}
    assert "1" in answered if full else answered == {"1"}
    report(requests=len(numbers), tries=sum(map(len, done.values())))
