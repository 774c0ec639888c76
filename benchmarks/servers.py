"""Servers of contenders: started, measured and ended by their process ids. Linux only."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks import load
from benchmarks.contenders import Contender
from benchmarks.works import WORKS

#: Seconds for a server to answer, and to end.
_START, _STOP = 30.0, 10.0
_ROOT = Path(__file__).parent.parent
#: The request of Linux that a process be ended with its parent.
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Shape(NamedTuple):
    """How many processes answer, and how many threads in each."""

    workers: int
    threads: int

    def __str__(self) -> str:
        return f"{self.workers}x{self.threads}"


#: What is measured where nothing else is said.
SHAPE = Shape(1, 8)


class ServerError(Exception):
    """A server did not start, or ended."""


class Server:
    """One contender behind its server, with a core for each worker.

    Inside ``with`` it runs; a free port is taken. It ends with this process, however that ends. uvicorn
    has one thread in each worker.
    """

    def __init__(self, contender: Contender, uri: str, shape: Shape = SHAPE) -> None:
        self.contender = contender
        self._uri = uri
        self._shape = shape
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> Server:
        self.port = _free_port()
        self._process = subprocess.Popen(
            [sys.executable, "-m", *self._command()],
            cwd=_ROOT,
            env={**os.environ, "BENCH_URI": self._uri, "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=partial(_prepare, self._shape.workers),
        )
        try:
            self._wait_until_it_answers(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _command(self) -> list[str]:
        target, port = self.contender.target, str(self.port)
        workers, threads = map(str, self._shape)
        if self.contender.server == "granian":
            options = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", port, "--http", "1"]
            counts = ["--workers", workers, "--blocking-threads", threads]
            return ["granian", *options, *counts, "--factory", "--no-ws", "--log-level", "error", target]
        if self.contender.server == "uvicorn":
            options = ["--host", "127.0.0.1", "--port", port, "--timeout-keep-alive", "15", "--no-access-log"]
            return ["uvicorn", *options, "--workers", workers, "--factory", "--log-level", "error", target]
        options = ["--bind", f"127.0.0.1:{port}", "--worker-class", "gthread", "--keep-alive", "15"]
        counts = ["--workers", workers, "--threads", threads]
        return ["gunicorn", *options, *counts, "--log-level", "error", "--no-control-socket", f"{target}()"]

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        ping = self.contender.request(WORKS["ping"], {"set": {}, "get": {}})
        end = time.monotonic() + _START
        while time.monotonic() < end:
            if process.poll() is not None:
                assert process.stderr is not None
                raise ServerError(f"{self.contender.name} ended:\n{process.stderr.read().decode()[-2000:]}")
            # gunicorn listens before its worker has started.
            with contextlib.suppress(OSError, load.LoadError):
                replies = load.ask(self.port, [ping])
                if replies[0][0] in load.GOOD:
                    return
            time.sleep(0.05)
        raise ServerError(f"{self.contender.name} does not answer after {_START:.0f} s")

    def stop(self) -> None:
        """End the server and its workers."""
        process, self._process = self._process, None
        if process is None:
            return
        family = self.pids(process.pid)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            for pid in family[1:]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if process.stderr is not None:
            process.stderr.close()

    def cpu(self) -> float:
        """Return the seconds that master and workers have computed so far, all threads, also ended ones."""
        return sum(_cpu(pid) for pid in self.pids())

    def memory(self) -> int:
        """Return the bytes of the workers, in the measure that `MEMORY` names."""
        pids = self.pids()
        return sum(_memory(pid) for pid in pids[1:] or pids)  # a single uvicorn is its own worker

    def pids(self, root: int | None = None) -> list[int]:
        """Return the process ids: the master's, then its descendants'."""
        if root is None:
            if self._process is None or self._process.poll() is not None:
                raise ServerError(f"{self.contender.name} ended")
            root = self._process.pid
        found = [root]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    found += [int(word) for word in task.read_text().split()]
        return found


def cores_for_the_others() -> None:
    """Leave the first core to the servers, where there is more than one; for this process and its children."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[1:])


def _prepare(cores: int) -> None:
    """In the new process: the first cores, and an end with its parent."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # Cores that the parent gave up may be taken back.
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def _cpu(pid: int) -> float:
    # The kernel's number of another process's clock (clock_getcpuclockid in glibc); exact, not in ticks.
    return time.clock_gettime((~pid << 3) | 2)


#: PSS: what is a process's own, and its share of what several have loaded. Where the kernel does not tell it: RSS.
MEMORY = "PSS" if Path("/proc/self/smaps_rollup").exists() else "RSS"


def _memory(pid: int) -> int:
    if MEMORY == "RSS":
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return int(lines["Pss"].split()[0]) * 1024


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
