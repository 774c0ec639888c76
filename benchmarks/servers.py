"""Servers of contenders: started, measured and ended by their process ids. Linux only."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import load
from benchmarks.contenders import Contender
from benchmarks.works import WORKS

#: Seconds for a server to answer, and to end.
_START, _STOP = 30.0, 10.0
_ROOT = Path(__file__).parent.parent
THREADS = 8


class ServerError(Exception):
    """A server did not start, or ended."""


class Server:
    """One contender behind its server: workers with eight threads each, and a core for each worker.

    Inside ``with`` it runs; a free port is taken.
    """

    def __init__(self, contender: Contender, uri: str, workers: int = 1) -> None:
        self.contender = contender
        self._uri = uri
        self._workers = workers
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
            preexec_fn=partial(_to_the_first_cores, self._workers),
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
        target = self.contender.target
        if self.contender.server == "granian":
            options = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port), "--http", "1"]
            counts = ["--workers", str(self._workers), "--blocking-threads", str(THREADS)]
            return ["granian", *options, *counts, "--factory", "--no-ws", "--log-level", "error", target]
        options = ["--bind", f"127.0.0.1:{self.port}", "--worker-class", "gthread", "--keep-alive", "15"]
        counts = [
            "--workers",
            str(self._workers),
            "--threads",
            str(THREADS),
            "--log-level",
            "error",
            "--no-control-socket",
        ]
        return ["gunicorn", *options, *counts, f"{target}()"]

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        ping = self.contender.request(WORKS["ping"], {"set": {}, "get": {}})
        end = time.monotonic() + _START
        while time.monotonic() < end:
            if process.poll() is not None:
                assert process.stderr is not None
                raise ServerError(f"{self.contender.name} ended:\n{process.stderr.read().decode()[-2000:]}")
            # gunicorn listens before its worker has started.
            with contextlib.suppress(OSError, load.LoadError):
                load.ask(self.port, [ping])
                return
            time.sleep(0.05)
        raise ServerError(f"{self.contender.name} does not answer after {_START:.0f} s")

    def stop(self) -> None:
        """End the server and its workers."""
        process, self._process = self._process, None
        if process is None:
            return
        family = self._pids(process.pid)
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
        return sum(_cpu(pid) for pid in self._pids())

    def memory(self) -> int:
        """Return the bytes of the workers that are their own or their share of others' (PSS)."""
        return sum(_memory(pid) for pid in self._pids()[1:])

    def _pids(self, root: int | None = None) -> list[int]:
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


def _to_the_first_cores(count: int) -> None:
    # Cores that the parent gave up may be taken back.
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def _cpu(pid: int) -> float:
    # The kernel's number of another process's clock (clock_getcpuclockid in glibc); exact, not in ticks.
    return time.clock_gettime((~pid << 3) | 2)


def _memory(pid: int) -> int:
    lines: dict[str, Any] = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    )
    return int(lines["Pss"].split()[0]) * 1024


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
