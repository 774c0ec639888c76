"""granian, which comes with the extra of its name."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flask import Flask

from gatewayfw.settings import Settings
from gatewayfw.web.mount import init_worker
from gatewayfw.web.servers.options import PATIENCE, open_listener

#: Connections of one granian worker, idle ones too (gunicorn's default); more wait to be accepted.
_CONNECTIONS = 1000


def granian_options(*, host: str, port: int, workers: int, threads: int, deadline: float) -> dict[str, Any]:
    """Return granian's settings by name.

    Values of its enumerations and of HTTP/1 are plain.

    A worker is killed when it has not stopped some seconds after the deadline of an act, and one that dies is replaced.
    Connections beyond ``backpressure`` wait; an open connection counts until it closes, so the limit is far higher than
    the number of threads.
    """
    return {
        "address": host,
        "port": port,
        "interface": "wsgi",
        "http": "1",
        "http1_settings": {"header_read_timeout": 10_000, "max_buffer_size": 64 * 1024},  # milliseconds, bytes
        "websockets": False,
        "workers": workers,
        "blocking_threads": threads,
        "backpressure": _CONNECTIONS,
        "workers_kill_timeout": math.ceil(deadline) + PATIENCE,
        "respawn_failed_workers": True,
    }


def run_granian(app: Flask, *, host: str, port: int, workers: int, threads: int, settings: Settings) -> None:
    """Serve an app until it is stopped; failure ends with SystemExit."""
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.server import Server

    # Each worker binds the port by itself, and would share it with another server that does the same.
    with open_listener(host, port) as listener:
        host, port = listener.getsockname()[:2]
    options = granian_options(host=host, port=port, workers=workers, threads=threads, deadline=settings.deadline)
    options["interface"] = Interfaces(options["interface"])
    options["http"] = HTTPModes(options["http"])
    options["http1_settings"] = HTTP1Settings(**options["http1_settings"])
    # Workers are forked, as gunicorn's are: Python 3.14 would start them anew, without this app.
    multiprocessing.set_start_method("fork", force=True)
    Server("gatewayfw", **options).serve(target_loader=lambda: _worker_of_granian(app), wrap_loader=False)


def _worker_of_granian(app: Flask) -> Callable[..., Iterable[bytes]]:
    """Return the function for a new granian worker; it leaves Ctrl-C to its parent.

    granian sets a handler of its own afterwards; a worker that it ended would count as one that failed.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    init_worker(app)
    return without_environment(app, os.environ)


def without_environment(app: Flask, environment: Mapping[str, str]) -> Callable[..., Iterable[bytes]]:
    """Return the app without variables that granian 2.8 takes for headers.

    Such as ``HTTP_PROXY``.

    It puts the environment of the process into that of each request.
    """
    names = [name for name in environment if name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")]
    given = {name: environment[name] for name in names}

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        for name, value in given.items():
            if environ.get(name) == value:
                del environ[name]
        return app(environ, start_response)

    return application if given else app
