"""The worker class of gunicorn whose threads get requests that have arrived."""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import os
import re
import resource
import selectors
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import send_file
from gunicorn import arbiter
from gunicorn.config import Config
from gunicorn.http.parser import Parser
from gunicorn.http.unreader import Unreader
from gunicorn.workers import gthread

from gatewayfw import any_, gateway, integer, object_
from gatewayfw.settings import Settings
from gatewayfw.web.servers import receiving
from gatewayfw.web.servers.arrival import MOST_BODY
from gatewayfw.web.servers.connection import BLOCK, SPAN, Connection
from gatewayfw.web.servers.receiving import ReceivingWorker, allowed_seconds
from tests.certificates import write_certificate
from tests.waiting import wait_until
from tests.web.mount import raising

ROOT = Path(__file__).parent.parent.parent.parent
LISTENING = re.compile(r"Listening at: \S+?(?::(\d+))? \(")
THREADS = 4
#: Seconds after which a client that hears nothing gives up; the server's own patience with LONG is longer.
PATIENCE = 30
LONG, SHORT = "600", "0.1"
DATA = json.dumps({"model": "thing", "act": "echo", "details": {"set": {"x": 1}, "get": {}}}).encode()
ANSWER = b'{"body":{"x":1},"success":true}'
LINE = b"POST /gateway HTTP/1.1\r\n"
HEAD = LINE + b"Host: x\r\nContent-Type: application/json\r\n"
CALL = HEAD + b"Content-Length: %d\r\n\r\n" % len(DATA) + DATA
LAST_CALL = HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(DATA) + DATA
#: Requests that lack something, by what they lack.
CUT = {
    "all": b"",
    "half of the line": LINE[:9],
    "the end of the head": HEAD,
    "the body": HEAD + b"Content-Length: 100000\r\n\r\n",
    "the end of the body": LAST_CALL[:-1],
    "the end of a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\nx",
}
#: The same, which threads read: a few of them at once.
CUT_IN_THREADS = {
    "the body of which it waits to be told": HEAD + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
    "the end of a large chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffff\r\nx",
    "a trailer": HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: 1\r\n",
}


def served():
    """The app that gunicorn loads."""
    gw = gateway()

    @gw.acts.act("thing", "echo", set=object_({"x": any_()}))
    def echo(body):
        return body["details"]["set"]

    @gw.acts.act("thing", "hold", set=object_({"port": integer}), get={})
    def hold(body):
        """Wait until the one who listens there hangs up."""
        with socket.create_connection(("127.0.0.1", body["details"]["set"]["port"]), timeout=PATIENCE) as connection:
            rest(connection)

    @gw.acts.act("thing", "leave", set={}, get={})
    def leave(body):
        raise SystemExit

    @gw.acts.act("thing", "large", set={}, get={})
    def large(body):
        return "x" * 8_000_000

    app = gw.create_app()

    @app.get("/file")
    def file():
        content = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the reply
        content.truncate(100_000_000)
        return send_file(content, mimetype="text/plain")

    return app


class Server:
    """One worker, with its log in a folder."""

    def __init__(self, folder, *options, bind="127.0.0.1:0", files=None, **variables):
        self._log, self.bind = folder / "gunicorn.log", bind
        words = [f"{__name__}:served()", "--worker-class", "gatewayfw.web.servers.receiving.ReceivingWorker"]
        words += ["--threads", str(THREADS), "--keep-alive", "60", "--bind", bind, "--no-control-socket"]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAYFW_")}
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", *words, *options],
                cwd=ROOT,
                env={**environ, **{f"GATEWAYFW_{name.upper()}": value for name, value in variables.items()}},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))),
            )

    def __enter__(self):
        found = wait_until(lambda: LISTENING.search(self.log()), process=self.process, log=self.log)
        assert found, self.log()
        self.port = found[1] and int(found[1])
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def log(self):
        return self._log.read_text("utf-8", "replace")

    def connect(self, data=b""):
        """Open a connection and send the beginning of a request."""
        if self.port:
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        else:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(PATIENCE)
            connection.connect(self.bind.removeprefix("unix:"))
        connection.sendall(data)
        return connection

    def call(self, *parts, wrap=lambda connection: connection):
        """Send a request in parts and return all that comes back until the server closes."""
        with wrap(self.connect()) as connection:
            for part in parts or (LAST_CALL,):
                connection.sendall(part)
            return rest(connection)


