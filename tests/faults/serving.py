"""The sample service behind gunicorn, with workers that can be killed."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from sample_service.app import create_service
from tests.faults.clients import Ledger, Sender
from tests.sample_service.serving import Gunicorn

KEY = "k" * 32
_BOOTED = re.compile(r"Booting worker with pid: (\d+)")


class Server(Gunicorn):
    """A running server whose workers are known."""

    @property
    def pid(self):
        """The pid of the master."""
        return self._process.pid

    def booted(self):
        """The pids of all workers it ever had, oldest first."""
        return [int(pid) for pid in _BOOTED.findall(self.log.read_text())]

    def workers(self):
        """The pids of the workers that run."""
        return [pid for pid in self.booted() if self._is_ours(pid)]

    def kill_workers(self, count=None):
        """SIGKILL that many workers, chosen at random, or all; returns how many were killed."""
        running = self.workers()
        chosen = running if count is None else random.sample(running, min(count, len(running)))
        for pid in chosen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(chosen)

    def peak_memory(self):
        """The most MB that any running worker had in memory; 0 where the system does not tell."""
        peaks = [0.0]
        for pid in self.workers():
            with contextlib.suppress(OSError):
                lines = Path(f"/proc/{pid}/status").read_text().splitlines()
                peaks += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")]
        return max(peaks)

    def _is_ours(self, pid):
        """Whether the process is in the server's session; a pid may belong to another one by now."""
        try:
            return os.getsid(pid) == self._process.pid
        except ProcessLookupError:
            return False


@contextlib.contextmanager
def killing_workers(server, every):
    """SIGKILL a random worker every so many seconds; gives the list of how many were killed each time."""
    stopped, killed = threading.Event(), []

    def kill():
        pause = 0.1  # the first one soon, however short the test is
        while not stopped.wait(pause):
            killed.append(server.kill_workers(1))
            pause = every

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stopped.set()
        thread.join()


@dataclass
class Stage:
    """The service on a database of its own: behind gunicorn, and in this process to look into it."""

    service: Any
    server: Server
    sender: Sender
    ledger: Ledger = field(default_factory=Ledger)

    @property
    def storage(self):
        """The storage that the service's documents are in."""
        return self.service.gw.odm.storage

    def add_organizations(self, count):
        """Add organizations behind the server's back; gives their ids as a client sends them."""
        docs = [{"name": f"organization {number}"} for number in range(count)]
        return [str(one["_id"]) for one in self.service.organizations.insert_many(docs=docs)]


@contextlib.contextmanager
def stage(uri, folder, *options, kind=Server):
    """Serve on a new database of a MongoDB server; ``options`` are those of gunicorn, the ``kind`` of server."""
    name = f"gatewayfw_faults_{uuid.uuid4().hex}"
    uri = uri.replace("/?", f"/{name}?")
    service = create_service(uri, KEY)
    try:
        service.gw.odm.ready()
        ghost = {"first_name": "Ghost", "last_name": "Example", "email": "ghost@example.com", "password": "x"}
        caller = service.users.insert_one(doc={**ghost, "isGhost": True})["_id"]
        server = kind(options, uri, KEY, folder / "server.log")
        try:
            yield Stage(service, server, Sender(server.pool, service.auth.tokens.issue({"_id": str(caller)})))
        finally:
            server.stop()
    finally:
        service.gw.odm.storage.close()
        # A test that failed may have left no primary.
        with MongoClient(uri, serverSelectionTimeoutMS=5000) as client, contextlib.suppress(PyMongoError):
            client.drop_database(name)
