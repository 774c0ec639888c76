"""A worker is killed with SIGKILL in the middle of a job: another one goes on, though nobody calls the service."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import get_args

import pytest
import urllib3
from bson import ObjectId

from gatewayfw.web.servers import Server
from tests.faults import job_service
from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent
#: Seconds after a kill within which the job goes on.
MOST = 12
GUNICORN = ["gunicorn", "-c", "sample_service/gunicorn.conf.py", "tests.faults.job_service:create_app()"]
COMMANDS = {
    "conf": lambda port: [*GUNICORN, "--workers", "1", "--bind", f"127.0.0.1:{port}"],
    "conf and preload": lambda port: [*GUNICORN, "--preload", "--workers", "1", "--bind", f"127.0.0.1:{port}"],
    **{name: lambda port, name=name: ["tests.faults.job_service", name, str(port)] for name in get_args(Server)},
}


class Serving:
    """The service of jobs on a server, as processes."""

    def __init__(self, command, port, uri, log):
        self._command, self._port, self._log = command, port, log
        self._environ = {**os.environ, "MONGODB_URI": uri, "TMPDIR": str(log.parent)}  # what is killed tidies nothing
        self._start()

    def _start(self):
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *self._command],
                cwd=ROOT,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        assert wait_until(self._listens, process=self._process, log=self._log.read_text), self._log.read_text()

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def rename(self, name):
        """Let the service change its one land; gives the status."""
        body = {"model": "land", "act": "rename", "details": {"set": {"name": name}, "get": {}}}
        with urllib3.HTTPConnectionPool("127.0.0.1", self._port, timeout=60, retries=False) as pool:
            return pool.request("POST", "/gateway", json=body).status

    def kill_workers(self):
        """SIGKILL all workers; a server of one process is started again, as by a supervisor."""
        workers = [pid for pid in _processes() if _parent_of(pid) == self._process.pid]
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        if not workers:
            self._process.kill()
            self._process.wait()
            self._start()

    def end(self):
        """Kill what is left of it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _processes():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _parent_of(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended meanwhile
        return 0


@pytest.fixture
def uri(mongod_uri, mongo_database, monkeypatch):
    """The connection string of an empty database, in the environment, too."""
    uri = mongod_uri.replace("/?", f"/{mongo_database.name}?")
    monkeypatch.setenv("MONGODB_URI", uri)
    return uri


@pytest.fixture
def odm(uri, mongo_database, full):
    """The models of the service, with a land and very many cities in it, which have right copies."""
    odm = job_service.make().odm
    land = {"_id": odm.model("land").insert_one({"name": "old"})["_id"], "name": "old"}
    cities = ({"_id": ObjectId(), "name": "city", "land": land} for _ in range(100_000 if full else 2_000))
    odm.ready()
    mongo_database.city.insert_many(cities)
    yield odm
    odm.storage.close()


@contextmanager
def held(database):
    """Let nobody else write a city in the middle, so that a job does not get beyond it."""
    middle = list(database.city.find({}, {"_id": 1}).sort("_id"))[database.city.estimated_document_count() // 2]
    with database.client.start_session() as session, session.start_transaction():
        database.city.update_one(middle, {"$set": {"held": True}}, session=session)
        yield
        session.abort_transaction()


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the workers are found in /proc")
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_the_job_of_a_killed_worker_goes_on_while_nobody_calls(
    command, uri, odm, mongo_database, free_port, tmp_path, report
):
    server = Serving(command(free_port), free_port, uri, tmp_path / "log")
    try:
        with held(mongo_database):
            assert server.rename("new") == 200
            assert wait_until(lambda: any(job.leased and job.after for job in odm.jobs()), 120)
            killed = time.monotonic()
            server.kill_workers()
            [before] = odm.jobs()
        assert wait_until(lambda: [job.token for job in odm.jobs()] != [before.token], 60)
        went_on = time.monotonic() - killed
        assert wait_until(lambda: not odm.jobs(), 180)
    finally:
        server.end()
    report(seconds_until_it_went_on=round(went_on, 1), to_the_end=round(time.monotonic() - killed, 1))
    assert went_on < MOST
    assert mongo_database.city.count_documents({"land.name": {"$ne": "new"}}) == 0
