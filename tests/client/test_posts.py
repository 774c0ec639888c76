"""Connections of the client in a generated module: kept, closed, shared; hostile replies are in `tests/client`."""

from __future__ import annotations

import json
import multiprocessing
import time
from contextlib import closing

import pytest

from gatewayfw.client import BadReply, NoReply
from gatewayfw.client.posts import Posts
from tests.wire.scripts import CHUNKED, OK, answer, chunk, raw


@pytest.fixture
def counted(upstream):
    """A function that returns the port each post to it came from, over connections that are kept."""
    ports = []

    def script(handler):
        ports.append(handler.client_address[1])
        handler.protocol_version = "HTTP/1.1"
        answer(OK)(handler)

    posts = Posts(upstream(script), 5.0, 1000)

    def count():
        posts.post(b"{}", {})
        return ports[-1]

    yield count, posts
    posts.close()


def test_a_connection_is_used_again_until_it_is_closed(counted):
    count, posts = counted
    begun = time.monotonic()
    first, second = count(), count()
    posts.close()
    assert (first == second, count() == second, time.monotonic() - begun < 1) == (True, False, True)


def test_a_forked_process_opens_its_own(counted):
    count, _ = counted
    before = count()
    child = multiprocessing.get_context("fork").Process(target=count)
    child.start()
    child.join(10)
    assert (child.exitcode, count()) == (0, before)


def test_the_host_is_connected_to_within_the_time(monkeypatch):
    made = []

    class Connection:
        sock = None

        def __init__(self, *given, **named):
            made.append((given, named))

        def connect(self):
            raise OSError

        def close(self):
            made.append("closed")

    for name in ("HTTPConnection", "HTTPSConnection"):
        monkeypatch.setattr(f"http.client.{name}", Connection)
    for url in ("http://h:5/x", "https://h"):
        with pytest.raises(NoReply):
            Posts(url, 3.0, 10).post(b"{}", {})
    assert made == [(("h", 5), {"timeout": 3.0}), "closed", (("h", None), {"timeout": 3.0}), "closed"]


def test_gateway_is_the_end_of_each_path(upstream):
    paths = []

    def script(handler):
        paths.append(handler.path)
        answer(OK)(handler)

    url = upstream(script)
    for path in ("", "/", "/api/", "/gateway", "/api/gateway/", "/mygateway"):
        with closing(Posts(url + path, 5.0, 1000)) as posts:
            posts.post(b"{}", {})
    assert paths == [*["/gateway"] * 2, "/api/gateway", "/gateway", "/api/gateway", "/mygateway/gateway"]


LONG = b'{"success":true,"body":"' + b"x" * 1_200_000 + b'"}'
FAILED = b'{"success":false,"body":{"message":"x"}}'


@pytest.mark.parametrize(
    ("data", "script", "status", "most"),
    [
        (OK, answer(OK, 299), 299, 1000),
        (FAILED, answer(FAILED, 599), 599, 1000),
        (OK, answer(OK, content_type="Application/JSON ; charset=utf-8; a=b"), 200, 1000),
        (OK, answer(OK, Content_Encoding="Identity"), 200, len(OK)),
        (OK, raw(CHUNKED, chunk(OK), b"0\r\n\r\n"), 200, len(OK)),
        (LONG, answer(LONG), 200, len(LONG)),
        (OK, answer(OK, X_A="x" * 10_000), 200, len(OK)),
    ],
    ids=["last status of a success", "last status of an error", "parameters", "length", "chunks", "long", "head"],
)
def test_a_reply_of_a_gateway_is_read_to_the_last_byte_that_it_may_have(upstream, data, script, status, most):
    with closing(Posts(upstream(script), 5.0, most)) as posts:
        reply = posts.post(b"{}", {})
    assert (reply.status, reply.envelope) == (status, json.loads(data))


def test_an_error_with_a_list_is_none_of_a_gateway(upstream):
    script = answer(b'{"success":false,"body":[]}', 400)
    with closing(Posts(upstream(script), 5.0, 1000)) as posts, pytest.raises(BadReply) as found:
        posts.post(b"{}", {})
    assert found.value.message == "bad reply of the gateway: its answer is not an envelope"


def test_a_chunk_that_http_client_refuses_is_a_bad_reply(upstream, monkeypatch):
    def read(response, most):
        raise ValueError("read length must be non-negative or -1")  # as of a size below zero, in some versions

    monkeypatch.setattr("http.client.HTTPResponse.read1", read)
    with closing(Posts(upstream(answer(OK)), 5.0, 1000)) as posts, pytest.raises(BadReply) as found:
        posts.post(b"{}", {})
    assert found.value.message == "bad reply of the gateway: its answer cannot be read"


def test_nobody_listens(closed_port):
    with pytest.raises(NoReply) as found:
        Posts(f"http://127.0.0.1:{closed_port}", 5.0, 1000).post(b"{}", {})
    assert (found.value.message, found.value.code) == ("the gateway is unreachable", "unreachable")
