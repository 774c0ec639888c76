"""What reaches a server as bytes: broken and dishonest requests over a socket, against gunicorn, waitress and nginx.

Wanted: a refusal below 500 or a closed connection, nothing in the server's log that looks like a
fault, and a server that answers the next request as ever. What is wrong with the HTTP itself is
refused by nginx or gunicorn, in its own words; what gets past it, by the gateway.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gatewayfw import any_, gateway, object_
from gatewayfw.settings import Settings
from gatewayfw.web.servers import serve
from tests.faults.nginx import Nginx, require_nginx
from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent
#: Seconds without a byte after which a test fails; gunicorn gives a worker 30.
PATIENCE = 20
BODY = {"model": "thing", "act": "echo", "details": {"set": {"x": 1}, "get": {}}}
DATA = json.dumps(BODY).encode()
ANSWER = b'{"body":{"x":1},"success":true}'


def made():
    """The gateway that is served."""
    gw = gateway()

    @gw.acts.act("thing", "echo", set=object_({"x": any_()}))
    def echo(body):
        return body["details"]["set"]

    return gw


def served():
    """The app that gunicorn loads."""
    return made().create_app()


def run(server, port, most_bytes=1024 * 1024):
    """Serve in one process, or with one worker."""
    options = {"server": "gunicorn" if server == "threaded" else server, "workers": 1, "threads": 4}
    options |= {"multi_process": server != "threaded", "settings": Settings(), "most_bytes": most_bytes}
    serve(made().create_app(), host="127.0.0.1", port=port, **options)


class Server:
    """A server of some kind with one process for requests, and the file it logs to."""

    def __init__(self, kind, log):
        self.kind, self.proxy, self._log = kind, None, log
        #: The statuses that differ from those of gunicorn.
        self.others = WAITRESS if kind == "waitress" else {}
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, *self._command()],
                cwd=ROOT,
                env={name: value for name, value in os.environ.items() if not name.startswith("GATEWAYFW_")},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _command(self):
        if self.kind not in ("sync", "gthread"):
            return ["-c", f"from {__name__} import run; run({self.kind!r}, {self.port})"]
        command = ["-m", "gunicorn", f"{__name__}:served()", "--worker-class", self.kind, "--threads", "4"]
        # Without a proxy in front no header may stand for the path: gunicorn 27 takes SCRIPT_NAME from 127.0.0.1.
        return [*command, "--forwarder-headers", "", "--bind", f"127.0.0.1:{self.port}", "--no-control-socket"]

    def connect(self):
        """Open a connection."""
        return socket.create_connection(("127.0.0.1", (self.proxy or self).port), timeout=PATIENCE)

    def wait(self):
        """Wait until it listens."""
        assert wait_until(self._listens, process=self._process, log=self.log), self.log()

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def log(self):
        """Return what it has logged."""
        return self._log.read_text("utf-8", "replace")

    def stop(self):
        """End it, with its workers."""
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


#: In front of nginx are the clients, behind it a server that is not reached otherwise.
SERVERS = ["sync", "gthread", "waitress", "nginx gthread"]


@pytest.fixture(scope="module", params=SERVERS)
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wire")
    *proxies, kind = request.param.split()
    for _ in proxies:
        require_nginx()
    server = Server(kind, folder / "log")
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        server.wait()
        for _ in proxies:
            server.proxy = stack.enter_context(Nginx(folder, server.port, patience="500ms"))
            server.others = NGINX
        yield server


def post(*headers, body=DATA, line=b"POST /gateway HTTP/1.1"):
    """The bytes of a request; a header that is given replaces the usual ones of its name."""
    usual = [b"Host: x", b"Content-Type: application/json", b"Content-Length: %d" % len(body), b"Connection: close"]
    names = {header.partition(b":")[0].lower() for header in headers}
    if b"transfer-encoding" in names:
        names.add(b"content-length")
    kept = [header for header in usual if header.partition(b":")[0].lower() not in names]
    return b"\r\n".join([line, *kept, *headers, b"", body])


def sent(server, data, *, end=True):
    """Send bytes and return all that comes back; with ``end``, the server is told that nothing follows."""
    received = b""
    with server.connect() as connection, contextlib.suppress(ConnectionError):
        connection.sendall(data)
        if end and not server.proxy:  # nginx drops a request whose client has said so; it ends by itself.
            with contextlib.suppress(OSError):  # It has closed the connection already.
                connection.shutdown(socket.SHUT_WR)
        while block := connection.recv(65536):
            received += block
    return received


def statuses(received):
    """Return the statuses of all replies in what came back."""
    return [int(status) for status in re.findall(rb"HTTP/\d\.\d (\d{3})", received)]


def refusal(received):
    """Return statuses, content type and envelope of one reply."""
    head, _, payload = received.rpartition(b"\r\n\r\n")
    kind = re.search(rb"\r\nContent-Type: (.*)\r\n", head + b"\r\n")
    return statuses(received), kind and kind[1], json.loads(payload)


def envelope(status, message):
    return [status], b"application/json", {"body": {"message": message}, "success": False}


def check_is_well(server):
    """Check that it answers an ordinary request on a new connection, and met no fault."""
    reply = sent(server, post(), end=False)
    assert (statuses(reply), reply.rpartition(b"\r\n\r\n")[2]) == ([200], ANSWER)
    log = server.log()
    workers = len(re.findall("Booting worker|Spawning worker", log))
    assert "Traceback" not in log
    assert "TIMEOUT" not in log
    assert workers == int(server.kind != "waitress")
    assert re.findall(r"\[(?:crit|alert|emerg)\] .*|.*upstream.*", server.proxy.log if server.proxy else "") == []


CHUNKED = b"Transfer-Encoding: chunked"
KEEP = b"Connection: keep-alive"
SIZE = b"%x" % len(DATA)
LAST = b"0\r\n\r\n"


def chunk(size, data=DATA):
    return size + b"\r\n" + data + b"\r\n"


UNREADABLE = envelope(400, "the request body could not be read")
TOO_LARGE = envelope(413, "the request body is too large")
EMPTY = envelope(400, "the request body is empty")

#: Refused by the gateway: HTTP that gunicorn understands.
BODIES = {
    "length too long": (post(b"Content-Length: 500"), UNREADABLE),
    "length too short": (post(b"Content-Length: 10"), envelope(400, "malformed JSON at line 1 column 11")),
    "length too short, kept alive": (
        post(b"Content-Length: 10", KEEP),
        envelope(400, "malformed JSON at line 1 column 11"),
    ),
    "length zero": (post(b"Content-Length: 0"), EMPTY),
    "length of 10 MB": (post(b"Content-Length: 10485760"), TOO_LARGE),
    "length of 40 digits": (post(b"Content-Length: " + b"9" * 40), TOO_LARGE),
    "no length": (post().replace(b"Content-Length: %d\r\n" % len(DATA), b""), EMPTY),
    **{
        f"chunk size {size[:20]!r}": (post(CHUNKED, body=chunk(size) + LAST), UNREADABLE)
        for size in (
            *(b"xyz", b"-1", b"", b"+" + SIZE, b"0x" + SIZE, SIZE + b" ", b" " + SIZE, b"1_0", b"\xb2"),
            *(b"F" * 30, b"%x" % (len(DATA) - 1), b"%x" % (len(DATA) + 1), SIZE + b"\n"),
        )
    },
    "chunk cut": (post(CHUNKED, body=b"100\r\nabc"), UNREADABLE),
    "chunk size cut": (post(CHUNKED, body=b"5"), UNREADABLE),
    "no last chunk": (post(CHUNKED, body=chunk(SIZE)), UNREADABLE),
    "bad trailer": (post(CHUNKED, body=chunk(SIZE) + b"0\r\nX\r\n\r\n"), UNREADABLE),
    "no chunk": (post(CHUNKED, body=LAST), EMPTY),
    "2 MB in chunks": (post(CHUNKED, body=chunk(b"10000", b" " * 65536) * 32 + LAST), TOO_LARGE),
    "gzip": (
        post(b"Content-Encoding: gzip", body=b"\x1f\x8b" + b"\0" * 50),
        envelope(415, "unsupported content encoding: send the body as it is"),
    ),
    "another request as the body of a refused one": (
        post(b"Content-Encoding: gzip", KEEP, body=post()),
        envelope(415, "unsupported content encoding: send the body as it is"),
    ),
    "GET with a body": (post(line=b"GET /gateway HTTP/1.1"), envelope(405, "method not allowed: use POST")),
    "another request as the body of GET": (
        post(KEEP, body=post(), line=b"GET /gateway HTTP/1.1"),
        envelope(405, "method not allowed: use POST"),
    ),
    "TRACE": (post(line=b"TRACE /gateway HTTP/1.1"), envelope(405, "method not allowed: use POST")),
    "path that is no UTF-8": (
        post(line=b"POST /%ff HTTP/1.1"),
        envelope(404, "not found; acts are called by POST /gateway"),
    ),
}


#: What waitress 3.0.2 answers otherwise, by the statuses: nothing to a request that breaks off, and more than gunicorn
#: takes. A length beside chunks and a list of encodings are for smuggling past a proxy, which should refuse them.
WAITRESS = {
    **dict.fromkeys(("length too long", "chunk cut", "chunk size cut", "no last chunk", "binary"), []),
    **{"chunk size b'FFFFFFFFFFFFFFFFFFFF'": [], "line b'POST http://[x/gateway HTTP/1.1'": []},
    **{"chunk size b'4a\\n'": [200], "bad trailer": [200]},
    **{"length and chunks": [200], "another request behind length and chunks": [400, 200]},
    **{"transfer encoding b'chunked, chunked'": [200], "transfer encoding twice": [200]},
    **{f"transfer encoding {name!r}": [501] for name in (b"identity", b"gzip", b"chunked, gzip")},
    **dict.fromkeys(("another expectation", "header name of 10 kB", "200 headers", "line of 10 kB"), [200]),
    **{f"header {header!r}": [200] for header in (b" X: 1", b"X: a\r\n b", b"Host: x\r\nHost: y")},
    **{"two content types": [415], "line b'POST /gateway'": [200], "line b'POST /gateway HTTP/9.9'": [200]},
    **{f"line {line!r}": [404] for line in (b"PRI * HTTP/2.0", b"POST /gate\0way HTTP/1.1", b"POST * HTTP/1.1")},
}

#: What comes through nginx 1.22 otherwise: it answers nothing to a request that breaks off, reads on behind a body, and
#: mends what is harmless, because the service gets each body with one length and no header that is malformed.
NGINX = {
    **dict.fromkeys(("length too long", "chunk cut", "chunk size cut", "no last chunk"), []),
    **{"length too short, kept alive": [400, 400], "length of 40 digits": [400]},
    **{f"chunk size {size!r}": [200] for size in (SIZE + b" ", b"%x" % (len(DATA) + 1))},
    **dict.fromkeys(("bad trailer", "another expectation", "header b'X'", "header b'X: a\\nb'"), [200]),
    **{"line b'POST /gateway'": [], "hello of TLS": [400], "transfer encoding b'x'": [400]},
}
#: What nginx leaves to the server to refuse.
PASSED_ON = ("200 headers", "two content types")
_OF_NGINX = {
    **{400: "bad request", 405: "method not allowed", 413: "the request body is too large"},
    **{414: "the address of the request is too long", 431: "the headers of the request are too large"},
}


def own_of_nginx(status):
    """Return how nginx itself refuses with the only status of a list."""
    return envelope(*status, _OF_NGINX.get(*status))


@pytest.mark.parametrize("name", BODIES)
def test_gateway_refuses(server, name):
    data, expected = BODIES[name]
    reply = sent(server, data)
    assert statuses(reply) == server.others.get(name, expected[0])
    # waitress refuses chunks and sizes in its own words.
    if name not in server.others and server.kind != "waitress":
        assert refusal(reply) in (expected, own_of_nginx(expected[0])) if server.proxy else (expected,)
    check_is_well(server)


#: Refused by the server, with a page of its own or by closing the connection.
REQUESTS = {
    **{
        f"length {length!r}": (400, post(b"Content-Length: " + length))
        for length in (b"-1", b"abc", b"", b"+5", b"1_0", b"0x10", b"1.0", b"\xb2", b"5, 5", b"5 5")
    },
    "two lengths": (400, post(b"Content-Length: 5", b"Content-Length: %d" % len(DATA))),
    "one length twice": (400, post(b"Content-Length: %d" % len(DATA), b"Content-Length: %d" % len(DATA))),
    "length and chunks": (400, post(CHUNKED, b"Content-Length: %d" % len(DATA), body=chunk(SIZE) + LAST)),
    "another request behind length and chunks": (
        400,
        post(b"Content-Length: 4", CHUNKED, KEEP, body=LAST + post()),
    ),
    **{
        f"transfer encoding {name!r}": (status, post(b"Transfer-Encoding: " + name, body=chunk(SIZE) + LAST))
        for status, name in (
            *((400, name) for name in (b"identity", b"gzip", b"chunked, chunked", b"chunked, gzip", b"\x0bchunked")),
            (501, b"x"),  # RFC 9112, section 6.1
        )
    },
    "transfer encoding twice": (400, post(CHUNKED, CHUNKED, body=chunk(SIZE) + LAST)),
    "chunks in HTTP/1.0": (400, post(CHUNKED, body=chunk(SIZE) + LAST, line=b"POST /gateway HTTP/1.0")),
    "another expectation": (417, post(b"Expect: x")),
    "header of 100 kB": (431, post(b"X: " + b"x" * 100_000)),
    "header name of 10 kB": (431, post(b"X" * 10_000 + b": 1")),
    "200 headers": (431, post(*[b"X-%d: 1" % number for number in range(200)])),
    "headers without end": (431, b"POST /gateway HTTP/1.1\r\n" + b"X" * 2_000_000),
    "line of 10 kB": (414, post(line=b"POST /gateway?" + b"x" * 10_000 + b" HTTP/1.1")),
    **{
        f"header {header!r}": (400, post(header))
        for header in (
            *(b"X", b"X Y: 1", b"X : 1", b": 1", b" X: 1", b"X: a\0b", b"X: a\nb", b"X: a\r\n b"),
            *(b"Transfer-Encoding : chunked", b"Host: x\r\nHost: y"),
        )
    },
    "two content types": (400, post(b"Content-Type: application/json", b"Content-Type: text/plain")),
    **{
        f"line {line!r}": (400, post(line=line))
        for line in (
            *(b"", b"POST /gateway", b"POST /gateway HTTP/9.9", b"POST /gateway HTTP/1.1 x", b"PRI * HTTP/2.0"),
            *(b"post /gateway HTTP/1.1", b"PO\0ST /gateway HTTP/1.1", b"POST /gate\0way HTTP/1.1"),
            *(b"POST \xff HTTP/1.1", b"POST * HTTP/1.1", b"POST http://[x/gateway HTTP/1.1"),
        )
    },
    "binary": (400, bytes(range(256)) * 10),
    "hello of TLS": (None, bytes.fromhex("1603010200010001fc0303") + b"\0" * 100),
    "nothing": (None, b""),
    "line cut": (None, b"POST /gate"),
    "headers cut": (None, b"POST /gateway HTTP/1.1\r\nHost: x\r\n"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_server_refuses(server, name):
    status, data = REQUESTS[name]
    reply = sent(server, data)
    assert statuses(reply) == server.others.get(name, [] if status is None else [status])
    if server.proxy and statuses(reply) not in ([], [200]) and name not in PASSED_ON:
        assert refusal(reply) == own_of_nginx(statuses(reply))
    check_is_well(server)


def test_what_others_do_otherwise_is_sent():
    assert WAITRESS.keys() | NGINX.keys() <= BODIES.keys() | REQUESTS.keys()


#: Odd, but right.
ANSWERED = {
    "chunks": (post(CHUNKED, body=chunk(SIZE) + LAST), [200]),
    "chunks of one byte": (post(CHUNKED, body=b"".join(chunk(b"1", bytes([byte])) for byte in DATA) + LAST), [200]),
    "chunk with an extension": (post(CHUNKED, body=chunk(SIZE + b";a=b") + LAST), [200]),
    "expectation": (post(b"Expect: 100-continue"), [100, 200]),
    "two requests at once": (post(KEEP) + post(), [200, 200]),
    "whole address": (post(line=b"POST http://x/gateway HTTP/1.1"), [200]),
    "header of 8 kB": (post(b"token: " + b"x" * 8000), [200]),
    "header that is no UTF-8": (post(b"X: \xff\xfe"), [200]),
    "request id that is no text": (post(b"X-Request-Id: \xe2\x80\xa8\xff"), [200]),
    "header with an underscore": (post(b"Content_Length: 3"), [200]),
    "path in a header": (post(b"SCRIPT_NAME: /x", b"PATH_INFO: /y"), [200]),
}


@pytest.mark.parametrize(("data", "expected"), ANSWERED.values(), ids=ANSWERED)
def test_odd_requests_that_are_right_are_answered(server, data, expected):
    reply = sent(server, data)
    assert (statuses(reply), reply.rpartition(b"\r\n\r\n")[2]) == (expected, ANSWER)


def test_client_that_is_told_to_continue_and_leaves(server):
    reply = sent(server, post(b"Expect: 100-continue", b"Content-Length: 100", body=b""))
    assert statuses(reply) == ([100] if server.kind == "waitress" or server.proxy else [100, 400])
    check_is_well(server)


@pytest.mark.parametrize("header", [KEEP, b"Content-Type: text/plain", b"Content-Encoding: gzip"], ids=bytes.decode)
def test_large_body_that_nobody_reads_ends_in_a_refusal_or_a_closed_connection(server, header):
    reply = sent(server, post(header, body=b" " * 2_097_152))
    assert statuses(reply) in ([413], [415], [])
    check_is_well(server)


@pytest.mark.parametrize("server", SERVERS[3:], indirect=True)
@pytest.mark.parametrize(
    ("status", "data"),
    [
        (200, post(line=b"GET /gateway/healthz HTTP/1.1", body=b" " * 200_000)),
        (204, post(line=b"OPTIONS /gateway HTTP/1.1", body=b" " * 200_000)),
        (404, post(line=b"POST /elsewhere HTTP/1.1", body=b" " * 1_000_000)),
        (405, post(line=b"DELETE /gateway HTTP/1.1", body=b" " * 1_000_000)),
        (415, post(b"Content-Type: text/plain", body=b" " * 1_000_000)),
        (403, post(b"Content-Type: multipart/form-data; boundary=x", body=b" " * 1_000_000)),
        (400, post(b"Content-Type: multipart/form-data; boundary=x", b"X-Gateway: 1", body=b"x" * 1_000_000)),
    ],
    ids=["probe", "OPTIONS", "path", "method", "media type", "multipart", "no first part"],
)
def test_a_body_that_nobody_reads_fails_no_request_through_nginx(server, status, data):
    # The next request may go to the server on the same connection.
    found = [statuses(sent(server, data)) + statuses(sent(server, post())) for _ in range(20)]
    assert found == [[status, 200]] * 20


@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
@pytest.mark.parametrize(
    "data",
    [
        post()[:-10],
        post()[: -len(DATA)],
        post(b"Content-Length: 1000000", body=b" " * 500_000),
        post(CHUNKED, body=b"10000\r\n" + b" " * 1000),
        post(CHUNKED, body=chunk(SIZE)),
        post(b"Expect: 100-continue", body=b""),
        post(),
    ],
    ids=["within", "before the body", "500 kB", "within a chunk", "after a chunk", "to be continued", "after all"],
)
def test_client_that_leaves_does_no_harm(server, data, reset):
    with server.connect() as connection:
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(data)
    check_is_well(server)
