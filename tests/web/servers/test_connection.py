"""Connections whose next request is received in steps."""

from __future__ import annotations

import inspect
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest
from gunicorn import http, sock
from gunicorn.config import Config
from gunicorn.http.unreader import Unreader
from gunicorn.workers import gthread

from gatewayfw.web.servers.arrival import START
from gatewayfw.web.servers.connection import SPAN, Connection
from tests.certificates import write_certificate
from tests.waiting import wait_until

REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"


@pytest.fixture
def ends():
    """A connection, the client's socket, and what lingers."""
    near, far = socket.socketpair()
    lingers = []
    with near, far:
        yield Connection(Config(), near, ("127.0.0.1", 1), ("127.0.0.1", 2), lingers.append), far, lingers


def test_a_request_that_comes_in_pieces_is_whole_at_its_end(ends):
    conn, far, _ = ends
    with pytest.raises(BlockingIOError):
        conn.receive()
    seen = []
    for part in (REQUEST[:20], REQUEST[20:-1], REQUEST[-1:]):
        far.sendall(part)
        conn.add(conn.receive())
        seen.append((conn.whole, conn.decided))
    assert seen == [(False, False), (False, False), (True, True)]


def test_a_request_that_only_the_parser_can_judge_is_decided_but_not_whole(ends):
    conn, _, _ = ends
    conn.add(b"GET / HTTP/1.1\n")
    assert (conn.whole, conn.decided) == (False, True)


def test_the_parser_gets_what_has_arrived_and_the_next_request_begins(ends):
    conn, _, _ = ends
    conn.add(REQUEST)
    conn.hand_over()
    request = next(conn.parser)
    assert (request.method, request.body.read()) == ("POST", b"hi")
    assert (conn.data, conn.whole, conn.decided) == (b"", False, False)
    conn.add(REQUEST)
    assert conn.whole


def test_it_is_what_gunicorn_takes_for_the_future_of_a_request(ends):
    conn, _, _ = ends
    assert (conn.result(), conn.cancelled()) == (False, False)
    conn.kept = True
    assert (conn.result(), conn.cancelled()) == (True, False)


def test_a_connection_that_is_cut_has_come_to_its_end_and_can_still_reply(ends):
    conn, far, _ = ends
    conn.cut()
    assert conn.receive() == b""
    conn.sock.sendall(b"bye")
    assert far.recv(3) == b"bye"
    conn.close()
    conn.cut()


def test_a_connection_that_is_cut_serves_no_further_request(ends):
    """The rest of its body, which TCP delivers even then, would be taken for one."""
    conn, _, _ = ends
    conn.kept = True
    conn.cut()
    assert not conn.result()


def test_a_reply_is_given_time_to_be_read(ends):
    conn, far, lingers = ends
    conn.close(graceful=True)
    assert (lingers, conn.sock.fileno() >= 0) == ([conn], True)
    conn.close()
    assert (lingers, conn.sock.fileno(), far.recv(1)) == ([conn], -1, b"")


def test_a_connection_begins_with_nothing(ends):
    conn, _, _ = ends
    assert (conn.data_ready, conn.whole, conn.decided, conn.kept) == (True, False, False, False)
    assert (conn.deadline, conn.held, conn.drained, bytes(conn.data), conn.sight) == (0.0, 0, 0, b"", START)
    assert (conn.client, conn.server) == (("127.0.0.1", 1), ("127.0.0.1", 2))


def test_behind_a_proxy_its_header_comes_first(ends):
    near, far = socket.socketpair()
    config = Config()
    config.set("proxy_protocol", "v1")
    with near, far:
        conn = Connection(config, near, ("127.0.0.1", 1), ("127.0.0.1", 2), len)
        conn.add(b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + REQUEST)
        assert (conn.sight.part, conn.whole) == ("body", True)
        conn.hand_over()
        assert conn.sight == START


def test_a_block_is_read_at_once(ends):
    conn, far, _ = ends
    far.setblocking(False)
    sent = far.send(b"x" * 100_000)
    assert sent > 65_536
    assert len(conn.receive()) == 65_536


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    write_certificate(file)
    return str(file)


@pytest.fixture
def tls(certificate):
    """A connection in TLS, the client's end of it after its part of the handshake, and what it received."""
    near, far = socket.socketpair()
    config = Config()
    config.set("certfile", certificate)
    config.set("keyfile", certificate)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with near, far, ThreadPoolExecutor(1) as pool:
        conn = Connection(config, near, ("127.0.0.1", 1), ("127.0.0.1", 2), len)
        with pytest.raises((BlockingIOError, ssl.SSLWantReadError)):
            conn.receive()
        client = pool.submit(context.wrap_socket, far)
        assert wait_until(lambda: ready(conn) or client.done())
        with client.result() as shaken:
            yield conn, shaken
        conn.sock.close()


def ready(conn):
    """Go on with the handshake, as far as the client has."""
    try:
        conn.receive()
    except ssl.SSLWantReadError:
        return False
    return True


def test_in_tls_a_request_is_received_after_the_handshake(tls):
    conn, client = tls
    client.sendall(REQUEST)
    assert wait_until(lambda: client.version() and conn.receive() == REQUEST)
    with pytest.raises(ssl.SSLWantReadError):
        conn.receive()


@pytest.mark.parametrize(("span", "seconds"), [((0, 40_000), 0.04), ((2, 500_000), 2.5), ((0, 0), None)])
def test_a_write_in_tls_heeds_the_time_that_the_kernel_was_told(tls, monkeypatch, span, seconds):
    conn, client = tls
    conn.sock.setblocking(True)
    conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SPAN.pack(*span))
    seen, write = [], ssl.SSLSocket.sendall

    def writing(sock, *data):
        seen.append(sock.gettimeout())
        write(sock, *data)

    monkeypatch.setattr(ssl.SSLSocket, "sendall", writing)
    conn.sock.sendall(b"bye")
    assert (seen, conn.sock.gettimeout(), client.recv(3)) == ([seconds], None, b"bye")


def test_a_write_in_tls_that_nobody_reads_ends(tls):
    conn, _ = tls
    conn.sock.setblocking(True)
    conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SPAN.pack(0, 20_000))
    with pytest.raises(TimeoutError):
        conn.sock.sendall(bytes(10_000_000))
    assert conn.sock.gettimeout() is None


def test_canary_for_what_is_taken_from_gunicorn():
    """A version that changes any of these needs a look at the class, and at the cap in setup.cfg."""
    own = {name for name, value in vars(Connection).items() if inspect.isfunction(value)}
    assert {name for name in own if hasattr(gthread.TConn, name)} - {"__init__"} == {"close"}
    assert [list(inspect.signature(each).parameters) for each in (gthread.TConn, gthread.TConn.close)] == [
        ["cfg", "sock", "client", "server"],
        ["self", "graceful"],
    ]
    # `init` makes and wraps nothing where there is a parser.
    assert "if self.parser is None:" in inspect.getsource(gthread.TConn.init)
    assert all(map(callable, (http.get_parser, sock.ssl_context, Unreader.unread)))
