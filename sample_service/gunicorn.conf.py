# ruff: noqa: N999  (the name that gunicorn knows)
"""Settings for ``gunicorn -c`` with this file; nothing here touches the network.

``PORT`` (8000), ``HOST`` (127.0.0.1) and ``WEB_CONCURRENCY`` (2 workers) are read from the
environment. Slow senders hold threads, so put nginx in front (`nginx.conf`), for TLS and limits of addresses, too.
"""

import importlib.util
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

from gatewayfw.environment import is_development
from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.web.servers import check_worker_timeout, prepare_worker

wsgi_app = f"{Path(__file__).resolve().parent.name}:create_app()"  # started from the folder that holds the package
bind = f"{os.environ.get('HOST', '127.0.0.1')}:{os.environ.get('PORT', '8000')}"

# Threads, because an act mostly waits for the database.
worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = 8

# Seconds. Above the deadline of an act (GATEWAYFW_DEADLINE, 5), so that no worker is killed in the middle of one.
timeout = 30
graceful_timeout = 30

# Else Ctrl-C may hang, and a log on a full disk prints the headers of requests, tokens included, to stderr.
post_worker_init = prepare_worker

control_socket_disable = True
limit_request_line = 4094
# Otherwise a client at 127.0.0.1, and so any client behind a proxy there, may choose SCRIPT_NAME and PATH_INFO.
forwarder_headers = ""


def on_starting(server):  # type: ignore[no-untyped-def]
    """Refuse timeouts below the deadline and data in memory; in development let the workers share a token key."""
    try:
        settings = Settings.load(os.environ)
        for option in ("timeout", "graceful_timeout"):
            check_worker_timeout(getattr(server.cfg, option), settings, option)
    except DefinitionError as error:
        sys.exit(str(error))
    if server.cfg.workers > 1 and not os.environ.get("MONGODB_URI"):
        sys.exit("MONGODB_URI is not set: each worker would keep data of its own, in memory")
    if is_development(os.environ) and not os.environ.get("GATEWAYFW_TOKEN_KEY"):
        server.log.warning("GATEWAYFW_TOKEN_KEY is not set: tokens end with this process")
        os.environ["GATEWAYFW_TOKEN_KEY"] = secrets.token_hex(32)


def when_ready(server):  # type: ignore[no-untyped-def]
    """Make the folder in which workers add up what `observe.prometheus()` counts.

    Not before there is a port: when another process has it, `on_exit` is not called.
    """
    counts = importlib.util.find_spec("prometheus_client") and not server.cfg.preload_app  # read when it is imported
    if counts and "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        server.metrics_folder = os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="metrics-")


def child_exit(server, worker):  # type: ignore[no-untyped-def]
    """Remove the live gauges of a worker that ended; what it counted stays in the sums."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ and importlib.util.find_spec("prometheus_client"):
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server):  # type: ignore[no-untyped-def]
    """Remove the folder of the metrics, if it was made here."""
    if folder := getattr(server, "metrics_folder", None):
        shutil.rmtree(folder, ignore_errors=True)
