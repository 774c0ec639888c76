"""Replica sets of local mongods that can be killed and started again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import MappingProxyType

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from gatewayfw.testing import supervisor
from gatewayfw.testing.mongod import MongodNotFound, find_mongod

NAME = "faults"
#: The port of a mongod that has a machine to itself.
PORT = 27017
#: Seconds until a started set must have a primary.
START_WAIT = 60.0
#: Milliseconds without a primary until its followers elect another one.
ELECTION = 2000
NONE = MappingProxyType({})


class Member:
    """One mongod, run by the supervisor that ends it with this process, also when this is killed.

    With ``replica_set`` None it is a standalone server. ``inside`` is the command that runs others on its machine.
    """

    def __init__(self, folder, port, replica_set=NAME, *, host="127.0.0.1", inside=(), parameters=NONE):
        self.host = host
        self.port = port
        self._inside = inside
        self._folder = folder
        self._replica_set = replica_set
        self._parameters = parameters
        self._process = None
        self._client = None
        (folder / "db").mkdir(parents=True)

    def start(self):
        program = find_mongod()
        if program is None:
            raise MongodNotFound
        argv = [sys.executable, "-I", "-S", supervisor.__file__, str(self._folder), "keep", str(program)]
        self._process = subprocess.Popen(
            [*self._inside, *argv, *self._options()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._client = MongoClient(
            self.host, self.port, directConnection=True, serverSelectionTimeoutMS=1000, socketTimeoutMS=5000
        )

    def _options(self):
        given = {"--dbpath": self._folder / "db", "--port": self.port, "--bind_ip": self.host}
        given |= {"--wiredTigerCacheSizeGB": 0.25}
        if self._replica_set is not None:
            given |= {"--replSet": self._replica_set, "--oplogSize": 256}
        words = [word for name, value in given.items() for word in (name, str(value))]
        parameters = {"transactionLifetimeLimitSeconds": 5, "diagnosticDataCollectionEnabled": "false"}
        parameters |= self._parameters
        return [*words, *(f"--setParameter={name}={value}" for name, value in parameters.items()), "--nounixsocket"]

    def command(self, *command):
        """Run a command of the database admin on this very member."""
        assert self._process.poll() is None, (self._folder / "mongod.log").read_text()[-2000:]
        return self._client.admin.command(*command)

    def runs(self):
        """Whether it was started and not killed."""
        return self._process is not None

    @property
    def group(self):
        """The process group of its supervisor and mongod."""
        return self._process.pid

    def is_primary(self):
        """Whether it takes writes."""
        if not self.runs():
            return False
        with contextlib.suppress(PyMongoError):
            return self.command("hello")["isWritablePrimary"]
        return False

    def kill(self):
        """End it as ``kill -9`` does; do nothing when it does not run."""
        if not self.runs():
            return
        # The supervisor leads a session of its own, with mongod in it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._client.close()
        self._process = self._client = None


class ReplicaSet:
    """Mongods on free ports, their data in a temporary folder; used inside ``with``.

    With ``proxy`` there is one member, and all but this class reach it through the proxy only. With ``machines`` each
    has one member. Not ``initiated``, its members run but are no set. ``parameters`` are more of mongod's.
    """

    def __init__(self, size=3, proxy=None, *, initiated=True, machines=(), parameters=NONE):
        self._initiated = initiated
        self._folder = Path(tempfile.mkdtemp(prefix="gatewayfw-faults-"))
        ports = _free_ports(1 if proxy else size)
        self.members = [Member(self._folder / str(port), port, parameters=parameters) for port in ports]
        self._hosts = [f"127.0.0.1:{proxy.port if proxy else port}" for port in ports]
        if machines:
            self.members = [
                Member(self._folder / one.address, PORT, host=one.address, inside=one.inside) for one in machines
            ]
            self._hosts = [f"{one.address}:{PORT}" for one in machines]
        if proxy:
            proxy.connect_to(ports[0])

    @property
    def uri(self):
        """The connection string, without a database."""
        return f"mongodb://{','.join(self._hosts)}/?replicaSet={NAME}"

    def __enter__(self):
        try:
            self.start()
            if self._initiated:
                self._initiate()
                self.wait_for_primary()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self):
        """Start all members; their data is what it was when they were killed."""
        for member in self.members:
            member.start()

    def kill(self):
        """Kill all members."""
        for member in self.members:
            member.kill()

    def primary(self):
        """Return the member that takes writes, or None."""
        return next((member for member in self.members if member.is_primary()), None)

    def wait_for_primary(self):
        """Return the primary when there is one."""
        end = time.monotonic() + START_WAIT
        while time.monotonic() < end:
            if member := self.primary():
                return member
            time.sleep(0.02)
        raise AssertionError(f"no primary after {START_WAIT:.0f} s")

    def _initiate(self):
        hosts = [{"_id": number, "host": host} for number, host in enumerate(self._hosts)]
        settings = {"electionTimeoutMillis": ELECTION, "heartbeatIntervalMillis": 500}
        config = {"_id": NAME, "members": hosts, "settings": settings}
        for member in self.members:
            _wait_until_listening(member.host, member.port)
        self.members[0].command("replSetInitiate", config)


@contextlib.contextmanager
def standalone(folder):
    """Run a mongod without a replica set, its data in a folder; gives its connection string, without a database."""
    member = Member(folder, *_free_ports(1), replica_set=None)
    try:
        member.start()
        _wait_until_listening(member.host, member.port)
        yield f"mongodb://127.0.0.1:{member.port}/"
    finally:
        member.kill()


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def _wait_until_listening(host, port):
    end = time.monotonic() + START_WAIT
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError(f"no mongod listens at {port}")
