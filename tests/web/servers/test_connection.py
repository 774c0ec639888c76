"""Connections whose next request is received in steps."""

from __future__ import annotations

import inspect
import socket

import pytest
from gunicorn import http, sock
from gunicorn.config import Config
from gunicorn.http.unreader import Unreader
from gunicorn.workers import gthread

from gatewayfw.web.servers.connection import Connection

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
