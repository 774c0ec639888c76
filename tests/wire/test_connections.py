"""TLS to remote services: certificates are checked, handshakes are bounded, and connections are not poisoned."""

from __future__ import annotations

import io
import json
import math
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.errors import RemoteError, RemoteTimeout
from gatewayfw.settings import Settings
from gatewayfw.wire.connections import Bounded, PostConnection, Unreachable, seconds_left
from gatewayfw.wire.posting import Posts
from tests.certificates import write_certificate
from tests.wire.scripts import BODY, HEAD, OK, PAUSE, SECRET, answer

SETTINGS = Settings(remote_connect_timeout=0.5, remote_timeout=3.0)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """Return a function that makes a certificate for an address, from -> until in days; gives its file."""

    def make(address="127.0.0.1", begun=-1, ends=1):
        file = tmp_path_factory.mktemp("tls") / "both.pem"
        write_certificate(file, SECRET, address, begun, ends)
        return file

    return make


@pytest.fixture
def secure(monkeypatch):
    """Serve a script over TLS with a certificate, which is trusted unless told otherwise; gives the service."""
    servers = []

    def serve(script, certificate, trusted=True):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # the name http.server calls
                script(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that refuses the certificate

        server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        return RemoteService(f"https://127.0.0.1:{server.server_port}", name="far", settings=SETTINGS)

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_trusted_certificate_is_taken(secure, certificates):
    assert secure(answer(), certificates()).call(BODY, {}, seconds=3) == WrittenReply(200, (), OK)


WRONG = {
    "not trusted": ({}, False),
    "of another address": ({"address": "127.0.0.2"}, True),
    "expired": ({"begun": -2, "ends": -1}, True),
    "not valid yet": ({"begun": 1, "ends": 2}, True),
}


@pytest.mark.parametrize(("made", "trusted"), WRONG.values(), ids=WRONG)
def test_any_other_certificate_is_502_and_nothing_is_sent(secure, certificates, made, trusted):
    asked = []
    service = secure(asked.append, certificates(**made), trusted)
    with pytest.raises(RemoteError) as raised:
        service.call(BODY, {"token": "t"}, seconds=3)
    assert raised.value.message == "service far is unreachable"
    assert raised.value.status == 502
    assert asked == []


def accepting(talk):
    """Return a listening socket whose every connection is handled by ``talk`` in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                talk(client)

    threading.Thread(target=run, daemon=True).start()
    return listener


def slowly(client):
    """Send the start of a handshake one byte at a time."""
    try:
        for byte in b"\x16\x03\x03\x20\x00" + b"x" * 100:
            client.sendall(bytes([byte]))
            time.sleep(PAUSE)
    except OSError:
        pass


HANDSHAKES = {
    "plain http": (lambda client: client.sendall(b"HTTP/1.1 400 no\r\n\r\n"), RemoteError, 502),
    "closed": (lambda client: None, RemoteError, 502),
    "alert": (lambda client: client.sendall(b"\x15\x03\x03\x00\x02\x02\x28"), RemoteError, 502),
    "silent": (lambda client: time.sleep(1.2), RemoteTimeout, 504),
    "byte by byte": (slowly, RemoteTimeout, 504),
}


@pytest.mark.parametrize(("talk", "error", "status"), HANDSHAKES.values(), ids=HANDSHAKES)
def test_a_handshake_that_fails_or_does_not_end_is_refused_in_time(talk, error, status):
    with accepting(talk) as listener:
        service = RemoteService(f"https://127.0.0.1:{listener.getsockname()[1]}", name="far", settings=SETTINGS)
        begun = time.monotonic()
        with pytest.raises(error) as raised:
            service.call(BODY, {}, seconds=3)
        listener.shutdown(socket.SHUT_RDWR)
    assert raised.value.status == status
    assert SECRET not in raised.value.message
    assert time.monotonic() - begun < 4


@pytest.mark.parametrize("size", [0, 6_000, 12_000, 40_000])
def test_a_second_answer_in_a_connection_is_never_taken_for_the_next(secure, certificates, size):
    asked = []

    def script(handler):
        asked.append(1)
        handler.rfile.read(int(handler.headers["Content-Length"]))
        head = HEAD + b"Content-Length: %d\r\n"
        first = json.dumps({"body": len(asked), "success": True}).encode()
        # What comes after the answer fills the buffer of http.client, then the second answer begins.
        padding = b"x" * (8192 - len(head % len(first)) - 2 - len(first))
        poison = b'{"success":true,"body":"poison%s"}' % (b"x" * size)
        handler.wfile.write(
            head % len(first) + b"\r\n" + first + padding + head % len(poison) + b"\r\n" + poison,
        )

    service = secure(script, certificates())
    bodies = []
    for _ in range(4):
        bodies.append(json.loads(service.call(BODY, {}, seconds=3).envelope)["body"])
        time.sleep(0.02)
    assert bodies == [1, 2, 3, 4]


def test_a_body_that_is_not_taken_ends_in_the_time_allowed(closed_port):
    with accepting(lambda client: time.sleep(1.5)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        service = RemoteService(url, name="far", settings=Settings(remote_timeout=0.5))
        body = {**BODY, "details": {"set": {"x": "x" * 30_000_000}, "get": {}}}
        begun = time.monotonic()
        with pytest.raises(RemoteTimeout):
            service.call(body, {}, seconds=3)
        listener.shutdown(socket.SHUT_RDWR)
    assert time.monotonic() - begun < 4


# -- what an error says of how far a request came


def post(url, data=b"{}", **seconds):
    """Post to a URL; gives the error."""
    posts = Posts(url, max_bytes=10, connections=1)
    with pytest.raises(OSError) as raised:  # noqa: PT011  # which one is what is asked
        posts.post(data, {}, **{"connect": 5, "total": 5, **seconds})
    return raised.value


def reason(error):
    return type(error), str(error)


@pytest.fixture
def tried(monkeypatch):
    """What connections were asked for; each is refused."""
    found = []

    def refuse(address, seconds):
        found.append((address, round(seconds, 1)))
        raise ConnectionRefusedError(f"refused by {address[0]}")

    monkeypatch.setattr(socket, "create_connection", refuse)
    return found


BOTH = [(socket.AF_INET, 1, 6, "", ("192.0.2.1", 80)), (socket.AF_INET6, 1, 6, "", ("::1", 80, 0, 0))]


def test_each_address_of_the_host_is_tried_until_one_connects(monkeypatch, tried):
    asked = []

    def resolve(*args, **options):
        asked.append((args, options))
        return BOTH

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    error = post("http://far.invalid:80")
    assert asked == [(("far.invalid", 80), {"type": socket.SOCK_STREAM})]
    assert tried == [(("192.0.2.1", 80), 2.5), (("::1", 80), 5)]
    assert reason(error) == (Unreachable, "no connection")
    assert str(error.__cause__) == "refused by ::1"


def test_an_address_that_does_not_answer_leaves_time_for_the_next(monkeypatch):
    clock, tried = [0.0], []

    def wait(address, seconds):
        tried.append(seconds)
        clock[0] += seconds
        raise TimeoutError

    monkeypatch.setattr("gatewayfw.wire.connections.seconds_left", lambda until: 8.0 - clock[0])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: BOTH * 2)
    monkeypatch.setattr(socket, "create_connection", wait)
    assert (type(post("http://far.invalid")), tried) == (TimeoutError, [2.0] * 4)


def test_a_host_without_an_address_is_told(monkeypatch, tried):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: [])
    error = post("http://far.invalid")
    assert reason(error) == (Unreachable, "no connection")
    assert str(error.__cause__) == "the host has no address"
    assert tried == []


def test_a_name_that_cannot_be_resolved_is_told(monkeypatch, tried):
    def resolve(*args, **options):
        raise socket.gaierror("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert (reason(post("http://far.invalid")), tried) == ((Unreachable, "the host has no address"), [])


def test_no_time_to_connect_is_told(tried):
    assert reason(post("http://127.0.0.1:1", connect=1e-9)) == (TimeoutError, "timed out")
    assert tried == []


def test_a_body_that_is_not_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = post(f"http://127.0.0.1:{silent.getsockname()[1]}", b"x" * 30_000_000, total=0.05)
    assert type(error) is TimeoutError


def test_a_reply_that_comes_before_all_is_sent_is_read():
    def refuse(client):
        client.sendall(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(OK), OK))
        client.shutdown(socket.SHUT_RD)

    with accepting(refuse) as listener:
        posts = Posts(f"http://127.0.0.1:{listener.getsockname()[1]}", max_bytes=1000, connections=1)
        reply = posts.post(b"x" * 30_000_000, {}, connect=5, total=5)
        listener.shutdown(socket.SHUT_RDWR)
    assert reply.data == OK


@pytest.mark.parametrize(
    ("url", "host"), [("http://h", "h"), ("http://[::1]:5/a", "[::1]:5"), ("https://h:80", "h:80"), ("https://h", "h")]
)
def test_the_host_is_named_with_its_port_unless_that_is_usual(monkeypatch, url, host):
    near, far = socket.socketpair()
    monkeypatch.setattr(PostConnection, "open", lambda connection, until: setattr(connection, "sock", near))
    with far, near:
        far.sendall(b"HTTP/1.1 204\r\nContent-Type: application/json\r\n\r\n")
        Posts(url, max_bytes=10, connections=1).post(b"", {}, connect=1, total=1)
        assert f"\r\nHost: {host}\r\n".encode() in far.recv(1000)


@pytest.fixture
def ends():
    """Two connected sockets."""
    near, far = socket.socketpair()
    with near, far:
        yield near, far


def reader(near, *, until=math.inf, most=100):
    return Bounded(near.makefile("rb", buffering=0), near, until, most)


def test_all_is_read_up_to_the_end(ends):
    near, far = ends
    far.sendall(b"abc")
    far.shutdown(socket.SHUT_WR)
    with io.BufferedReader(reader(near, most=3)) as file:
        assert file.read() == b"abc"
    assert near.gettimeout() is None


def test_one_byte_too_many_is_refused(ends):
    near, far = ends
    far.sendall(b"abcd")
    with reader(near, most=3) as file, pytest.raises(OSError, match="^too much was sent$"):
        file.read(10)


def test_a_read_waits_for_the_rest_of_the_time_only(ends):
    near, far = ends
    with reader(near, until=time.monotonic() + 0.05) as file:
        far.sendall(b"a")
        assert file.read(1) == b"a"
        with pytest.raises(TimeoutError):
            file.read(1)
        far.sendall(b"b")  # it came too late
        with pytest.raises(TimeoutError, match="^timed out$"):
            file.read(1)


def test_it_closes_what_it_reads(ends):
    near, _ = ends
    raw = near.makefile("rb", buffering=0)
    Bounded(raw, near, math.inf, 1).close()
    assert raw.closed


def test_seconds_left():
    assert 9 < seconds_left(time.monotonic() + 10) <= 10
    assert seconds_left(math.inf) == math.inf
    with pytest.raises(TimeoutError, match="^timed out$"):
        seconds_left(time.monotonic())
