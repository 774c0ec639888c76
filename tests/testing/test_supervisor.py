"""The supervisor ends a server with the process that started it, however that ends."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from pymongo import MongoClient

from gatewayfw.testing import supervisor
from gatewayfw.testing.mongod import LocalMongod
from tests.testing.servers import listens, needs_mongod
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

#: A program that starts a mongod, tells where, and waits to be killed.
OWNER = """
import os, sys, time
from gatewayfw.testing.mongod import LocalMongod
mongod = LocalMongod(*sys.argv[1:]).start()
{more}
print(mongod.port, mongod.data, flush=True)
time.sleep(60)
"""


@contextmanager
def owner(more="", *arguments):
    command = [sys.executable, "-c", OWNER.format(more=more), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        port, data = process.stdout.readline().split()
        yield process, int(port), Path(data)
        process.kill()


@needs_mongod
@pytest.mark.parametrize("killed_by", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_server_and_its_folder_go_with_the_process_that_started_it(found, killed_by):
    with owner() as (process, port, data):
        assert listens(port)
        process.send_signal(killed_by)
        assert wait_until(lambda: not listens(port) and not data.exists())


@needs_mongod
def test_folder_of_a_killed_process_can_be_used_again_at_once(found, tmp_path):
    with owner("", str(tmp_path)) as (process, port, _):
        with MongoClient(f"mongodb://127.0.0.1:{port}/?replicaSet=rs0") as client:
            client.shop.things.insert_one({"_id": 1})
        process.kill()
        with LocalMongod(tmp_path) as mongod, MongoClient(mongod.uri) as client:
            assert list(client.shop.things.find()) == [{"_id": 1}]


@needs_mongod
def test_server_stops_at_interpreter_exit(found):
    with owner("print(mongod.port, mongod.data, flush=True); sys.exit()") as (process, port, data):
        assert process.wait(20) == 0
        assert listens(port) is False
        assert not data.exists()


@needs_mongod
def test_server_has_a_session_of_its_own_that_ctrl_c_does_not_reach(found):
    with LocalMongod() as mongod:
        server = int((mongod.data / "db" / "mongod.lock").read_text())
        assert os.getsid(server) not in (os.getsid(0), os.getpid())


@needs_mongod
def test_forked_child_that_exits_leaves_the_server_alone(found):
    fork = "if os.fork() == 0: mongod.stop(); sys.exit()\nos.wait()"
    with owner(fork) as (_, port, _data):
        assert listens(port)


@pytest.fixture
def supervise(tmp_path):
    """Start a supervisor of a shell script in the folder ``data``."""
    (tmp_path / "data").mkdir()
    begun = []

    def supervise(what, *argv):
        program = [sys.executable, "-I", "-S", supervisor.__file__, str(tmp_path / "data"), what, *argv]
        begun.append(subprocess.Popen(program, stdin=subprocess.PIPE))
        return begun[-1]

    yield supervise
    for process in begun:
        process.stdin.close()
        process.wait(20)


ENDS = {
    "by itself": (("sh", "-c", "echo out; echo err >&2; exit 5"), 5, "out\nerr\n"),
    "by a signal": (("sh", "-c", "kill -9 $$"), 137, ""),
    "not even begun": (("/nowhere",), 126, "[Errno 2] No such file or directory: '/nowhere'\n"),
}


@pytest.mark.parametrize("what", ["keep", "remove"])
@pytest.mark.parametrize(("argv", "status", "log"), ENDS.values(), ids=ENDS)
def test_a_program_that_ends_leaves_status_and_log(supervise, tmp_path, what, argv, status, log):
    assert supervise(what, *argv).wait(20) == status
    assert (tmp_path / "data" / "mongod.log").read_text() == log


#: Tells when it runs, and ends with status 7 when it is asked to.
OBEYS = ("sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done")


def says_ready(folder):
    log = folder / "mongod.log"
    return wait_until(lambda: log.exists() and log.read_text() == "ready\n")


STOPS = {
    "a byte": lambda process: (process.stdin.write(b"\n"), process.stdin.flush()),
    "the end": lambda process: process.stdin.close(),
}


@pytest.mark.parametrize(
    ("stop", "what", "is_left"),
    [("a byte", "keep", True), ("a byte", "remove", False), ("the end", "remove", False)],
)
def test_a_program_ends_with_its_owner_and_its_folder_where_it_is_to_be_removed(
    supervise, tmp_path, stop, what, is_left
):
    process, folder = supervise(what, *OBEYS), tmp_path / "data"
    assert says_ready(folder)
    STOPS[stop](process)
    assert (process.wait(20), folder.exists()) == (7, is_left)


class Deaf:
    """A program that does not end when it is asked to, or does."""

    def __init__(self, ends):
        self._ends, self.told = ends, []

    def terminate(self):
        self.told.append("terminate")

    def wait(self, seconds):
        self.told.append(seconds)
        if not self._ends:
            raise subprocess.TimeoutExpired("mongod", seconds)

    def kill(self):
        self.told.append("kill")


@pytest.mark.parametrize("ends", [True, False])
def test_a_program_that_does_not_end_is_killed(monkeypatch, ends):
    read, stopped, program = [], threading.Event(), Deaf(ends)
    monkeypatch.setattr(supervisor.os, "read", lambda *given: read.append(given))
    supervisor.stop_with_owner(program, stopped)
    assert read == [(0, 1)]
    assert stopped.is_set()
    assert program.told == ["terminate", 10.0, *([] if ends else ["kill"])]


def test_a_folder_has_one_program_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "LOCK_WAIT", 0.01)
    with (tmp_path / "lock").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert supervisor.main(tmp_path, True, ["/nowhere"]) == 75
        timer = threading.Timer(0.1, fcntl.flock, (other, fcntl.LOCK_UN))
        monkeypatch.setattr(supervisor, "LOCK_WAIT", 3.0)
        timer.start()
        with (tmp_path / "lock").open("wb") as lock:
            assert supervisor.locked(lock)
        timer.join()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
