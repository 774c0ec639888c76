"""waitress, which comes with the extra of its name.

It receives whole requests before a thread sees them.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from flask import Flask

from gatewayfw.settings import Settings
from gatewayfw.web.mount import init_worker
from gatewayfw.web.reply import logger
from gatewayfw.web.servers.options import PATIENCE, open_listener

#: Connections at a time; more wait to be accepted. A large body takes a second one of the 1024 files of most processes.
_CONNECTIONS = 400
#: Seconds without a byte after which a connection is closed.
_SILENCE = 10
#: Bytes of a head: those that nginx takes.
_HEAD = 32 * 1024
#: Bytes of a body for the lines of its chunks, which waitress counts, too.
_FRAMING = 64 * 1024


def waitress_options(*, threads: int, most_bytes: int) -> dict[str, Any]:
    """Return waitress's settings by name, for bodies of up to ``most_bytes``."""
    return {
        "threads": threads,
        "connection_limit": _CONNECTIONS,
        "channel_timeout": _SILENCE,
        "cleanup_interval": _SILENCE // 2,
        "max_request_header_size": _HEAD,
        "max_request_body_size": most_bytes + _FRAMING,
        # `select` knows the first 1024 files only.
        "asyncore_use_poll": True,
        # A client that leaves is no fault.
        "log_socket_errors": False,
        # It trusts no proxy, and leaves their headers to the app's `ProxyFix`, as the other servers do.
        "clear_untrusted_proxy_headers": False,
    }


def run_waitress(app: Flask, *, host: str, port: int, threads: int, settings: Settings, most_bytes: int) -> None:
    """Serve an app in this process until Ctrl-C, or in the main thread SIGTERM."""
    import waitress  # type: ignore[import-untyped]  # An optional extra.

    # It logs a warning for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    with open_listener(host, port) as listener:
        server = waitress.create_server(
            app, sockets=[listener], **waitress_options(threads=threads, most_bytes=most_bytes)
        )
        logger.info("serving in this process at http://%s:%d", host, listener.getsockname()[1])
        init_worker(app)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _terminator(server, settings.deadline + PATIENCE))
        server.run()


def _terminator(server: Any, seconds: float) -> Callable[..., None]:
    """Return a handler of SIGTERM.

    The first one lets requests under way be answered for so many seconds, the next one ends the server.
    """
    is_stopping = False

    def terminate(*_: object) -> None:
        nonlocal is_stopping
        if is_stopping:
            raise KeyboardInterrupt  # as Ctrl-C does; SIGINT itself may be ignored, as under nohup
        is_stopping, server.accepting = True, False
        threading.Thread(target=_stop, args=[server, time.monotonic() + seconds], daemon=True).start()

    return terminate


def _stop(server: Any, most: float) -> None:
    """Send the second SIGTERM when all requests are answered, or the time is up."""
    while time.monotonic() < most and any(
        channel.requests or channel.total_outbufs_len for channel in list(server.active_channels.values())
    ):
        time.sleep(0.05)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
