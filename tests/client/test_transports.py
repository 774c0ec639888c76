"""How requests get to the gateway, and what is raised when no reply comes."""

from __future__ import annotations

import socket

import pytest

from gatewayfw.client.errors import BadReply, NoReply
from gatewayfw.client.transports import Http
from tests.wire.noting import noting


@pytest.fixture
def http():
    """A function that makes the transport to a URL."""
    made = []

    def make(url, *, timeout=5.0, most=1_000):
        made.append(Http(url, timeout, 1, most))
        return made[-1]

    yield make
    for transport in made:
        transport.close()


def send(status, body):
    def script(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return script


def test_a_reply_comes_back_as_it_was_sent(http, upstream):
    reply = http(upstream(send(400, b'{"a": 1}'))).post(b"{}", {})
    assert (reply.status, reply.data, reply.headers["Content-Type"]) == (400, b'{"a": 1}', "application/json")


def failure(transport, error=NoReply):
    with pytest.raises(error) as caught:
        transport.post(b"{}", {})
    return caught.value.code, caught.value.message


def test_where_nobody_listens_the_gateway_is_unreachable(http, closed_port):
    assert failure(http(f"http://127.0.0.1:{closed_port}")) == ("unreachable", "the gateway is unreachable")


def test_a_connection_that_breaks_gives_no_reply(http, upstream):
    broken = http(upstream(lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)))
    assert failure(broken) == ("no_reply", "the connection broke before the reply was complete")


def test_a_reply_that_is_too_large_is_bad(http, upstream):
    code, _ = failure(http(upstream(send(200, b" " * 2_000)), most=100), BadReply)
    assert code == "bad_reply"


def test_each_post_has_the_whole_time_and_the_bounds_of_the_client(monkeypatch):
    told = []
    monkeypatch.setattr("gatewayfw.client.transports.Posts", noting(told, "reply"))
    assert Http("http://h/gateway", 3.0, 5, 100).post(b"{}", {"a": "b"}) == "reply"
    assert told == [
        (("http://h/gateway",), {"max_bytes": 100, "connections": 5}),
        ((b"{}", {"a": "b"}), {"connect": 3.0, "total": 3.0}),
    ]
