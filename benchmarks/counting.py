"""The commands that each act sends to the database: counted in process, by PyMongo's own events."""

from __future__ import annotations

import io
import random
import threading
from collections.abc import Sequence
from typing import Any

from pymongo import MongoClient
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from benchmarks import dataset
from benchmarks.contenders import Contender
from benchmarks.load import GOOD, Request
from benchmarks.works import Work

Document = dict[str, Any]
#: Requests of each work before the one that counts: they connect, build indexes and start threads.
_BEFORE = 2


class _Counter(CommandListener):
    """Notes the commands of the thread that made it; other threads of a service work in between."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self.names: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        if threading.get_ident() == self._thread:
            self.names.append(event.command_name)

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Do nothing."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Do nothing."""


def commands_of(contender: Contender, uri: str, works: Sequence[Work], size: dataset.Size) -> dict[str, list[str]]:
    """Return the names of the commands of one act of each work, in their order."""
    counter = _Counter()
    name = f"bench_{random.randrange(16**8):08x}"
    found: dict[str, list[str]] = {}
    with MongoClient[Document](uri, w="majority", event_listeners=[counter]) as client:
        try:
            dataset.seed(client[name], size)
            app = contender.application(client[name])
            for work in works:
                if work not in contender.works():
                    continue
                for number in range(_BEFORE + 1):
                    counter.names.clear()
                    call(app, contender.request(work, work.details(random.Random(number), size)))
                found[work.name] = list(counter.names)
        finally:
            client.drop_database(name)
    return found


def environ_of(request: Request) -> dict[str, Any]:
    """Return a request as a WSGI server passes it on; `wsgi.input` holds the body."""
    path, _, query = request.path.partition("?")
    return {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(request.body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def call(app: Any, request: Request) -> bytes:
    """Answer one request in process; return the body.

    Raises:
        RuntimeError: the status is not 200 or 201; holds the reply.
    """
    seen: list[str] = []
    chunks = app(environ_of(request), lambda status, headers, exc_info=None: seen.append(status))
    body = b"".join(chunks)
    if hasattr(chunks, "close"):
        chunks.close()
    if int(seen[0][:3]) not in GOOD:
        raise RuntimeError(f"{seen[0]}: {body[:500]!r}")
    return body
