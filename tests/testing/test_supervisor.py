"""The supervisor ends a server with the process that started it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from pymongo import MongoClient

from gatewayfw.testing.mongod import local_mongod
from tests.testing.servers import listens, needs_mongod
from tests.waiting import wait_until

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


@pytest.mark.slow
@needs_mongod
@pytest.mark.parametrize("killed_by", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_server_and_its_folder_go_with_the_process_that_started_it(found, killed_by):
    with owner() as (process, port, data):
        assert listens(port)
        process.send_signal(killed_by)
        assert wait_until(lambda: not listens(port) and not data.exists())


@pytest.mark.slow
@needs_mongod
def test_folder_of_a_killed_process_can_be_used_again_at_once(found, tmp_path):
    with owner("", str(tmp_path)) as (process, port, _):
        with MongoClient(f"mongodb://127.0.0.1:{port}/?replicaSet=rs0") as client:
            client.shop.things.insert_one({"_id": 1})
        process.kill()
        with local_mongod(tmp_path) as mongod, MongoClient(mongod.uri) as client:
            assert list(client.shop.things.find()) == [{"_id": 1}]


@needs_mongod
def test_server_stops_at_interpreter_exit(found):
    with owner("print(mongod.port, mongod.data, flush=True); sys.exit()") as (process, port, data):
        assert process.wait(20) == 0
        assert (listens(port), data.exists()) == (False, False)


@needs_mongod
def test_server_has_a_session_of_its_own_that_ctrl_c_does_not_reach(found):
    with local_mongod() as mongod:
        server = int((mongod.data / "db" / "mongod.lock").read_text())
        assert os.getsid(server) not in (os.getsid(0), os.getpid())


@pytest.mark.slow
@needs_mongod
def test_forked_child_that_exits_leaves_the_server_alone(found):
    fork = "if os.fork() == 0: mongod.stop(); sys.exit()\nos.wait()"
    with owner(fork) as (_, port, _data):
        assert listens(port)
