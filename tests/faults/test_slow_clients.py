"""Many clients that send one byte per second: the documented deployment goes on answering."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time

import pytest
from urllib3 import HTTPConnectionPool

from tests.faults.clients import Sender, at_once
from tests.faults.nginx import Nginx, require_nginx

#: 60 slow clients, half of which never end their headers, and half their bodies.
SLOW = 60
PAUSE = 1.0
_START = b"POST /gateway HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
HEAD, BODY = _START + b"X: ", _START + b"Content-Length: 100000\r\n\r\n"
CONFIGURATION = ("-c", "sample_service/gunicorn.conf.py")


@pytest.fixture
def deployed(on_stage, mongod_uri, tmp_path):
    """The sample service behind gunicorn behind nginx, both as they are documented; gives stage and nginx."""
    require_nginx()
    with on_stage(mongod_uri, *CONFIGURATION) as stage, Nginx(tmp_path, stage.server.pool.port) as nginx:
        yield stage, nginx


class SlowClients:
    """Clients that send one byte each ``PAUSE`` seconds, and connect again when they are thrown out."""

    def __init__(self, port, count, *starts):
        self._address = ("127.0.0.1", port)
        self._starts = list(itertools.islice(itertools.cycle(starts), count))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.thrown_out = 0

    def __enter__(self):
        self._clients = [self._connected(start) for start in self._starts]
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._thread.join()
        for client in self._clients:
            client.close()

    def _connected(self, start):
        client = socket.create_connection(self._address, timeout=10)
        client.sendall(start)
        client.setblocking(False)
        return client

    def _run(self):
        while not self._stopped.wait(PAUSE):
            for number, client in enumerate(self._clients):
                if not self._sent(client):
                    client.close()
                    self.thrown_out += 1
                    self._clients[number] = self._connected(self._starts[number])

    def _sent(self, client):
        with contextlib.suppress(BlockingIOError):
            try:
                client.send(b" ")
                client.recv(1)  # an answer, or the end
            except ConnectionError:
                pass
            return False
        return True


def sender(port, seconds=30):
    return Sender(HTTPConnectionPool("127.0.0.1", port, maxsize=8, timeout=seconds, retries=False), "none")


def add_country(client, number):
    return client.send("country", "addCountry", {"name": f"country {number}", "population": number}, {"name": 1})


def answered(full, port, report):
    """Check that normal calls are answered while clients are slow; returns how many of these were thrown out."""
    client, numbers = sender(port), itertools.count()
    assert add_country(client, next(numbers)).status == 200
    with SlowClients(port, SLOW, HEAD, BODY) as slow:
        time.sleep(3 * PAUSE if full else 0.2)
        replies = [add_country(client, next(numbers)) for _ in range(200 if full else 20)]
        replies += at_once(8, lambda _: add_country(client, next(numbers)))
        time.sleep(12 * PAUSE if full else 0)
        replies += [add_country(client, next(numbers)) for _ in range(50 if full else 5)]
        thrown_out = slow.thrown_out
    longest = max(reply.took for reply in replies)
    report(longest=round(longest, 3), median=round(sorted(reply.took for reply in replies)[len(replies) // 2], 4))
    report(thrown_out=thrown_out)
    assert {reply.status for reply in replies} == {200}
    assert longest < 1 or not full
    return thrown_out


@pytest.mark.mongo
@pytest.mark.slow
def test_normal_calls_are_answered_while_60_clients_are_slow(full, deployed, report):
    _, nginx = deployed
    thrown_out = answered(full, nginx.port, report)
    assert thrown_out >= SLOW // 2 or not full  # those whose headers take more than 10 s
