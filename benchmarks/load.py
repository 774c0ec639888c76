"""Load on a server: many connections that each send the next request when the reply is there.

`wrk` makes it where it is installed, else a small loop of our own; which one hardly matters, because
what is compared is the CPU time of the server.
"""

from __future__ import annotations

import re
import selectors
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

#: Seconds without any reply after which the load is given up.
_SILENCE = 30.0
#: Statuses of a success; Eve answers 201 to a new document.
GOOD = (200, 201)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Request(NamedTuple):
    """What is sent: a path with its query, a body of JSON, empty for none, and a method."""

    path: str
    body: bytes
    method: str = "POST"


@dataclass(frozen=True)
class Load:
    """What a load saw: replies, those that were no success, seconds, and latencies in milliseconds."""

    requests: int
    errors: int
    seconds: float
    p50: float
    p99: float


class LoadError(Exception):
    """A server closed a connection or gave no reply."""


def uses_wrk(seconds: float) -> bool:
    """Tell whether `wrk` makes a load of so many seconds: it is installed, and counts in whole seconds."""
    return seconds >= 1 and shutil.which("wrk") is not None


def run(port: int, requests: Sequence[Request], connections: int, seconds: float) -> Load:
    """Send requests, round and round, for so many seconds."""
    if uses_wrk(seconds):
        return by_wrk(port, requests, connections, round(seconds))
    return by_hand(port, requests, connections, seconds)


def raw(request: Request) -> bytes:
    """Return a request as it is sent."""
    path, body, method = request
    about = f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1{about}\r\n\r\n".encode() + body


class _Connection:
    """One connection; `receive` gives the status and body of a reply once it is complete."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=_SILENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._data = b""
        self.sent = 0.0
        self.received = 0

    def send(self, data: bytes) -> None:
        self.sent = time.perf_counter()
        self.socket.sendall(data)

    def receive(self) -> tuple[int, bytes] | None:
        got = self.socket.recv(1 << 20)
        if not got:
            raise LoadError(f"the server closed a connection after {self.received} replies")
        self._data += got
        head, end, body = self._data.partition(b"\r\n\r\n")
        if not end:
            return None
        length = _LENGTH.search(head)
        if length is None:
            raise LoadError("a reply without a length")
        if len(body) < int(length[1]):
            return None
        self._data = b""
        self.received += 1
        return int(head[9:12]), body


def ask(port: int, requests: Iterable[Request]) -> list[tuple[int, bytes]]:
    """Send requests one after the other over one connection; return status and body of each."""
    connection = _Connection(port)
    replies = []
    with connection.socket:
        for request in requests:
            connection.send(raw(request))
            reply = None
            while reply is None:
                reply = connection.receive()
            replies.append(reply)
    return replies


def by_hand(port: int, requests: Sequence[Request], connections: int, seconds: float) -> Load:
    """Send requests from a loop in this process."""
    data = [raw(request) for request in requests]
    latencies: list[float] = []
    errors = sent = 0
    start = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            connection = _Connection(port)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send(data[sent % len(data)])
            sent += 1
        waiting = connections
        while waiting:
            ready = selector.select(_SILENCE)
            if not ready:
                raise LoadError(f"no reply for {_SILENCE:.0f} s")
            for key, _events in ready:
                try:
                    reply = key.data.receive()
                except (LoadError, ConnectionError):
                    # A server may close a connection that was idle; the request is lost, and an error.
                    errors += 1
                    _renew(selector, key, port).send(data[sent % len(data)])
                    continue
                if reply is None:
                    continue
                now = time.perf_counter()
                latencies.append(now - key.data.sent)
                errors += reply[0] not in GOOD
                if now - start < seconds:
                    key.data.send(data[sent % len(data)])
                    sent += 1
                else:
                    selector.unregister(key.fileobj)
                    key.data.socket.close()
                    waiting -= 1
    took = time.perf_counter() - start
    latencies.sort()
    return Load(len(latencies), errors, took, _part(latencies, 0.5), _part(latencies, 0.99))


def _renew(selector: selectors.BaseSelector, key: selectors.SelectorKey, port: int) -> _Connection:
    if not key.data.received:
        raise LoadError("the server closed a connection without any reply")
    selector.unregister(key.fileobj)
    key.data.socket.close()
    connection = _Connection(port)
    selector.register(connection.socket, selectors.EVENT_READ, connection)
    return connection


def _part(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


_SCRIPT = """
local requests = {}
init = function()
  for line in io.lines("%s") do
    local method, path, body = line:match("(%%S+) (%%S+) (.*)")
    local about = {["Content-Type"] = "application/json"}
    requests[#requests + 1] = body == "" and wrk.format(method, path) or wrk.format(method, path, about, body)
  end
end
local sent = 0
request = function()
  sent = sent + 1
  return requests[(sent - 1) %% #requests + 1]
end
done = function(summary, latency)
  local e = summary.errors
  local failed = e.status + e.connect + e.read + e.write + e.timeout
  io.write(string.format("RESULT %%d %%d %%d %%d %%d\\n", summary.requests, failed, summary.duration,
    latency:percentile(50), latency:percentile(99)))
end
"""


def by_wrk(port: int, requests: Sequence[Request], connections: int, seconds: int) -> Load:
    """Send requests with `wrk`, one thread."""
    with tempfile.TemporaryDirectory(prefix="gatewayfw-bench-") as folder:
        lines, script = Path(folder, "requests"), Path(folder, "script.lua")
        lines.write_bytes(b"".join(f"{one.method} {one.path} ".encode() + one.body + b"\n" for one in requests))
        script.write_text(_SCRIPT % lines)
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{seconds}s",
            "--timeout",
            f"{_SILENCE:.0f}s",
            "-s",
            str(script),
            f"http://127.0.0.1:{port}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + _SILENCE, check=False)
    found = re.search(r"^RESULT (\d+) (\d+) (\d+) (\d+) (\d+)$", done.stdout, re.MULTILINE)
    if found is None:
        raise LoadError(f"wrk: {done.stdout}{done.stderr}")
    replies, errors, micros, p50, p99 = (int(number) for number in found.groups())
    return Load(replies, errors, micros / 1e6, p50 / 1000, p99 / 1000)
