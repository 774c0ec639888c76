"""Connections of the client in a generated module: kept, closed, shared; hostile replies are in `tests/client`."""

from __future__ import annotations

import multiprocessing

import pytest

from gatewayfw.client import NoReply
from gatewayfw.client.posts import Posts
from tests.wire.scripts import OK, answer


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
    first, second = count(), count()
    posts.close()
    assert (first == second, count() == second) == (True, False)


def test_a_forked_process_opens_its_own(counted):
    count, _ = counted
    before = count()
    child = multiprocessing.get_context("fork").Process(target=count)
    child.start()
    child.join(10)
    assert (child.exitcode, count()) == (0, before)


def test_nobody_listens(closed_port):
    with pytest.raises(NoReply) as found:
        Posts(f"http://127.0.0.1:{closed_port}", 5.0, 1000).post(b"{}", {})
    assert (found.value.message, found.value.code) == ("the gateway is unreachable", "unreachable")
