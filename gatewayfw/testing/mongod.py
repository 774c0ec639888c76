"""A MongoDB server for tests and first steps: one node, on 127.0.0.1.

It is a replica set, so it has transactions.

It has no access control, so it is for one machine and not for production. It runs on Linux and
macOS with MongoDB 6.0 or later. All names and limits are our choice.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

REPLICA_SET = "rs0"
#: Seconds until the server must take writes.
START_WAIT = 30.0
#: Seconds for it to end; the supervisor kills mongod after 10.
STOP_WAIT = 15.0

#: Where Linux keeps files in memory, and the free bytes that several servers for tests need there.
MEMORY = Path("/dev/shm")
ROOM = 2 << 30

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_IN_USE = 75  # the supervisor's exit status: another process works on the folder
_PORT_TAKEN = 48  # mongod's exit status: it could not listen
_NOT_INITIALIZED = 94  # MongoDB error code: no replica set configuration yet
_PORT_ATTEMPTS = 5


class MongodError(Exception):
    """The local server could not be started."""


class MongodNotFound(MongodError):
    """There is no mongod to start."""

    def __init__(self, reason: str = "no mongod found") -> None:
        super().__init__(
            f"{reason}; name one with GATEWAYFW_MONGOD=/path/to/mongod, install MongoDB so that mongod is on "
            "PATH, or, on Linux and macOS, install the extra gatewayfw[mongod]"
        )


class _PortTaken(Exception):
    """Something else listens on the port."""


def find_mongod() -> Path | None:
    """Return the path of mongod; None if there is none, and always on Windows.

    It is looked for in ``GATEWAYFW_MONGOD``, on ``PATH``, and in the extra ``mongod``.

    Raises:
        MongodNotFound: ``GATEWAYFW_MONGOD`` names no program.
    """
    if sys.platform == "win32":
        return None
    if named := os.environ.get("GATEWAYFW_MONGOD"):
        if not _executable(Path(named)):
            raise MongodNotFound(f"GATEWAYFW_MONGOD={named} is not a program")
        return Path(named).absolute()
    if found := shutil.which("mongod"):
        return Path(found).absolute()
    # The top package of the extra is only looked up, never imported: it may be all of FiftyOne.
    spec = importlib.util.find_spec("fiftyone")
    folders = (spec.submodule_search_locations or []) if spec else []
    shipped = (Path(folder, "db", "bin", "mongod") for folder in folders)
    return next((program for program in shipped if _executable(program)), None)


def memory_folder() -> Path | None:
    """Return a folder whose files are in memory, or None.

    It must have 2 GiB free. In memory collections and indexes are made and dropped in a sixth of the time, because
    MongoDB waits for the disk at each. If ``TMPDIR`` is set, the result is None, so that it is obeyed.
    """
    if os.environ.get("TMPDIR") or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    return MEMORY if shutil.disk_usage(MEMORY).free >= ROOM else None


class LocalMongod:
    """A mongod that runs between `start` and `stop`, or inside ``with``.

    It ends with the process that started it, even if that is killed; in a forked child `stop` does nothing. Ctrl-C in a
    terminal does not reach it, so that the application can finish its work.

    Args:
        data: the folder of its data, made when missing and kept. One process at a time may use
            it. Without it the data is in a temporary folder that is removed at the end.
        port: the port to listen on; without it a free one is taken.
        within: where the temporary folder is made; without it where the system makes them.
    """

    def __init__(
        self,
        data: Path | str | None = None,
        port: int | None = None,
        *,
        within: Path | None = None,
    ) -> None:
        self._given = Path(data).absolute() if data is not None else None
        self._within = within
        self._given_port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._data: Path | None = None
        self._port = 0

    @property
    def uri(self) -> str:
        """The connection string; the port may differ after the next start."""
        return self.uri_of("")

    def uri_of(self, database: str) -> str:
        """Return a connection string for `set_db` that names a database."""
        return f"mongodb://127.0.0.1:{self.port}/{database}?replicaSet={REPLICA_SET}"

    @property
    def port(self) -> int:
        """The port it listens on."""
        self._check_running()
        return self._port

    @property
    def data(self) -> Path:
        """The folder with the data (``db``) and the log of this run (``mongod.log``)."""
        self._check_running()
        assert self._data is not None
        return self._data

    @property
    def is_running(self) -> bool:
        """Whether it was started, not stopped, and has not ended by itself."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> LocalMongod:
        """Start the server and return when it takes writes; at most `START_WAIT` seconds.

        Raises:
            MongodNotFound: there is no mongod.
            MongodError: it did not start, its folder is in use, or the given port is taken.
        """
        if self._process is not None:
            raise MongodError("this mongod is running already")
        program = find_mongod()
        if program is None:
            raise MongodNotFound
        ports = [self._given_port] if self._given_port else (find_free_port() for _ in range(_PORT_ATTEMPTS))
        for port in ports:
            with contextlib.suppress(_PortTaken):
                return self._start_on(port, program)
        raise MongodError(f"port {self._port} is in use")

    def stop(self) -> None:
        """Stop the server and wait for its end; do nothing when it does not run."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        atexit.unregister(self.stop)
        # A byte, not only the end of the pipe: a forked child may hold the pipe open.
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin as pipe:
            pipe.write(b"\n")
        try:
            process.wait(STOP_WAIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the supervisor leads a session of its own, with mongod in it
            process.wait()
        if self._given is None and self._data is not None:
            shutil.rmtree(self._data, ignore_errors=True)

    def __enter__(self) -> LocalMongod:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _check_running(self) -> None:
        if self._process is None:
            raise MongodError("this mongod is not running")

    def _start_on(self, port: int, program: Path) -> LocalMongod:
        data = self._given or Path(tempfile.mkdtemp(prefix="gatewayfw-mongod-", dir=self._within))
        (data / "db").mkdir(parents=True, exist_ok=True)
        argv = [sys.executable, "-I", "-S", str(_SUPERVISOR), str(data), "keep" if self._given else "remove"]
        self._owner, self._data, self._port = os.getpid(), data, port
        self._process = subprocess.Popen(
            [*argv, str(program), *_options(data / "db", port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.stop)
        try:
            self._wait_until_primary(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def _wait_until_primary(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + START_WAIT
        # The driver looks again for a missing server only every half second, so the port comes first.
        self._wait_until(lambda: _listens(self._port), process, end)
        with MongoClient[dict[str, Any]](
            "127.0.0.1", self._port, directConnection=True, serverSelectionTimeoutMS=1000, socketTimeoutMS=5000
        ) as client:
            self._wait_until(lambda: _writable(client, self.data, self._port), process, end)

    def _wait_until(self, ready: Callable[[], bool], process: subprocess.Popen[bytes], end: float) -> None:
        while time.monotonic() < end:
            self._check_alive(process)
            with contextlib.suppress(PyMongoError):
                if ready():
                    return
            time.sleep(0.02)
        raise MongodError(f"mongod takes no writes after {START_WAIT:.0f} s\n{_tail(self.data)}")

    def _check_alive(self, process: subprocess.Popen[bytes]) -> None:
        status = process.poll()
        if status is None:
            return
        if status == _IN_USE:
            raise MongodError(f"another process uses the data in {self.data}")
        if status == _PORT_TAKEN:
            raise _PortTaken
        raise MongodError(f"mongod ended with status {status}\n{_tail(self.data)}")


def _options(db: Path, port: int) -> list[str]:
    options = {
        "--dbpath": db,
        "--port": port,
        "--bind_ip": "127.0.0.1",
        "--replSet": REPLICA_SET,
        "--oplogSize": 256,  # MB
        "--wiredTigerCacheSizeGB": 0.25,
        "--journalCommitInterval": 20,  # ms, for which an index build waits; 5 take three times the CPU at rest (6.0.5)
    }
    parameters = {"transactionLifetimeLimitSeconds": 5, "diagnosticDataCollectionEnabled": "false"}
    given = [word for name, value in options.items() for word in (name, str(value))]
    return [*given, *(f"--setParameter={name}={value}" for name, value in parameters.items()), "--nounixsocket"]


def _writable(client: MongoClient[dict[str, Any]], data: Path, port: int) -> bool:
    """Give the server its replica set, and tell whether it takes writes."""
    if client.admin.command("hello")["isWritablePrimary"]:
        return _is_ours(client, data)
    if _is_ours(client, data):
        _configure(client, f"127.0.0.1:{port}")
    return False


def _is_ours(client: MongoClient[dict[str, Any]], data: Path) -> bool:
    """Tell whether this is our server, not another that took the port first."""
    options = client.admin.command("getCmdLineOpts")["parsed"]
    return bool(options.get("storage", {}).get("dbPath") == str(data / "db"))


def _configure(client: MongoClient[dict[str, Any]], host: str) -> None:
    """Make the server the only member of its replica set, at this address."""
    member = {"_id": 0, "host": host}
    try:
        config = client.admin.command("replSetGetConfig")["config"]
    except OperationFailure as error:
        if error.code == _NOT_INITIALIZED:
            client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": [member]})
        return
    if [known["host"] for known in config["members"]] != [host]:
        # The folder was last used on another port; forced, because there is no primary now.
        moved = {**config, "version": config["version"] + 1, "members": [{**config["members"][0], **member}]}
        client.admin.command("replSetReconfig", moved, force=True)


def _executable(program: Path) -> bool:
    if not program.is_file():
        return False
    if not os.access(program, os.X_OK):  # an installer may have dropped the mode
        with contextlib.suppress(OSError):
            program.chmod(program.stat().st_mode | 0o111)
    return os.access(program, os.X_OK)


def find_free_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _tail(data: Path) -> str:
    """Return the errors in the log and its last lines, as plain text."""
    try:
        lines = [_readable(line) for line in (data / "mongod.log").read_text("utf-8", "replace").splitlines()]
    except OSError:
        return "it wrote no log"
    errors = [line for line in lines[:-5] if line.startswith(("E ", "F "))]
    return "\n".join(errors[-5:] + lines[-5:])


def _readable(line: str) -> str:
    try:
        entry = json.loads(line)
        return f"{entry['s']} {entry['msg']} {json.dumps(entry.get('attr', {}))}"[:300]
    except (ValueError, KeyError, TypeError):
        return line[:300]
