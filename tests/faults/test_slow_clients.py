"""Many clients that send one byte per second: the documented deployments go on answering."""

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
from tests.faults.serving import Server
from tests.sample_service.serving import Waitress

#: 60 slow clients: a third never end their headers, a third their bodies, and a third their chunks.
SLOW = 60
PAUSE = 1.0
_START = b"POST /gateway HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
STARTS = (
    _START + b"X: ",
    _START + b"Content-Length: 100000\r\n\r\n",
    _START + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n",
)
CONFIGURATION = ("-c", "sample_service/gunicorn.conf.py")
#: What stands against slow clients, and the service behind it: nginx as it is shipped, or waitress itself.
DEPLOYMENTS = {
    "nginx and gunicorn": (True, Server, CONFIGURATION),
    "waitress": (False, Waitress, ()),
}


@pytest.fixture(params=DEPLOYMENTS)
def port(request, on_stage, mongod_uri, tmp_path):
    """The port of the sample service, as it is documented."""
    has_proxy, kind, options = DEPLOYMENTS[request.param]
    if has_proxy:
        require_nginx()
    with on_stage(mongod_uri, *options, kind=kind) as stage:
        if not has_proxy:
            yield stage.server.pool.port
            return
        with Nginx(tmp_path, stage.server.pool.port) as nginx:
            yield nginx.port


class SlowClients:
    """Clients that send one byte each ``PAUSE`` seconds, and connect again when they are thrown out."""

    def __init__(self, port, count, *starts):
        self._address = ("127.0.0.1", port)
        self._starts = list(itertools.islice(itertools.cycle(starts), count))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)

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


@pytest.mark.mongo
@pytest.mark.slow
def test_normal_calls_are_answered_while_60_clients_are_slow(full, port, report):
    client, numbers = sender(port), itertools.count()
    assert add_country(client, next(numbers)).status == 200
    with SlowClients(port, SLOW, *STARTS):
        time.sleep(3 * PAUSE if full else 0.2)
        replies = [add_country(client, next(numbers)) for _ in range(200 if full else 20)]
        replies += at_once(8, lambda _: add_country(client, next(numbers)))
        time.sleep(12 * PAUSE if full else 0)
        replies += [add_country(client, next(numbers)) for _ in range(50 if full else 5)]
    longest = max(reply.took for reply in replies)
    report(longest=round(longest, 3), median=round(sorted(reply.took for reply in replies)[len(replies) // 2], 4))
    assert {reply.status for reply in replies} == {200}
    assert longest < 1 or not full
