"""Readers that give up at a point in time, and after so many bytes."""

from __future__ import annotations

import io
import math
import socket
import time

import pytest

from gatewayfw.wire.bounded import Bounded, seconds_left


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
