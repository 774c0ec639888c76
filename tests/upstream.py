"""A server whose answers are scripts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Script = Callable[[BaseHTTPRequestHandler], None]


class Upstream(ThreadingHTTPServer):
    """A server whose queue holds a burst of connections; http.server's own holds 5."""

    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, *request: Any) -> None:
        """Tell of an error on standard error, where another test may listen; not of clients that have hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*request)


@contextmanager
def upstreams() -> Iterator[Callable[[Script], str]]:
    """A function that starts a server whose answer to a POST is a script, and returns its URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(script: Script) -> str:
        server = Upstream(("127.0.0.1", 0), _handler(script))
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # the name http.server calls
            script(self)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler
