"""The proxy passes on what comes, and delays, drops and swallows replies when told to."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import pytest

from tests.faults.proxy import Proxy


@pytest.fixture
def connect():
    """Connect through a proxy to a server that echoes; gives the proxy and a function that makes connections."""
    with socket.create_server(("127.0.0.1", 0)) as listener, Proxy() as proxy, contextlib.ExitStack() as stack:
        proxy.connect_to(listener.getsockname()[1])
        echo = threading.Thread(target=serve, args=(listener,))
        echo.start()
        yield proxy, lambda: stack.enter_context(socket.create_connection(("127.0.0.1", proxy.port), 5))
        listener.shutdown(socket.SHUT_RDWR)
        echo.join(10)


def serve(listener):
    """Echo on one connection after another, each in a thread, until the listener closes."""
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=echo, args=(listener.accept()[0],)).start()


def echo(connection):
    """Send back what comes."""
    with connection, contextlib.suppress(OSError):
        while data := connection.recv(100):
            connection.sendall(data)


def asked(connection, data):
    """Send and return the reply; b"" when the connection is closed."""
    with contextlib.suppress(ConnectionError):
        connection.sendall(data)
        return connection.recv(100)
    return b""


def test_passes_on_what_comes(connect):
    _, connection = connect
    assert [asked(one, b"hello") for one in (connection(), connection())] == [b"hello", b"hello"]


def test_delays_replies(connect):
    proxy, connection = connect
    one = connection()
    assert asked(one, b"warm") == b"warm"
    with proxy.delaying(0.2):
        start = time.monotonic()
        assert asked(one, b"late") == b"late"
    assert time.monotonic() - start >= 0.2


def test_drops_connections_and_takes_new_ones_afterwards(connect):
    proxy, connection = connect
    one = connection()
    assert asked(one, b"before") == b"before"
    with proxy.dropping():
        assert (asked(one, b"open"), asked(connection(), b"new")) == (b"", b"")
    assert asked(connection(), b"after") == b"after"


def test_connection_that_misses_a_reply_is_closed_in_the_end(connect):
    proxy, connection = connect
    one, other = connection(), connection()
    assert [asked(one, b"before"), asked(other, b"before")] == [b"before", b"before"]
    with proxy.swallowing():
        one.settimeout(0.2)
        with pytest.raises(TimeoutError):
            asked(one, b"swallowed")
    assert (asked(one, b"after"), asked(other, b"after")) == (b"", b"after")
