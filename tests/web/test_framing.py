"""What a body costs grows with its bytes and chunks, and not with their square, on each server.

Counted is the processor time of the server, which other load hardly changes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tests.web.test_wire import ANSWER, CHUNKED, DATA, LAST, chunk, post

ROOT = Path(__file__).parent.parent.parent
SERVERS = ("gunicorn", "waitress", "threaded")
BODY = 400_000
#: Seconds of a processor for a body of 400 kB in single bytes: 2 at most here, and 12 with a parser that copies what is
#: left of a block for each chunk.
MOST = 8.0


class Server:
    """A server as a process, and the time that it took."""

    def __init__(self, name, log):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.address = probe.getsockname()
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    f"from tests.web.test_wire import run; run({name!r}, {self.address[1]}, {10 * BODY})",
                ],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def listens(self):
        """Whether it takes connections."""
        with socket.socket() as probe:
            return probe.connect_ex(self.address) == 0

    def seconds(self):
        """The processor time of it and its workers so far."""
        pid = self.process.pid
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ticks = 0
        for one in (pid, *workers):
            ticks += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def cost(self, size, total):
        """The seconds for an act whose body comes in chunks of a size."""
        data, before = DATA.ljust(total), self.seconds()
        parts = (data[at : at + size] for at in range(0, total, size))
        body = b"".join(chunk(b"%x" % len(part), part) for part in parts) + LAST
        with socket.create_connection(self.address, timeout=120) as client:
            client.sendall(post(CHUNKED, body=body))
            assert client.makefile("rb").read().endswith(ANSWER)
        return self.seconds() - before

    def end(self):
        """Kill it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(params=SERVERS)
def server(request, tmp_path):
    """Each server, after its first request."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system does not tell what a process took")
    log = tmp_path / "log"
    server = Server(request.param, log)
    try:
        assert wait_until(server.listens, process=server.process, log=log.read_text)
        server.cost(len(DATA), len(DATA))
        yield server
    finally:
        server.end()


def test_a_body_in_single_bytes_is_answered(server):
    assert server.cost(1, BODY // 20) < MOST / 4


@pytest.mark.slow
def test_a_body_in_single_bytes_costs_a_time_for_each_of_them(server):
    quarter, whole, large = server.cost(1, BODY // 4), server.cost(1, BODY), server.cost(65_536, BODY)
    print(f"400 kB in single bytes {whole:.2f} s, a quarter of it {quarter:.2f} s, in 64 kB {large:.2f} s")
    assert whole < min(MOST, 8 * quarter + 0.5)
    assert large < 0.5
