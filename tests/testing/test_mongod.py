"""The local mongod: found, started, kept, refused, and gone with the process that started it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from gatewayfw.testing import mongod as module
from gatewayfw.testing.mongod import LocalMongod, MongodError, MongodNotFound, find_mongod, memory_folder
from tests.testing.servers import listens, needs_mongod
from tests.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """An environment without any mongod."""
    monkeypatch.delenv("GATEWAYFW_MONGOD", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)


def test_no_mongod_is_found_where_there_is_none(nowhere):
    assert find_mongod() is None


def test_start_without_mongod_names_the_three_ways(nowhere):
    with pytest.raises(MongodNotFound) as caught:
        LocalMongod().start()
    assert str(caught.value) == (
        "no mongod found; name one with GATEWAYFW_MONGOD=/path/to/mongod, install MongoDB so that mongod is on "
        "PATH, or, on Linux and macOS, install the extra gatewayfw[mongod]"
    )


def test_mongod_of_the_environment_variable_comes_first(monkeypatch, program):
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    assert find_mongod() == program


def test_environment_variable_that_names_no_program_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(tmp_path))
    with pytest.raises(MongodNotFound, match=r"^GATEWAYFW_MONGOD=.* is not a program; name one with"):
        find_mongod()


def test_mongod_on_the_path_is_found(nowhere, monkeypatch, program):
    monkeypatch.setenv("PATH", str(program.parent))
    assert find_mongod() == program


def test_mongod_of_the_extra_is_found_without_an_import_and_made_executable(monkeypatch, tmp_path):
    shipped = tmp_path / "site" / "fiftyone" / "db" / "bin" / "mongod"
    shipped.parent.mkdir(parents=True)
    shipped.write_text("#!/bin/sh\n")
    shipped.chmod(0o644)
    (tmp_path / "site" / "fiftyone" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.delenv("GATEWAYFW_MONGOD", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert find_mongod() == shipped
    assert shipped.stat().st_mode & 0o777 == 0o755


def test_mongod_that_ends_at_once_is_an_error_with_its_last_words(monkeypatch, program):
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    with pytest.raises(MongodError) as caught:
        LocalMongod().start()
    assert str(caught.value) == "mongod ended with status 3\nno such option"


COMMAND = (
    "--dbpath {data}/db --port {port} --bind_ip 127.0.0.1 --replSet rs0 --oplogSize 256 --wiredTigerCacheSizeGB 0.25 "
    "--journalCommitInterval 20 --setParameter=transactionLifetimeLimitSeconds=5 "
    "--setParameter=diagnosticDataCollectionEnabled=false --nounixsocket"
)


def test_mongod_is_started_with_these_options(monkeypatch, program, tmp_path, free_port):
    program.write_text('#!/bin/sh\necho "$@" >"$2/command"\nexit 3\n')
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    begun, begin = [], subprocess.Popen
    monkeypatch.setattr(module.subprocess, "Popen", lambda argv, **how: begun.append(how) or begin(argv, **how))
    (tmp_path / "db").mkdir()
    with pytest.raises(MongodError, match=r"^mongod ended with status 3\n$"):
        LocalMongod(tmp_path, free_port).start()
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    assert begun == [{"stdin": subprocess.PIPE, **silent, "start_new_session": True}]
    assert (tmp_path / "db" / "command").read_text() == COMMAND.format(data=tmp_path, port=free_port) + "\n"


@pytest.mark.parametrize(
    ("status", "message"),
    [(48, "port {port} is in use"), (75, "another process uses the data in {data}")],
    ids=["port", "data"],
)
def test_what_is_used_already_is_told_by_the_status(monkeypatch, program, tmp_path, free_port, status, message):
    program.write_text(f"#!/bin/sh\nexit {status}\n")
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    with pytest.raises(MongodError) as caught:
        LocalMongod(tmp_path, free_port).start()
    assert str(caught.value) == message.format(port=free_port, data=tmp_path)


def test_a_long_or_odd_line_of_the_log_is_cut(monkeypatch, program):
    lines = ['{"s": "E", "msg": "' + "m" * 400 + '"}', '{"s": "E"}', "[]", "é" * 400, '{"s": "I", "msg": "\udcff"}']
    log = ['{"s": "E", "msg": "first"}', *(f'{{"s": "E", "msg": "{n}"}}' for n in range(5)), '{"s": "W", "msg": "w"}']
    program.write_text(
        "#!/bin/sh\ncat <<'TEXT'\n" + "\n".join([*log, *lines]) + "\nTEXT\nexit 62\n", "utf-8", "surrogateescape"
    )
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    with pytest.raises(MongodError) as caught:
        LocalMongod().start()
    assert str(caught.value).splitlines()[1:] == [
        *(f"E {n} {{}}" for n in range(5)),
        *(f"E {'m' * 298}", '{"s": "E"}', "[]", "é" * 300, "I \ufffd {}"),
    ]


def test_program_for_another_machine_is_an_error_that_says_so(monkeypatch, program):
    program.write_bytes(b"\x7fELF")
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    with pytest.raises(MongodError) as caught:
        LocalMongod().start()
    assert str(caught.value) == f"mongod ended with status 126\n[Errno 8] Exec format error: '{program}'"


def test_errors_of_the_server_are_shown_before_its_last_words(monkeypatch, program):
    log = ['{"s": "F", "msg": "Wrong version", "attr": {"found": 7}}', *(f"line {n}" for n in range(9))]
    program.write_text("#!/bin/sh\ncat <<'TEXT'\n" + "\n".join(log) + "\nTEXT\nexit 62\n")
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    with pytest.raises(MongodError) as caught:
        LocalMongod().start()
    assert str(caught.value).splitlines() == [
        "mongod ended with status 62",
        'F Wrong version {"found": 7}',
        *(f"line {n}" for n in range(4, 9)),
    ]


def test_mongod_without_a_log_is_an_error_that_says_so(monkeypatch, program, tmp_path):
    program.write_text(f"#!/bin/sh\nrm '{tmp_path}/data/mongod.log'\nexit 3\n")
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    with pytest.raises(MongodError) as caught:
        LocalMongod(tmp_path / "data").start()
    assert str(caught.value) == "mongod ended with status 3\nit wrote no log"


def test_mongod_that_never_listens_is_given_up_and_its_folder_removed(monkeypatch, program, tmp_path):
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    monkeypatch.setattr(module, "START_WAIT", 0.3)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(MongodError, match=r"^mongod takes no writes after 0 s\n$"):
        LocalMongod().start()
    assert list(tmp_path.glob("gatewayfw-mongod-*")) == []


def test_mongod_that_does_not_stop_is_killed_with_its_session(monkeypatch, program, tmp_path):
    program.write_text("#!/bin/sh\ntrap '' TERM\nexec sleep 60\n")
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    monkeypatch.setattr(module, "START_WAIT", 0.5)
    monkeypatch.setattr(module, "STOP_WAIT", 0.1)
    begun = time.monotonic()
    with pytest.raises(MongodError, match=r"^mongod takes no writes after 0 s\n"):
        LocalMongod(within=tmp_path).start()
    assert time.monotonic() - begun < 5
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_there_is_no_mongod_on_windows(monkeypatch, program):
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))
    monkeypatch.setattr(module.sys, "platform", "win32")
    assert find_mongod() is None


def test_a_free_port_is_one_that_anybody_may_use():
    port = module.find_free_port()
    assert port > 1023
    assert listens(port) is False


def test_a_server_for_tests_has_times_and_a_name():
    told = (module.REPLICA_SET, module.START_WAIT, module.STOP_WAIT, module.MEMORY, module.ROOM)
    assert told == ("rs0", 30.0, 15.0, Path("/dev/shm"), 2 * 1024**3)


@needs_mongod
def test_server_is_a_replica_set_with_transactions(mongo_client):
    with mongo_client.start_session() as session, session.start_transaction():
        mongo_client.gatewayfw_start.things.insert_one({"_id": 1}, session=session)
    assert list(mongo_client.gatewayfw_start.things.find()) == [{"_id": 1}]
    mongo_client.drop_database("gatewayfw_start")


@needs_mongod
def test_stop_ends_the_server_and_removes_its_folder(found):
    with LocalMongod() as mongod:
        port, data = mongod.port, mongod.data
        assert listens(port) is True
        assert data.is_dir()
    assert listens(port) is False
    assert not data.exists()


@needs_mongod
def test_its_temporary_folder_is_made_where_one_says(found, tmp_path):
    with LocalMongod(within=tmp_path) as mongod:
        assert (mongod.data.parent, mongod.data.name[:17]) == (tmp_path, "gatewayfw-mongod-")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("temporary", "folder", "free", "found"),
    [
        (None, ".", 2 << 30, "."),
        (None, ".", (2 << 30) - 1, None),
        ("/tmp", ".", 2 << 30, None),
        (None, "none", 0, None),
    ],
    ids=["room", "no room", "TMPDIR says where", "no such folder"],
)
def test_a_folder_in_memory_is_one_with_room(monkeypatch, tmp_path, temporary, folder, free, found):
    monkeypatch.setattr(module, "MEMORY", tmp_path / folder)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    monkeypatch.setenv("TMPDIR", temporary) if temporary else monkeypatch.delenv("TMPDIR", raising=False)
    assert memory_folder() == (found and tmp_path / found)


@needs_mongod
def test_it_says_whether_it_runs_even_if_its_server_was_killed(found):
    mongod = LocalMongod()
    seen = [mongod.is_running]
    with mongod:
        seen.append(mongod.is_running)
        with MongoClient(mongod.uri) as client:
            pid = client.admin.command("serverStatus")["pid"]
        os.kill(pid, signal.SIGKILL)
        assert wait_until(lambda: not mongod.is_running)
    assert seen == [False, True]
    assert mongod.is_running is False


@needs_mongod
def test_uri_of_a_stopped_server_is_refused(found):
    mongod = LocalMongod().start()
    with pytest.raises(MongodError, match=r"^this mongod is running already$"):
        mongod.start()
    mongod.stop()
    mongod.stop()
    with pytest.raises(MongodError, match=r"^this mongod is not running$"):
        _ = mongod.uri


@needs_mongod
def test_data_of_a_given_folder_outlives_the_server_and_its_port(found, tmp_path):
    with LocalMongod(tmp_path / "my data") as first, MongoClient(first.uri) as client:
        client.shop.things.insert_one({"_id": 1})
        port = first.port
        assert first.uri_of("shop") == f"mongodb://127.0.0.1:{port}/shop?replicaSet=rs0"
        assert (first.uri, first.data) == (f"mongodb://127.0.0.1:{port}/?replicaSet=rs0", tmp_path / "my data")
    with LocalMongod(tmp_path / "my data") as second, MongoClient(second.uri) as client:
        assert list(client.shop.things.find()) == [{"_id": 1}]
        assert second.port != port
        assert client.primary == ("127.0.0.1", second.port)


@needs_mongod
def test_folder_in_use_is_refused_and_its_server_left_alone(found, tmp_path):
    with LocalMongod(tmp_path) as mongod:
        with pytest.raises(MongodError, match=r"^another process uses the data in "):
            LocalMongod(tmp_path).start()
        assert listens(mongod.port)


@needs_mongod
def test_given_port_that_is_taken_is_refused(found):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with pytest.raises(MongodError, match=rf"^port {port} is in use$"):
            LocalMongod(port=port).start()


@needs_mongod
def test_lost_race_for_a_port_is_run_again(found, monkeypatch):
    free = module.find_free_port()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        ports = iter([other.getsockname()[1], free])
        monkeypatch.setattr(module, "find_free_port", lambda: next(ports))
        with LocalMongod() as mongod:
            assert mongod.port == free


@needs_mongod
def test_another_server_on_the_port_is_not_taken_for_ours(found, tmp_path):
    with LocalMongod() as other, pytest.raises(MongodError, match=rf"^port {other.port} is in use$"):
        LocalMongod(tmp_path, other.port).start()


class Server:
    """A server that answers commands by their names, and takes writes once something was changed or looked at."""

    def __init__(self, data, members):
        self._options = {"parsed": data and {"storage": {"dbPath": str(data / "db")}}}
        self._config = members and {"_id": "rs0", "version": 4, "members": members}
        self._is_primary, self.admin, self.changed, self.reached, self.uris = False, self, [], [], []

    def __getitem__(self, documents):
        return self

    def __call__(self, *given, **named):
        self.reached.append((given, named))
        return nullcontext(self)

    def command(self, name, *given, **named):
        if name == "getCmdLineOpts":
            return self._options
        if name == "hello":
            return {"isWritablePrimary": self._is_primary}
        self._is_primary = True
        if name != "replSetGetConfig":
            self.changed.append((name, *given, named))
        elif self._config is None:
            raise OperationFailure("no replset config has been received", 94)
        return {"config": self._config}


@pytest.fixture
def start(monkeypatch, program, tmp_path):
    """Start a mongod whose server is made up; return the port and the server."""
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setenv("GATEWAYFW_MONGOD", str(program))

    def start(make):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            server = make(f"127.0.0.1:{port}")
            monkeypatch.setattr(module, "MongoClient", server)
            with LocalMongod(tmp_path / "data", port) as mongod:
                server.uris = [mongod.uri, mongod.uri_of("shop")]
                return port, server

    return start


CHANGES = {
    "new": (lambda host: None, lambda one: [("replSetInitiate", {"_id": "rs0", "members": [one]}, {})]),
    "as it was": (lambda host: [{"_id": 0, "host": host}], lambda one: []),
    "on another port before": (
        lambda host: [{"_id": 7, "host": "127.0.0.1:4", "votes": 1}],
        lambda one: [
            ("replSetReconfig", {"_id": "rs0", "version": 5, "members": [{**one, "votes": 1}]}, {"force": True})
        ],
    ),
}


@pytest.mark.parametrize(("members", "changes"), CHANGES.values(), ids=CHANGES)
def test_a_server_becomes_the_only_member_of_its_set(start, tmp_path, members, changes):
    port, server = start(lambda host: Server(tmp_path / "data", members(host)))
    assert server.changed == changes({"_id": 0, "host": f"127.0.0.1:{port}"})
    how = {"directConnection": True, "serverSelectionTimeoutMS": 1000, "socketTimeoutMS": 5000}
    assert server.reached == [(("127.0.0.1", port), how)]
    assert server.uris == [f"mongodb://127.0.0.1:{port}/{name}?replicaSet=rs0" for name in ("", "shop")]


@pytest.mark.parametrize("data", [Path("/other"), {}], ids=["other data", "no data"])
def test_a_server_of_somebody_else_is_left_alone(start, monkeypatch, data):
    monkeypatch.setattr(module, "START_WAIT", 0.1)
    made = []
    with pytest.raises(MongodError, match="^mongod takes no writes"):
        start(lambda host: made.append(Server(data, None)) or made[0])
    assert made[0].changed == []
