"""One log line in words for each outage of MongoDB, one when it is over; nothing secret, nothing per request."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from pymongo import MongoClient, errors

from gatewayfw.errors import StorageError, Timeout, Unavailable
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage, Trouble
from gatewayfw.storage.mongo import outages as mongo_outages
from gatewayfw.storage.mongo.outages import Outages, concerns_server, is_conclusive, trouble_of
from tests.certificates import shake_hands, write_certificate
from tests.faults.replica import ReplicaSet
from tests.storage.mongo.standalone import standalone_mongod
from tests.waiting import wait_until

#: Seconds within which something must have happened.
PATIENCE = 30.0


@pytest.fixture
def connect():
    """A function that gives a storage on a URI, which looks for a server for a short time only."""
    made = []

    def connect(uri, timeout=0.5):
        made.append(MongoStorage(uri, settings=Settings(server_selection_timeout=timeout)))
        return made[-1]

    yield connect
    for storage in made:
        storage.close()


@pytest.fixture
def lines(caplog):
    """A function that gives what the storage logged, each duration as N."""

    def lines():
        texts = [(record.levelname, record.getMessage()) for record in caplog.records if record.name.startswith("gat")]
        return [(level, text.partition(", after ")[0]) for level, text in texts]

    return lines


@pytest.fixture
def replica_set(mongod_uri):
    """A replica set of one; `mongod_uri` skips or fails where there is no mongod."""
    with ReplicaSet(size=1) as replica_set:
        yield replica_set


def count(storage):
    return storage.count("things", {})


def answers(storage):
    try:
        with storage.deadline(2):
            return count(storage) >= 0
    except Unavailable:
        return False


def out(text, name="db"):
    return "ERROR", f"database {name} is out of reach: {text}"


def back(name="db"):
    return "WARNING", f"database {name} answers again"


# -- what is wrong, in words


@pytest.mark.slow
def test_a_port_that_nobody_listens_to_is_logged_once(connect, lines):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        storage = connect(f"mongodb://someone:secret@{host}/db?replicaSet=rs0")

        def ask(_):
            with pytest.raises(Unavailable):
                count(storage)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(ask, range(12)))
    text = f"no answer ({host}: connection refused)"
    assert (lines(), storage.trouble()) == ([out(text)], Trouble("unreachable", text))


def test_every_host_is_named_with_its_reason(connect, lines):
    with socket.socket() as taken, socket.create_server(("127.0.0.1", 0)) as silent:
        taken.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in (taken, silent)]
        storage = connect(f"mongodb://127.0.0.1:{ports[0]},127.0.0.1:{ports[1]},nowhere.invalid:1/db?replicaSet=rs0")
        with pytest.raises(Unavailable):
            count(storage)
    [(_, text)] = lines()
    first, second = sorted([f"127.0.0.1:{ports[0]}: connection refused", f"127.0.0.1:{ports[1]}: no answer in time"])
    assert text == out(f"no answer ({first}, {second}, nowhere.invalid:1: its name is unknown)")[1]


@pytest.mark.mongo
def test_the_name_of_another_replica_set_is_logged(connect, lines, mongod_uri):
    host = mongod_uri.split("/")[2]
    storage = connect(f"mongodb://{host}/db?replicaSet=other")
    with pytest.raises(Unavailable):
        count(storage)
    text = f"{host}: no server there belongs to a replica set named 'other'"
    assert (lines(), storage.trouble()) == ([out(text)], Trouble("wrong_set", text))


@pytest.mark.mongo
def test_a_single_server_of_another_replica_set_is_logged(connect, lines, mongod_uri):
    host = mongod_uri.split("/")[2]
    storage = connect(f"mongodb://{host}/db?replicaSet=other&directConnection=true")
    with pytest.raises(Unavailable):
        count(storage)
    assert lines() == [out(f"{host}: no server there belongs to a replica set named 'other'")]


@pytest.mark.mongo
def test_a_client_with_tls_and_a_server_without_are_logged(connect, lines, mongod_uri):
    host = mongod_uri.split("/")[2]
    storage = connect(mongod_uri.replace("/?", "/db?") + "&tls=true")
    with pytest.raises(Unavailable):
        count(storage)
    text = f"no answer ({host}: the TLS handshake failed; does it use TLS?)"
    assert (lines(), storage.trouble()) == ([out(text)], Trouble("unreachable", text))


@pytest.fixture
def answering():
    """A function that starts a server which does one thing with each connection; gives its address."""
    servers = []

    def answering(handle):
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    handle(connection)

        threading.Thread(target=serve, daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    yield answering
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def test_a_server_that_closes_the_connection_is_logged(connect, lines, answering):
    host = answering(lambda connection: connection.recv(10_000))
    with pytest.raises(Unavailable):
        count(connect(f"mongodb://{host}/db?replicaSet=rs0"))
    assert lines() == [out(f"no answer ({host}: it closed the connection; did it end, or does it demand TLS?)")]


def test_a_certificate_that_is_not_trusted_is_logged(connect, lines, answering, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    write_certificate(tmp_path / "server.pem")
    context.load_cert_chain(tmp_path / "server.pem")

    def handshake(connection):
        with contextlib.suppress(OSError):  # the client hangs up
            shake_hands(connection, context)

    host = answering(handshake)
    with pytest.raises(Unavailable):
        count(connect(f"mongodb://{host}/db?replicaSet=rs0&tls=true", 1.0))
    assert lines() == [out(f"no answer ({host}: its TLS certificate is not accepted)")]


# -- who may not come in


@pytest.fixture(scope="module")
def guarded(mongod_uri, tmp_path_factory):
    """A standalone mongod that demands a user; gives its address and a client of its administrator."""
    with standalone_mongod(tmp_path_factory.mktemp("guarded"), "--auth") as port:
        with MongoClient("127.0.0.1", port, serverSelectionTimeoutMS=30_000) as client:
            client.admin.command("createUser", "root", pwd="root", roles=["root"])  # the server's first
        with MongoClient("127.0.0.1", port, username="root", password="root") as root:
            yield f"127.0.0.1:{port}", root


@pytest.fixture
def user(guarded):
    """A function that adds a user of the database `db` with one role and the password `right`."""
    _, root = guarded
    yield lambda name, role: root.db.command("createUser", name, pwd="right", roles=[role])
    root.db.command("dropAllUsersFromDatabase")


@pytest.mark.slow
@pytest.mark.mongo
def test_a_wrong_password_is_an_outage_until_it_is_right(connect, lines, guarded, user):
    host, root = guarded
    user("shop", "readWrite")
    storage = connect(f"mongodb://shop:wrong@{host}/db", 2.0)
    for _ in range(2):
        with pytest.raises(Unavailable):
            count(storage)
    text = f"{host} refuses the user name or the password"
    assert (lines(), storage.trouble()) == ([out(text)], Trouble("unauthenticated", text))
    root.db.command("updateUser", "shop", pwd="wrong")
    assert wait_until(lambda: answers(storage))
    assert (lines(), storage.trouble()) == ([out(text), back()], None)


@pytest.mark.mongo
def test_a_wrong_password_is_logged_of_a_given_database_too(lines, guarded, user):
    host, _ = guarded
    user("shop", "readWrite")
    with MongoClient(f"mongodb://shop:wrong@{host}/db") as client, pytest.raises(Unavailable):
        MongoStorage(client.db).transaction(lambda: None)
    assert lines() == [out(f"{host} refuses the user name or the password")]


@pytest.mark.mongo
def test_no_user_at_all_is_an_outage(connect, lines, guarded):
    host, _ = guarded
    storage = connect(f"mongodb://{host}/db", 2.0)
    for _ in range(2):
        with pytest.raises(Unavailable):
            count(storage)
    text = f"{host} demands a user name and a password"
    assert (lines(), storage.trouble()) == ([out(text)], Trouble("unauthenticated", text))


@pytest.mark.mongo
def test_a_missing_right_is_no_outage(connect, lines, guarded, user):
    host, _ = guarded
    user("reader", "read")
    storage = connect(f"mongodb://reader:right@{host}/db", 2.0)
    with pytest.raises(StorageError) as caught:
        storage.insert("things", [{"_id": 1}])
    assert caught.value.message.startswith("the user of the database lacks a privilege")
    assert count(storage) == 0
    assert lines() == []
    assert storage.trouble() is None


@pytest.mark.mongo
def test_the_role_read_write_is_enough(connect, lines, guarded, user):
    host, _ = guarded
    user("shop", "readWrite")
    storage = connect(f"mongodb://shop:right@{host}/db", 2.0)
    storage.ensure("things", [], 10)
    storage.insert("things", [{"_id": 1}])
    assert count(storage) == 1
    assert storage.delete_many("things", {}) == 1
    assert lines() == []


# -- servers that come and go


@pytest.mark.slow
@pytest.mark.mongo
def test_a_server_that_dies_and_comes_back_is_two_lines(connect, lines, replica_set):
    storage = connect(replica_set.uri.replace("/?", "/db?"))
    count(storage)
    host = replica_set.uri.split("/")[2]
    replica_set.kill()
    for _ in range(3):
        with pytest.raises(Unavailable):
            storage.transaction(lambda: count(storage))
    assert wait_until(lambda: not answers(storage) and lines())
    [(level, text)] = lines()
    assert level == "ERROR"
    assert text.startswith(f"database db is out of reach: no answer ({host}: ")
    replica_set.start()
    assert wait_until(lambda: answers(storage))
    assert lines()[1:] == [back()]


def states(group):
    """The states of the processes of a group, as proc(5) has them; T is stopped."""
    fields = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields.append(path.read_text().rpartition(")")[2].split())
    return {state for state, _parent, its_group, *_ in fields if int(its_group) == group and state != "Z"}


@pytest.mark.slow
@pytest.mark.mongo
def test_a_server_that_hangs_is_an_outage(connect, lines, replica_set):
    [member] = replica_set.members
    storage = connect(replica_set.uri.replace("/?", "/db?"), 1.0)
    storage.has_transactions()
    os.killpg(member.group, signal.SIGSTOP)
    try:
        assert wait_until(lambda: states(member.group) == {"T"})
        # The first command waits in vain, and the next asks the server first: the driver itself notices much later.
        assert [answers(storage), lines(), answers(storage)] == [False, [], False]
        assert lines() == [out(f"no answer (127.0.0.1:{member.port}: no answer in time)")]
    finally:
        os.killpg(member.group, signal.SIGCONT)
    assert wait_until(lambda: answers(storage))
    assert lines()[1:] == [back()]


@pytest.mark.slow
@pytest.mark.mongo
def test_a_set_without_a_primary_is_logged(connect, lines, replica_set):
    [member] = replica_set.members
    storage = connect(replica_set.uri.replace("/?", "/db?"), 1.0)
    count(storage)
    member.command({"replSetStepDown": 600, "force": True})
    assert wait_until(lambda: not answers(storage) and lines())
    text = f"no primary (127.0.0.1:{member.port}: a secondary)"
    assert (lines(), storage.trouble()) == ([out(text)], Trouble("no_primary", text))
    member.command({"replSetFreeze": 0})
    assert wait_until(lambda: answers(storage))
    assert (lines()[1:], storage.trouble()) == ([back()], None)


@pytest.mark.mongo
def test_a_set_that_is_not_initiated_is_logged(connect, lines, mongod_uri):
    with ReplicaSet(size=1, initiated=False) as idle:
        [member] = idle.members
        assert wait_until(lambda: connects(member.port))
        storage = connect(idle.uri.replace("/?", "/db?"), 1.0)
        with pytest.raises(Unavailable):
            count(storage)
    reason = "no initiated replica set has it as a member at this address"
    assert lines() == [out(f"no primary (127.0.0.1:{member.port}: {reason})")]


def connects(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# -- pings


def test_a_ping_says_and_logs_what_is_wrong(connect, lines):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        storage = connect(f"mongodb://someone:secret@{host}/db?replicaSet=rs0")
        with storage.deadline(0.2):
            found = storage.ping()
    text = f"no answer ({host}: connection refused)"
    assert (found, storage.trouble(), lines()) == (Trouble("unreachable", text),) * 2 + ([out(text)],)


@pytest.mark.mongo
def test_a_ping_knows_a_wrong_password(connect, lines, guarded, user):
    host, _ = guarded
    user("shop", "readWrite")
    text = f"{host} refuses the user name or the password"
    assert connect(f"mongodb://shop:wrong@{host}/db", 2.0).ping() == Trouble("unauthenticated", text)
    assert (connect(f"mongodb://shop:right@{host}/db", 2.0).ping(), lines()) == (None, [out(text)])


@pytest.mark.mongo
def test_a_ping_knows_the_name_of_another_set(connect, mongod_uri):
    host = mongod_uri.split("/")[2]
    storage = connect(f"mongodb://{host}/db?replicaSet=other")
    text = f"{host}: no server there belongs to a replica set named 'other'"
    with storage.deadline(0.5):
        assert storage.ping() == Trouble("wrong_set", text)


@pytest.mark.mongo
def test_a_ping_of_a_server_that_hangs_is_silence(connect, lines, replica_set):
    [member] = replica_set.members
    storage = connect(replica_set.uri.replace("/?", "/db?"), 1.0)
    assert storage.ping() is None
    os.killpg(member.group, signal.SIGSTOP)
    try:
        assert wait_until(lambda: states(member.group) == {"T"})
        with storage.deadline(0.2):
            found = storage.ping()
    finally:
        os.killpg(member.group, signal.SIGCONT)
    text = f"no answer (127.0.0.1:{member.port}: no answer in time)"
    assert (found, lines()) == (Trouble("unreachable", text), [out(text)])
    assert wait_until(lambda: storage.ping() is None) is True
    assert lines()[1:] == [back()]


@pytest.mark.mongo
def test_a_ping_knows_a_set_without_a_primary(connect, replica_set):
    [member] = replica_set.members
    storage = connect(replica_set.uri.replace("/?", "/db?"), 1.0)
    member.command({"replSetStepDown": 600, "force": True})
    text = f"no primary (127.0.0.1:{member.port}: a secondary)"

    def ping():
        with storage.deadline(0.5):
            return storage.ping()

    assert wait_until(lambda: ping() == Trouble("no_primary", text))


# -- what is no outage


@pytest.mark.mongo
def test_one_slow_command_is_no_outage(connect, lines, mongod_uri):
    storage = connect(mongod_uri.replace("/?", "/gatewayfw_slow?"), 2.0)
    storage.insert("things", [{"_id": 1}])
    slow = [{"$match": {"$expr": {"$function": {"body": "function() { sleep(3000) }", "args": [], "lang": "js"}}}}]
    with storage.deadline(0.3), pytest.raises(Timeout):
        list(storage.aggregate("things", slow))
    assert count(storage) == 1
    assert storage.delete_many("things", {}) == 1
    assert lines() == []
    assert storage.trouble() is None


@pytest.mark.mongo
def test_a_deadline_that_is_nearly_used_up_is_no_outage(connect, lines, mongod_uri):
    storage = connect(mongod_uri.replace("/?", "/db?"), 2.0)
    with storage.deadline(0.001), pytest.raises(Unavailable):
        count(storage)
    assert count(storage) == 0
    assert lines() == []
    assert storage.trouble() is None


@pytest.mark.parametrize(
    ("error", "concerns"),
    [
        (errors.WaitQueueTimeoutError("x"), False),
        (errors.ExecutionTimeout("x", 50), False),
        (errors.OperationFailure("x", 112), False),
        (errors.OperationFailure("not authorized", 13, {"errmsg": "not authorized on db"}), False),
        (errors.NotPrimaryError("x"), True),
        (errors.NetworkTimeout("x"), True),
        (ValueError("x"), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_some_errors_concern_the_server(error, concerns):
    assert concerns_server(error) is concerns


# -- what the driver knows, in words


class Known:
    """What the driver knows: servers by host and port, each its error or its role."""

    def __init__(self, servers, name=None, writable=False):
        self.servers = {
            address: SimpleNamespace(
                error=known if isinstance(known, Exception) else None,
                server_type_name=known if isinstance(known, str) else "Unknown",
            )
            for address, known in servers.items()
        }
        self.replica_set_name, self.writable = name, writable
        self.known_servers = [server for server in self.servers.values() if server.server_type_name != "Unknown"]

    def server_descriptions(self):
        return self.servers

    def has_writable_server(self):
        return self.writable


HOST = ("h", 1)
UNTRUSTED = "its TLS certificate is not accepted"
HANDSHAKE = "the TLS handshake failed; does it use TLS?"
CLOSED = "it closed the connection; did it end, or does it demand TLS?"


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", UNTRUSTED),
        ("CertificateError: hostname 'h' doesn't match", UNTRUSTED),
        ("[SSL] record layer failure", HANDSHAKE),
        ("no TLS here", HANDSHAKE),
        ("[Errno -2] Name not known", "its name is unknown"),
        ("getaddrinfo failed", "its name is unknown"),
        ("Name or service not known", "its name is unknown"),
        ("nodename nor servname provided", "its name is unknown"),
        ("[Errno 111] Connection refused", "connection refused"),
        ("[WinError 10061] No connection could be made", "connection refused"),
        ("[Errno 101] Network is unreachable", "no route to it"),
        ("[Errno 113] No route to host", "no route to it"),
        ("timed out", "no answer in time"),
        ("connection closed", CLOSED),
        ("[Errno 104] Connection reset by peer", CLOSED),
        ("ssl tls", "the connection failed"),
        ("refused after it timed out", "connection refused"),
    ],
)
def test_what_the_driver_says_of_a_server_is_told_in_our_words(known, reason):
    for error in (errors.AutoReconnect(known), ValueError(known)):
        found = trouble_of(errors.ServerSelectionTimeoutError("x"), Known({HOST: error}), [])
        assert found == Trouble("unreachable", f"no answer (h:1: {reason})")


@pytest.mark.parametrize(
    ("role", "reason"),
    [
        ("RSSecondary", "a secondary"),
        ("RSArbiter", "an arbiter"),
        ("RSOther", "not ready"),
        ("RSGhost", "no initiated replica set has it as a member at this address"),
        ("LoadBalancer", "no answer in time"),
    ],
)
def test_the_role_of_a_server_that_is_no_primary_is_told(role, reason):
    error, servers = errors.ServerSelectionTimeoutError("x"), {HOST: role, ("g", None): errors.NetworkTimeout("x")}
    found = trouble_of(error, Known(servers), [])
    assert found == Trouble("no_primary", f"no primary (g: no answer in time, h:1: {reason})")
    assert trouble_of(error, Known(servers, writable=True), []).kind == "unreachable"


def test_no_more_hosts_are_named_than_fit():
    hosts = {(f"h{number:02}", number): errors.NetworkTimeout("x") for number in range(10, 18)}
    error = errors.ServerSelectionTimeoutError("x")
    named = [f"h{number}:{number}: no answer in time" for number in range(10, 18)]
    assert trouble_of(error, Known(hosts), []).text == f"no answer ({', '.join(named)})"
    more = {**hosts, ("x" * 101, 1): errors.NetworkTimeout("x"), ("y\n", None): errors.NetworkTimeout("x")}
    assert trouble_of(error, Known(more), []).text == f"no answer ({', '.join(named)} and 2 more)"
    assert trouble_of(error, None, [("x" * 101, 1), ("y\n", None)]).text == f"no answer ({'x' * 100}:1, y\\n)"


REFUSED = errors.OperationFailure("x", 18)
DEMANDED = errors.OperationFailure("x", 13, {"errmsg": "Command find requires authentication"})


@pytest.mark.parametrize(
    ("error", "servers", "text"),
    [
        (REFUSED, {}, "s:1 refuses the user name or the password"),
        (DEMANDED, {}, "s:1 demands a user name and a password"),
        (errors.AutoReconnect("x"), {HOST: REFUSED}, "h:1 refuses the user name or the password"),
        (errors.AutoReconnect("x"), {HOST: DEMANDED}, "h:1 demands a user name and a password"),
        (DEMANDED, {HOST: REFUSED}, "h:1 refuses the user name or the password"),
    ],
)
def test_who_may_not_come_in_is_told(error, servers, text):
    assert trouble_of(error, Known(servers), [("s", 1)]) == Trouble("unauthenticated", text)


@pytest.mark.parametrize(
    "servers", [{}, {("s", 1): errors.ConfigurationError("s belongs to a set named rs1, not rs0")}]
)
def test_the_wrong_set_is_told(servers):
    error = errors.ServerSelectionTimeoutError("x")
    text = "s:1: no server there belongs to a replica set named 'rs\\\\n0'"
    assert trouble_of(error, Known(servers, "rs\n0"), [("s", 1)]) == Trouble("wrong_set", text)
    assert trouble_of(error, Known({HOST: "RSSecondary"}, "rs0"), []).kind == "no_primary"


@pytest.mark.parametrize(
    ("error", "known", "conclusive"),
    [
        (REFUSED, None, True),
        (errors.AutoReconnect("x"), None, False),
        (errors.AutoReconnect("x"), Known({}), True),
        (errors.AutoReconnect("x"), Known({HOST: errors.AutoReconnect("y"), ("g", 1): "RSSecondary"}), True),
        (errors.AutoReconnect("x"), Known({HOST: "RSSecondary"}), False),
        (errors.AutoReconnect("x"), Known({HOST: errors.AutoReconnect("y")}, writable=True), False),
        (errors.NetworkTimeout("x"), Known({}), False),
    ],
)
def test_some_errors_prove_an_outage(error, known, conclusive):
    assert is_conclusive(error, known) is conclusive


# -- the log


@pytest.fixture
def clock(monkeypatch):
    """A function that sets the time."""
    now = [0.0]
    monkeypatch.setattr(mongo_outages.time, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, seconds)


DOWN, NO_PRIMARY = Trouble("unreachable", "no answer"), Trouble("no_primary", "no primary")


def test_an_outage_has_two_lines_whatever_it_turns_into(clock, caplog):
    outages = Outages("shop")
    for seconds, trouble in enumerate([DOWN, NO_PRIMARY, DOWN, DOWN]):
        clock(seconds)
        outages.begin(trouble)
    clock(12.34)
    outages.end()
    outages.end()
    assert caplog.record_tuples == [
        ("gatewayfw.storage", logging.ERROR, "database shop is out of reach: no answer"),
        ("gatewayfw.storage", logging.WARNING, "database shop answers again, after 12.3 s"),
    ]
    assert outages.trouble is None
    assert outages.suspected is False


def test_the_name_of_a_database_forges_no_line(clock, caplog):
    outages = Outages("db\nERROR:root:forged")
    outages.begin(DOWN)
    outages.end()
    assert [record.getMessage() for record in caplog.records] == [
        r"database db\nERROR:root:forged is out of reach: no answer",
        r"database db\nERROR:root:forged answers again, after 0.0 s",
    ]


def test_a_database_that_comes_and_goes_does_not_fill_the_log(clock, caplog):
    outages = Outages("shop")
    for tenths in range(300):  # 30 seconds
        clock(tenths / 10)
        outages.begin(DOWN)
        assert outages.trouble == DOWN
        assert outages.suspected is True
        outages.end()
        assert outages.trouble is None
        assert outages.suspected is False
    assert len(caplog.records) == 6


def test_an_outage_that_follows_another_one_is_logged_when_it_lasts(clock, caplog):
    outages = Outages("shop")
    outages.begin(DOWN)
    outages.end()
    counts = []
    for seconds in (1, 5, 9.9, 10, 12):
        clock(seconds)
        outages.begin(NO_PRIMARY)
        counts.append(len(caplog.records))
    outages.end()
    assert counts == [2, 2, 2, 3, 3]
    assert [record.getMessage() for record in caplog.records] == [
        "database shop is out of reach: no answer",
        "database shop answers again, after 0.0 s",
        "database shop is out of reach: no primary",
        "database shop answers again, after 11.0 s",
    ]


@pytest.mark.slow
def test_a_child_process_has_outages_of_its_own(connect, lines, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        storage = connect(f"mongodb://127.0.0.1:{taken.getsockname()[1]}/db", 0.3)
        for pid in (os.getpid(), os.getpid(), -1):
            # The driver must not see it: the threads of other tests' clients would drop their sockets.
            monkeypatch.setattr("gatewayfw.storage.mongo.connection.os", SimpleNamespace(getpid=lambda pid=pid: pid))
            with pytest.raises(Unavailable):
                count(storage)
            storage.close()
    assert len(lines()) == 2
