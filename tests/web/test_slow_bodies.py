"""A body gets time by the bytes that arrive, whatever it announces."""

from __future__ import annotations

import io
import socket
import threading

import pytest
from flask import Request

from gatewayfw.errors import BadRequest
from gatewayfw.web import slow_bodies
from gatewayfw.web.slow_bodies import CHUNK, Patience

TOO_SLOW = "the request body arrives too slowly"


@pytest.fixture
def clock(monkeypatch):
    """A clock that only its test moves."""

    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(slow_bodies, "time", clock)
    return clock


@pytest.fixture
def pair():
    """A client, and the server's end of its connection."""
    client, server = socket.socketpair()
    with client, server:
        yield client, server


class Dripping:
    """A body of which so many bytes arrive each second; a read waits for all that it wants."""

    def __init__(self, clock, rate):
        self._clock, self._rate = clock, rate

    def read(self, size):
        self._clock.now += size / self._rate
        return b"x" * size


@pytest.mark.parametrize("rate", [3, 1000, slow_bodies.EARNS - 1])
def test_a_body_that_drips_ends_after_a_time_that_its_length_does_not_change(clock, rate):
    with Patience({}) as patient, pytest.raises(BadRequest, match=TOO_SLOW):
        while True:
            patient.read(Dripping(clock, rate))
    allowed = 20 / (1 - rate / slow_bodies.EARNS)
    assert allowed <= clock.now <= allowed + 1024 / rate + 1


def test_a_body_that_arrives_fast_enough_is_read_for_as_long_as_it_takes(clock):
    body = Dripping(clock, slow_bodies.EARNS)
    with Patience({}) as patient:
        assert [len(patient.read(body)) for _ in range(1000)] == [1024] * 1000
    assert clock.now == 125


def test_only_the_time_of_reads_counts(clock):
    with Patience({}) as patient:
        assert patient.read(io.BytesIO(b"x")) == b"x"
        clock.now += 100
        assert patient.read(io.BytesIO(b"y")) == b"y"


@pytest.mark.parametrize(("given", "size"), [((), 1024), (["gunicorn.socket"], CHUNK)], ids=["no socket", "socket"])
def test_little_is_read_at_once_where_nobody_can_end_a_read(pair, given, size):
    body = io.BytesIO(b"x" * CHUNK)
    with Patience(dict.fromkeys(given, pair[1])) as patient:
        assert len(patient.read(body)) == size


def test_the_end_of_a_body_is_empty():
    with Patience({}) as patient:
        assert patient.read(io.BytesIO()) == b""


@pytest.mark.parametrize(("most", "left"), [(10_000, 0), (1500, 7952), (0, 10_000)])
def test_the_rest_of_a_body_that_is_refused_is_discarded(most, left):
    body = io.BytesIO(b"x" * 10_000)
    with Patience({}) as patient:
        patient.discard(Request({"wsgi.input": body, "wsgi.input_terminated": True}), most)
    assert len(body.read()) == left


def test_nothing_is_discarded_of_a_body_that_arrives_too_slowly(clock):
    request = Request({"wsgi.input": Dripping(clock, 10), "wsgi.input_terminated": True})
    with Patience({}) as patient:
        patient.discard(request, 10**6)
        ended = clock.now
        patient.discard(request, 10**6)
    assert clock.now == ended < 110


@pytest.mark.parametrize("key", ["gunicorn.socket", "werkzeug.socket"])
def test_a_read_that_waits_is_ended_with_the_connection(monkeypatch, pair, key):
    monkeypatch.setattr(slow_bodies, "SECONDS", 0.05)
    client, server = pair
    client.sendall(b"abcdef")
    with server.makefile("rb") as body, Patience({key: server}) as patient:
        with pytest.raises(BadRequest, match=TOO_SLOW):
            patient.read(body)
        server.sendall(b"the reply")
    assert client.recv(100) == b"the reply"


def test_nobody_watches_a_body_that_is_read(pair):
    before = set(threading.enumerate())
    with Patience({"gunicorn.socket": pair[1]}):
        (thread,) = set(threading.enumerate()) - before
    thread.join(5)
    assert not thread.is_alive()
