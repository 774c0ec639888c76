"""Which server runs an app, and where."""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec

from flask import Flask
from werkzeug.serving import BaseWSGIServer, make_server

from gatewayfw.errors import missing_extra
from gatewayfw.settings import Settings
from gatewayfw.web.mount import init_worker
from gatewayfw.web.reply import logger
from gatewayfw.web.servers.granian import run_granian
from gatewayfw.web.servers.gunicorn import run_gunicorn
from gatewayfw.web.servers.options import Server, open_listener
from gatewayfw.web.servers.waitress import run_waitress


def starts_processes(multi_process: bool, server: Server = "gunicorn") -> bool:
    """Tell whether `serve` runs an app in processes of its own."""
    if server == "waitress":
        return False
    return multi_process and threading.current_thread() is threading.main_thread() and hasattr(os, "fork")


def serve(
    app: Flask,
    *,
    host: str,
    port: int,
    workers: int,
    threads: int,
    multi_process: bool,
    settings: Settings,
    most_bytes: int,
    server: Server = "gunicorn",
) -> None:
    """Serve an app until it is stopped; blocks.

    The options are those of `gatewayfw.core.Gateway.run_server`. One threaded server in this process serves where a
    forked worker would have its own copy of the data (not ``multi_process``); it ends at KeyboardInterrupt. waitress
    receives bodies of ``most_bytes``. The timeouts of the workers are derived from the ``deadline`` of acts, so that no
    setting can kill a worker in the middle of one.

    Raises:
        DefinitionError: granian or waitress is asked for and not installed.
        OSError: the port is in use, or the host has no such address.
    """
    if find_spec(server) is None:
        raise missing_extra(f"option 'server': {server!r}", server, server)
    if server == "waitress":
        run_waitress(app, host=host, port=port, threads=threads, settings=settings, most_bytes=most_bytes)
        return
    if starts_processes(multi_process):
        run = run_granian if server == "granian" else run_gunicorn
        run(app, host=host, port=port, workers=workers, threads=threads, settings=settings)
    else:
        own = threaded_server(app, host, port)
        logger.info("serving in this process at http://%s:%d", host, own.port)
        own.log_startup()
        init_worker(app)
        own.serve_forever()


def threaded_server(app: Flask, host: str, port: int) -> BaseWSGIServer:
    """Return a server, bound to its port, that answers each request in a thread.

    Raises:
        OSError: the port is in use, or the host has no such address.
    """
    # Bound here, because werkzeug 3.1 prints and exits when it cannot bind.
    with open_listener(host, port) as listener:
        return make_server(host, port, app, threaded=True, fd=listener.fileno())