def rest(connection):
    """Return what comes until the end; a reset is one."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while block := connection.recv(65536):
            received += block
    return received


def asking(act, **values):
    """Return the request of an act."""
    data = json.dumps({"model": "thing", "act": act, "details": {"set": values, "get": {}}}).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(data) + data


def statuses(received):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})", received)]


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    """A server that waits for requests as long as it must."""
    with Server(tmp_path_factory.mktemp("patient"), receive_timeout=LONG) as server:
        yield server


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A server that hardly waits for requests, large ones included."""
    with Server(tmp_path_factory.mktemp("hasty"), receive_timeout=SHORT, max_upload_bytes="1000") as server:
        yield server


@pytest.mark.parametrize(("length", "seconds"), [(0, 10), (2**20, 20), (5 * 2**20, 60), (2**60, 650), (None, 650)])
def test_seconds_that_a_body_may_take(length, seconds):
    assert allowed_seconds(10, length, 64 * 2**20) == seconds


@pytest.mark.parametrize("data", [*CUT.values(), *CUT_IN_THREADS.values()], ids=[*CUT, *CUT_IN_THREADS])
def test_call_is_answered_while_more_clients_than_threads_lack(patient, data):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(patient.connect(data)) for _ in range(3 * THREADS)]
        replies = [patient.call() for _ in range(3)]
        assert [reply.endswith(ANSWER) for reply in replies] == [True] * 3
        assert len(slow) == 3 * THREADS


@pytest.mark.slow
@pytest.mark.parametrize("data", CUT.values(), ids=CUT)
def test_connection_is_closed_when_its_request_does_not_arrive(hasty, data):
    with hasty.connect(data) as connection:
        assert rest(connection) == b""
    assert hasty.call().endswith(ANSWER)


@pytest.mark.slow
@pytest.mark.parametrize("data", CUT_IN_THREADS.values(), ids=CUT_IN_THREADS)
def test_thread_sees_an_end_when_the_rest_does_not_arrive(hasty, data):
    with hasty.connect(data) as connection:
        connection.sendall(b"")
        assert statuses(rest(connection))[-1:] == [400]
    assert hasty.call().endswith(ANSWER)


@pytest.mark.slow
def test_more_large_bodies_than_threads_wait_for_their_turn(patient):
    data = CUT_IN_THREADS["a trailer"]
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(patient.connect(data)) for _ in range(3 * THREADS)]
        connections[-1].settimeout(1.5)  # Once in a second the worker gives up what waits too long.
        with pytest.raises(TimeoutError):
            connections[-1].recv(1)
        connections[-1].settimeout(PATIENCE)
        for connection in connections:
            connection.sendall(b"\r\n")
        assert [statuses(connection.recv(65536)) for connection in connections] == [[400]] * len(connections)


@pytest.mark.slow
def test_body_that_may_wait_longer_keeps_no_other_waiting(tmp_path):
    options = {"receive_timeout": SHORT, "max_upload_bytes": str(10**9)}
    with Server(tmp_path, **options) as server, contextlib.ExitStack() as stack:
        for _ in range(THREADS):  # half of them are in threads
            stack.enter_context(server.connect(CUT_IN_THREADS["a trailer"]))
        with server.connect(CUT_IN_THREADS["the body of which it waits to be told"]) as connection:
            assert rest(connection) == b""


def unanswered(connection):
    """Return a connection on which no answer comes for a while, else None."""
    connection.settimeout(1.5)
    try:
        connection.recv(1)
    except TimeoutError:
        connection.settimeout(PATIENCE)
        return connection
    return None


