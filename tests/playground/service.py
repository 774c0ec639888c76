"""A live sample service with demo data and the playground, on a free port."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import mongomock
from flask import Flask
from werkzeug.serving import make_server

from sample_service import demo
from sample_service.app import create_service

TOKEN_KEY = "a token key for tests, long enough for HS256"


def sample_app(prefix: str = "", **options) -> Flask:
    """Return a sample service of its own: data in memory, the demo users in it."""
    service = create_service(mongomock.MongoClient().sample, TOKEN_KEY)
    demo.seed(service)
    return service.gw.create_app(playground=True, url_prefix=prefix, **options)


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """Serve an app from a thread; yield where, without a slash at the end."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05), name="sample service")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
