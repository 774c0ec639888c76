"""gunicorn, which comes with the package."""

from __future__ import annotations

import logging
import math
import signal
from typing import Any

from flask import Flask

from gatewayfw.settings import Settings
from gatewayfw.web.mount import init_worker
from gatewayfw.web.servers.options import PATIENCE, open_listener

#: Seconds beyond the deadline of an act after which a worker that does not respond is killed.
_MARGIN = 25


def gunicorn_options(*, host: str, port: int, workers: int, threads: int, deadline: float) -> dict[str, Any]:
    """Return gunicorn's settings by name.

    Its timeouts, in seconds, are above the deadline of an act.
    """
    return {
        "bind": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
        "worker_class": "gthread",
        "workers": workers,
        "threads": threads,
        "timeout": math.ceil(deadline) + _MARGIN,
        "graceful_timeout": math.ceil(deadline) + PATIENCE,
        "forwarder_headers": "",  # a client could choose SCRIPT_NAME and PATH_INFO
        "post_worker_init": prepare_worker,
    }


def prepare_worker(worker: Any) -> None:
    """Make a worker safe, before its first request; for `post_worker_init`.

    It leaves Ctrl-C to its master, drops log records that cannot be written, and works on jobs.

    Raises:
        DefinitionError: greenlets have replaced its threads.
    """
    if isinstance(worker.wsgi, Flask):
        init_worker(worker.wsgi)
    # A terminal sends SIGINT to the whole process group. Together with the master's SIGQUIT it enters the worker's
    # handler twice, and gunicorn 27.0.1 then waits for a lock that it holds itself, until it is killed after 30 s.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Else a record that its log cannot take, as on a full disk, goes to stderr with all headers, tokens included.
    logging.raiseExceptions = False


def run_gunicorn(app: Flask, *, host: str, port: int, workers: int, threads: int, settings: Settings) -> None:
    """Serve an app until it is stopped; ends with SystemExit."""
    # Not importable without fork.
    from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

    open_listener(host, port).close()  # gunicorn itself would log, retry for seconds and exit.
    options = gunicorn_options(host=host, port=port, workers=workers, threads=threads, deadline=settings.deadline)

    class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
        def load_config(self) -> None:
            for name, value in options.items():
                self.cfg.set(name, value)
            if "control_socket_disable" in self.cfg.settings:  # Gunicorn 25: a socket file in the home directory.
                self.cfg.set("control_socket_disable", True)

        def load(self) -> Flask:
            return app

    Application().run()