@pytest.mark.slow
def test_bodies_that_are_held_have_a_bound_together(patient):
    unfinished = HEAD + b"Content-Length: %d\r\n\r\n" % MOST_BODY + bytes(MOST_BODY - 1)
    with contextlib.ExitStack() as stack:
        others = [stack.enter_context(patient.connect(unfinished)) for _ in range(40_000_000 // MOST_BODY)]
        assert patient.call().endswith(ANSWER)  # The others came before it, and are read.
        # Beyond the bound a large body is left to the threads, which the others keep busy.
        data = asking("echo", x="x" * 2 * BLOCK)
        large = next(filter(None, (unanswered(stack.enter_context(patient.connect(data))) for _ in range(3))))
        for other in others:
            other.close()
        assert statuses(large.recv(65536)) == [200]


def test_bytes_that_come_one_by_one(patient):
    assert patient.call(*(LAST_CALL[at : at + 1] for at in range(len(LAST_CALL)))).endswith(ANSWER)


def test_requests_of_one_connection(patient):
    with patient.connect() as connection:
        for parts in ([CALL], [CALL[:50], CALL[50:]], [CALL + CALL[:50], CALL[50:] + LAST_CALL]):
            for part in parts:
                connection.sendall(part)
        assert rest(connection).count(ANSWER) == 5


def test_client_that_leaves_or_says_that_it_is_done(patient):
    patient.connect(CALL[:-1]).close()
    with patient.connect(CALL[:-1]) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert statuses(connection.recv(65536)) == [400]
    assert patient.call().endswith(ANSWER)


def test_large_body_gets_its_refusal(patient):
    assert statuses(patient.call(HEAD + b"Content-Length: 3000000\r\n\r\n", bytes(3_000_000)))[:1] == [413]


@pytest.mark.parametrize("data", [asking("large"), b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["large", "file"])
def test_thread_gives_up_a_reply_that_nobody_reads(hasty, data):
    with contextlib.ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(hasty.connect(data))
        assert hasty.call().endswith(ANSWER)


@contextlib.contextmanager
def held(server):
    """Keep all threads of a server in acts for the block."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.settimeout(PATIENCE)
        for _ in range(THREADS):
            stack.enter_context(server.connect(asking("hold", port=listener.getsockname()[1])))
            stack.enter_context(listener.accept()[0])
        yield


@pytest.mark.parametrize("line", [b"GET /gateway/healthz HTTP/1.1", b"HEAD /gateway/healthz?x HTTP/1.1"])
def test_health_is_told_while_acts_hold_all_threads(patient, line):
    with patient.connect() as other:
        with held(patient):
            other.sendall(LAST_CALL)
            assert statuses(patient.call(line + b"\r\nHost: x\r\nConnection: close\r\n\r\n")) == [200]
            other.setblocking(False)
            with pytest.raises(BlockingIOError):
                other.recv(1)
        other.settimeout(PATIENCE)
        assert rest(other).endswith(ANSWER)


def tls(connection):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connection)


def test_tls(tmp_path):
    file = tmp_path / "both.pem"
    write_certificate(file)
    options = ("--certfile", str(file), "--keyfile", str(file))
    with Server(tmp_path, *options, receive_timeout=LONG) as server, contextlib.ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(server.connect())
            stack.enter_context(server.connect(b"\x16\x03\x01"))
            stack.enter_context(tls(server.connect())).sendall(HEAD)
            stack.enter_context(tls(server.connect())).sendall(CUT["the body"])
        assert server.call(CALL[:50], CALL[50:] + LAST_CALL, wrap=tls).count(ANSWER) == 2


@pytest.mark.slow
def test_thread_gives_up_a_reply_that_nobody_reads_in_tls(tmp_path):
    file = tmp_path / "both.pem"
    write_certificate(file)
    options = ("--certfile", str(file), "--keyfile", str(file))
    with Server(tmp_path, *options, receive_timeout="3") as server, contextlib.ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(tls(server.connect())).sendall(asking("large"))
        last = stack.enter_context(tls(server.connect()))
        last.sendall(LAST_CALL)
        assert rest(last).endswith(ANSWER)


def test_fault_of_the_server_in_tls_is_logged_and_ends_no_worker(tmp_path):
    file, conf = tmp_path / "both.pem", tmp_path / "conf.py"
    conf.write_text("def ssl_context(conf, default):\n    default()\n    raise ValueError('of the hook')")
    write_certificate(file)
    options = ("--certfile", str(file), "--keyfile", str(file), "--config", str(conf))
    with Server(tmp_path, *options, receive_timeout=LONG) as server:
        assert server.call(b"x") == b""
        file.unlink()
        assert server.call(b"x") == b""
        assert wait_until(lambda: "No such file" in server.log(), log=server.log)
        assert ("of the hook" in server.log(), server.log().count("Booting worker")) == (True, 1)


def test_unix_socket(tmp_path):
    with Server(tmp_path, bind=f"unix:{tmp_path}/socket", receive_timeout=LONG) as server:
        slow = [server.connect(CUT["the body"]) for _ in range(3 * THREADS)]
        assert server.call(LAST_CALL[:50], LAST_CALL[50:]).endswith(ANSWER)
        assert [one.close() for one in slow] == [None] * len(slow)


def test_proxy_protocol(tmp_path):
    head = b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"
    with Server(tmp_path, "--proxy-protocol", "v1", receive_timeout=LONG) as server:
        assert server.call(head[:20], head[20:] + CALL + LAST_CALL).count(ANSWER) == 2


def test_worker_is_replaced_after_max_requests(tmp_path):
    with Server(tmp_path, "--max-requests", "3", receive_timeout=LONG) as server:
        replies = [server.call() for _ in range(8)]
        assert [reply.endswith(ANSWER) for reply in replies] == [True] * 8
        assert wait_until(lambda: server.log().count("Booting worker") > 2, log=server.log)


def test_connections_are_counted_until_they_end(tmp_path):
    options = ("--worker-connections", str(THREADS + 1))
    with Server(tmp_path, *options, receive_timeout=LONG) as server:
        for data in (b"", HEAD, LAST_CALL, b"x\r\n", LAST_CALL[:-1]) * 3:
            connection = server.connect(data)
            if data in (LAST_CALL, b"x\r\n"):
                rest(connection)
            connection.close()
        assert server.call().endswith(ANSWER)


def test_more_connections_than_files_do_not_end_the_worker(tmp_path):
    with Server(tmp_path, files=200, receive_timeout=LONG) as server:
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(server.connect())
            for _ in range(300):
                stack.enter_context(server.connect())
            for _ in range(300):  # between two calls it accepts a connection, or tries to
                first.sendall(CALL)
                received = b"?"
                while received and not received.endswith(ANSWER):
                    received = first.recv(65536)
        assert server.call().endswith(ANSWER)
        assert server.log().count("Booting worker") == 1


@pytest.mark.slow
def test_kept_connections_leave_room_for_others_where_files_are_few(tmp_path):
    with Server(tmp_path, files=140, receive_timeout=LONG) as server, contextlib.ExitStack() as stack:
        for _ in range(20):
            connection, received = stack.enter_context(server.connect(CALL)), b""
            while not received.endswith(ANSWER):
                received += connection.recv(65536)


def test_an_act_that_exits_costs_no_thread(patient):
    assert [patient.call(asking("leave")) for _ in range(THREADS + 1)] == [b""] * (THREADS + 1)
    assert patient.call().endswith(ANSWER)
    assert "SystemExit" in patient.log()


def test_a_log_that_raises_costs_no_thread(tmp_path):
    (conf := tmp_path / "conf.py").write_text(
        "from gunicorn.glogging import Logger\n"
        "class logger_class(Logger):\n"
        "    def exception(self, *words, **names):\n"
        "        raise OSError\n"
    )
    with Server(tmp_path, "--config", str(conf), receive_timeout=LONG) as server:
        assert [server.call(asking("leave")) for _ in range(THREADS + 1)] == [b""] * (THREADS + 1)
        assert server.call().endswith(ANSWER)


def test_a_full_disk_behind_the_log_stops_nothing_and_shows_no_token(tmp_path):
    with Server(tmp_path, "--access-logfile", "/dev/full", receive_timeout=LONG) as server:
        call = LAST_CALL.replace(b"Host: x\r\n", b"Host: x\r\nToken: of-somebody\r\n")
        assert [server.call(call).endswith(ANSWER) for _ in range(3 * THREADS)] == [True] * 3 * THREADS
        assert [word for word in ("Token", "of-somebody", "Traceback") if word in server.log()] == []


@pytest.mark.slow
def test_stop_waits_for_acts_and_not_for_requests(tmp_path):
    with (
        Server(tmp_path, "--graceful-timeout", "200", receive_timeout=LONG) as server,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        with contextlib.ExitStack() as stack:
            slow = [stack.enter_context(server.connect(data)) for data in CUT.values()]
            asked = stack.enter_context(server.connect(asking("hold", port=listening.getsockname()[1])))
            held = stack.enter_context(listening.accept()[0])
            server.process.terminate()
            assert [rest(connection) for connection in slow] == [b""] * len(slow)
            held.close()
            assert statuses(rest(asked)) == [200]
        assert server.process.wait(PATIENCE) == 0


def test_canary_for_what_is_taken_from_gunicorn():
    """A version that changes any of these needs a look at the worker class, and at the cap in setup.cfg."""
    own = {name for name, value in vars(ReceivingWorker).items() if inspect.isfunction(value)}
    base = {name for name in own if hasattr(gthread.ThreadWorker, name)} - {"__init__"}
    taken = {"accept", "enqueue_req", "finish_request", "get_thread_pool", "murder_pending"}
    assert base == taken | {"init_process", "init_signals"}
    source = inspect.getsource(gthread)
    for line in (
        "if not conn.initialized and not conn.data_ready:",
        "conn.sock.setblocking(True)",
        "self.enqueue_req(conn)",
        "conn.close(graceful=True)",
        "self.murder_pending()",
        "result = fs.result() if not fs.cancelled() else False",
        "self.nr_conns -= 1",
    ):
        assert line in source
    assert "self.WORKERS[pid] = worker" in inspect.getsource(arbiter)
    assert vars(arbiter.Arbiter)["WORKERS"] == {}
    assert callable(Unreader.take_buffered)
    assert (receiving.STOP_KEEPALIVE_LINGER, Parser.mesg_class) == (2.0, None)


# -- the worker in this process: its threads are lists, and its clock stands still


class Pool:
    """What the threads of a worker are given."""

    def __init__(self, threads, serve):
        self.threads, self.serve, self.given = threads, serve, []
        self.give = self.given.append

    def shutdown(self, wait=False):
        pass


class Log:
    """What a worker logs, as a list."""

    def __init__(self):
        self.lines = []

    def __getattr__(self, level):
        return lambda *words: self.lines.append((level, *map(str, words)))


class Stepped:
    """A worker whose clients, clock and threads the test has in hand."""

    def __init__(self, monkeypatch, settings=None, **config):
        self.now, self.clients, self.accepted, self.deferred, self.log = 1000.0, [], [], [], Log()
        monkeypatch.setattr(receiving, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(receiving, "Team", Pool)
        monkeypatch.setattr(receiving, "Connection", self._connection)
        cfg = Config()
        for name, value in {"threads": 4, **config}.items():
            cfg.set(name, value)
        kind = type("Own", (ReceivingWorker,), {"settings": settings})
        self.worker = worker = kind(1, 7, [], None, 30, cfg, self.log)
        worker.poller = selectors.DefaultSelector()
        worker.tpool = worker.get_thread_pool()
        worker.method_queue = SimpleNamespace(defer=lambda *words: self.deferred.append(words))

    def connect(self, data=b"", ends=False):
        """Let a client connect and send; returns the worker's connection, and keeps the client's socket."""
        near, far = socket.socketpair()
        far.sendall(data)
        if ends:
            far.shutdown(socket.SHUT_WR)
        self.clients.append(far)
        self.worker.accept(SimpleNamespace(accept=lambda: (near, ("192.0.2.1", 1)), getsockname=lambda: ("::1", 2)))
        return self.accepted[-1]

    def _connection(self, *words):
        self.accepted.append(Connection(*words))
        return self.accepted[-1]

    def places(self):
        """Return where the connections are."""
        worker = self.worker
        named = {name: getattr(worker, name) for name in ("receiving", "queued", "timed", "lingering")}
        found = {conn: name for name, conns in named.items() for conn in conns}
        return {**dict.fromkeys(worker.tpool.given, "thread"), **found}

    def turn(self):
        """Do what the main loop does when sockets are readable."""
        for key, _ in self.worker.poller.select(0):
            key.data(key.fileobj)

    def later(self, seconds):
        """Let time pass, and look who takes too long."""
        self.now += seconds
        self.worker.murder_pending()

    def close(self):
        for conn in self.accepted:
            conn.sock.close()
        for client in self.clients:
            client.close()
        self.worker.poller.close()
        self.worker.tmp.close()


SETTINGS = Settings.load({}, receive_timeout=10.5, max_upload_bytes=4 * 2**20)


@pytest.fixture
def make(monkeypatch):
    """Return a function that makes workers in this process."""
    made = []
    yield lambda settings=SETTINGS, **config: made.append(Stepped(monkeypatch, settings, **config)) or made[-1]
    for one in made:
        one.close()


@pytest.fixture
def stepped(make):
    return make()


def test_a_whole_request_goes_to_a_thread_at_once(stepped):
    conn = stepped.connect(CALL)
    request = next(conn.parser)
    assert (request.method, request.body.read(), conn.held) == ("POST", DATA, len(CALL))
    assert (stepped.places(), stepped.worker.nr_conns, stepped.worker.tpool.threads) == ({conn: "thread"}, 1, 4)
    assert (conn.client, conn.server) == (("192.0.2.1", 1), ("::1", 2))
    assert not stepped.worker.poller.get_map()


def test_a_write_to_a_client_has_the_patience_of_the_setting(stepped):
    sock = stepped.connect(HEAD).sock
    assert SPAN.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SPAN.size)) == (10, 500_000)


@pytest.mark.parametrize(
    ("head", "is_health"),
    [
        (b"GET /gateway/healthz HTTP/1.1", True),
        (b"HEAD /api/v1/gateway/healthz?x HTTP/1.1", True),
        (b"POST /gateway/healthz HTTP/1.1", False),
        (b"GET /gateway/healthzz HTTP/1.1", False),
        (b"GET /x?/gateway/healthz HTTP/1.1", False),
        (b"GET /gateway/readyz HTTP/1.1", False),
        (b"GET /gateway/healthz HTTP/1.1\r\nContent-Length: 0", True),
        (b"GET /gateway/healthz HTTP/1.1\r\nContent-Length: 1", False),
    ],
)
def test_requests_for_the_health_have_a_thread_of_their_own(stepped, monkeypatch, head, is_health):
    pools = []
    monkeypatch.setattr(receiving, "Team", lambda *words: pools.append(Pool(*words)) or pools[-1])
    stepped.worker.tpool = stepped.worker.get_thread_pool()
    stepped.connect(head + b"\r\n\r\n" + b"x" * head.endswith(b"th: 1"))
    spare, others = pools
    assert (spare.threads, others.threads) == (1, 4)
    assert (spare.given, others.given) == ((stepped.accepted, []) if is_health else ([], stepped.accepted))


def test_a_request_that_comes_in_steps_is_received_until_its_deadline(stepped):
    conn = stepped.connect(CALL[:9])
    assert (stepped.places(), conn.deadline, conn.held) == ({conn: "receiving"}, 1010.5, 9)
    stepped.now += 5
    stepped.clients[0].sendall(CALL[9:50])
    stepped.turn()
    assert (stepped.places(), conn.deadline, conn.held) == ({conn: "receiving"}, 1010.5, 50)
    stepped.clients[0].sendall(CALL[50:])
    stepped.turn()
    assert (stepped.places(), conn.held, len(stepped.worker.poller.get_map())) == ({conn: "thread"}, len(CALL), 0)


@pytest.mark.parametrize(("after", "stays"), [(10.4, True), (10.5, False)])
def test_what_does_not_arrive_in_time_is_closed(stepped, after, stays):
    stepped.connect(HEAD)
    stepped.later(after)
    assert (len(stepped.places()), stepped.worker.nr_conns, len(stepped.worker.poller.get_map())) == (stays,) * 3
    if not stays:
        assert stepped.clients[0].recv(1) == b""


def test_connections_are_looked_at_once_in_a_second(stepped):
    stepped.later(0)
    stepped.connect(HEAD)
    stepped.accepted[0].deadline = stepped.now
    stepped.later(0.9)
    assert len(stepped.places()) == 1
    stepped.later(0.1)
    assert stepped.places() == {}


def test_a_worker_that_stops_waits_two_seconds_for_requests_and_looks_at_any_time(stepped):
    received, *timed, queued = stepped.connect(HEAD), *map(stepped.connect, [TRAILER] * 3)
    stepped.worker.alive = False
    stepped.later(0.5)
    assert [received.deadline, queued.deadline] == [1002.5, 1002.5]
    stepped.later(1.75)
    assert stepped.places() == {received: "receiving", **dict.fromkeys(timed, "timed"), queued: "queued"}
    stepped.later(0.25)
    assert stepped.places() == dict.fromkeys(timed, "timed")


def test_a_client_that_leaves_before_its_request_is_dropped(stepped):
    stepped.connect(ends=True)
    stepped.connect(HEAD)
    stepped.clients[1].close()
    stepped.turn()
    # What has begun is given to a thread, whose parser refuses it.
    assert [*stepped.places().values()] == ["thread"]
    assert (stepped.worker.nr_conns, stepped.clients[0].recv(1)) == (1, b"")


TRAILER = CUT_IN_THREADS["a trailer"]
EXPECTING = CUT_IN_THREADS["the body of which it waits to be told"]


def test_half_of_the_threads_wait_for_rests_and_others_queue(stepped):
    first, second, third, fourth = map(stepped.connect, (TRAILER, EXPECTING, TRAILER, EXPECTING))
    assert stepped.places() == {first: "timed", second: "timed", third: "queued", fourth: "queued"}
    # A body of unknown length may have as much as is allowed: 4 MiB.
    assert [conn.deadline for conn in (first, second, third, fourth)] == [1052.5, 1010.5, 1052.5, 1010.5]
    stepped.now += 1
    stepped.worker.finish_request(second, second)
    assert stepped.places() == {first: "timed", second: "lingering", third: "timed", fourth: "queued"}
    assert [third.deadline, fourth.deadline, second.held, third.held] == [1053.5, 1010.5, 0, len(TRAILER)]
    stepped.later(9.5)
    assert stepped.places() == {first: "timed", second: "thread", third: "timed"}
    stepped.later(42)
    first.kept = third.kept = True
    assert [conn.result() for conn in (first, third)] == [False, True]
    stepped.later(1)
    assert not third.result()


def test_one_thread_waits_for_rests_where_there_is_only_one(make):
    stepped = make(threads=1)
    first, second = map(stepped.connect, [TRAILER] * 2)
    assert stepped.places() == {first: "timed", second: "queued"}


def test_a_reply_is_read_for_two_seconds_and_some_bytes(stepped):
    conns = [stepped.connect(CALL) for _ in range(4)]
    for conn in conns:
        conn.kept = False
        stepped.worker.finish_request(conn, conn)
    assert ([*stepped.places().values()], stepped.worker.nr_conns) == (["lingering"] * 4, 4)
    assert [(conn.deadline, conn.held) for conn in conns] == [(1002.0, 0)] * 4
    assert stepped.clients[0].recv(1) == b""
    stepped.clients[0].close()
    stepped.clients[1].sendall(b"x" * 65_536)
    stepped.clients[2].sendall(b"x" * 65_537)
    stepped.turn()
    stepped.turn()
    assert [conn.sock.fileno() >= 0 for conn in conns] == [False, True, False, True]
    assert (conns[1].drained, stepped.worker.nr_conns) == (65_536, 2)
    stepped.later(2)
    assert [conn.sock.fileno() >= 0 for conn in conns] == [False] * 4
    assert (stepped.worker.nr_conns, len(stepped.worker.poller.get_map())) == (0, 0)


def test_a_connection_that_is_broken_is_closed_at_once(stepped):
    conn = stepped.connect(CALL)
    conn.sock.close()
    stepped.worker.finish_request(conn, conn)
    assert (stepped.worker.lingering, stepped.worker.nr_conns) == ({}, 0)


def test_the_next_request_begins_with_what_the_parser_read_of_it(stepped):
    conn = stepped.connect(CALL + CALL[:50])
    request = next(conn.parser)
    assert request.body.read() == DATA
    conn.sock.setblocking(True)
    stepped.worker.tpool.given.clear()
    stepped.worker.enqueue_req(conn)
    assert (stepped.places(), bytes(conn.data)) == ({conn: "receiving"}, CALL[:50])
    stepped.clients[0].sendall(CALL[50:])
    stepped.turn()
    assert (stepped.places(), next(conn.parser).body.read()) == ({conn: "thread"}, DATA)


@pytest.mark.parametrize(
    ("error", "level"),
    [(ConnectionResetError("gone"), "debug"), (ssl.SSLEOFError("gone"), "debug"), (OSError("gone"), "warning")],
)
def test_a_connection_that_cannot_be_read_is_logged_and_closed(stepped, monkeypatch, error, level):
    monkeypatch.setattr(Connection, "receive", raising(error))
    stepped.connect(CALL)
    text = "Closing a connection of %s: %s"
    assert stepped.log.lines == [(level, text, "('192.0.2.1', 1)", str(error))]
    assert (stepped.places(), stepped.worker.nr_conns, stepped.accepted[0].sock.fileno()) == ({}, 0, -1)


@pytest.mark.parametrize("error", [BlockingIOError, ConnectionAbortedError])
def test_a_connection_that_is_gone_before_it_is_accepted_is_none(stepped, error):
    stepped.worker.accept(SimpleNamespace(accept=lambda: raising(error)(None)))
    assert (stepped.worker.nr_conns, stepped.places()) == (0, {})


@pytest.mark.parametrize(
    ("handle", "kept", "logged"),
    [
        (lambda conn: True, True, []),
        (lambda conn: None, False, []),
        (raising(SystemExit(1)), False, [("exception", "Error handling request")]),
    ],
)
def test_a_thread_gives_its_connection_back(stepped, handle, kept, logged):
    conn = stepped.connect(CALL)
    stepped.worker.handle = handle
    stepped.worker.tpool.serve(conn)
    assert (conn.kept, stepped.log.lines) == (kept, logged)
    assert stepped.deferred == [(stepped.worker.finish_request, conn, conn)]


@pytest.mark.parametrize(
    ("files", "connections", "keepalived"),
    [(200, 72, 68), (129, 1, -3), (10, 1, -3), (10_000, 1000, 996), (resource.RLIM_INFINITY, 1000, 996)],
)
def test_a_worker_takes_no_more_connections_than_it_may_open_files(make, monkeypatch, files, connections, keepalived):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: {resource.RLIMIT_NOFILE: (files, 10**6)}[kind])
    worker = make().worker
    assert (worker.worker_connections, worker.max_keepalived) == (connections, keepalived)


def test_without_settings_of_an_app_those_of_the_environment_hold(make, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_RECEIVE_TIMEOUT", "3")
    stepped = make(None)
    assert (stepped.connect(HEAD).deadline, stepped.worker.settings) == (1003.0, None)


@pytest.mark.parametrize("config", [{}, {"protocol": "uwsgi"}], ids=["http", "uwsgi"])
def test_a_worker_begins_quietly_and_leaves_interrupts_to_its_master(make, monkeypatch, config):
    worker, done = make(sendfile=True, **config).worker, []
    monkeypatch.setattr(gthread.ThreadWorker, "init_process", lambda self: done.append("process"))
    monkeypatch.setattr(gthread.ThreadWorker, "init_signals", lambda self: done.append("signals"))
    monkeypatch.setattr(receiving, "name_metrics", done.append)
    monkeypatch.setattr(receiving, "leave_interrupts_to_the_master", lambda: done.append("interrupts"))
    monkeypatch.setattr(logging, "raiseExceptions", True)
    worker.init_process()
    worker.init_signals()
    assert done == ["7-0", "process", "signals", "interrupts"]
    assert (logging.raiseExceptions, worker.cfg.settings["sendfile"].get()) == (False, bool(config))


def test_with_another_protocol_it_is_the_worker_of_gunicorn(make, monkeypatch):
    taken = []
    for name in ("accept", "enqueue_req", "finish_request"):
        monkeypatch.setattr(gthread.ThreadWorker, name, lambda self, *words, name=name: taken.append((name, *words)))
    worker = make(protocol="uwsgi").worker
    assert type(worker.tpool) is ThreadPoolExecutor
    worker.accept(1)
    worker.enqueue_req(2)
    worker.finish_request(3, 4)
    assert taken == [("accept", 1), ("enqueue_req", 2), ("finish_request", 3, 4)]


@pytest.fixture
def receive(stepped, monkeypatch):
    """Return a function that lets a client connect which has sent so many bytes of a large body."""
    blocks, head = [], HEAD + b"Content-Length: 1048576\r\n\r\n"

    def receiving_(conn):
        if not blocks:
            raise BlockingIOError
        return blocks.pop()

    def receive(size):
        blocks.append(head.ljust(size, b"x"))
        return stepped.connect()

    monkeypatch.setattr(Connection, "receive", receiving_)
    return receive


@pytest.mark.parametrize(("more", "place"), [(0, "receiving"), (1, "timed")])
def test_a_worker_holds_32_mib_and_leaves_large_bodies_beyond_to_its_threads(stepped, receive, more, place):
    others = [receive(1_000_000) for _ in range(33)]
    others.append(receive(32 * 2**20 - 33_000_000 - 70_000 + more))
    last, small = receive(70_000), receive(65_536)
    found = stepped.places()
    assert [found[conn] for conn in (*others, last, small)] == ["receiving"] * 34 + [place, "receiving"]


def test_what_is_held_no_longer_leaves_room_for_others(stepped, receive):
    others = [receive(1_000_000) for _ in range(33)]
    last = receive(1_000_000)
    stepped.worker.finish_request(last, last)
    first = receive(500_000)
    others[0].deadline = stepped.now
    stepped.later(0)
    second, third = receive(1_000_000), receive(200_000)
    found = stepped.places()
    assert [found[conn] for conn in (first, second, third)] == ["receiving", "receiving", "timed"]
