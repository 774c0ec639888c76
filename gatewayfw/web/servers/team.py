"""Threads that serve connections."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

Given = TypeVar("Given")


class Team(Generic[Given]):
    """Threads that serve connections, one at a time each.

    A future for each request, as `concurrent.futures` makes it, costs more than to receive the request. The threads
    are daemons: a worker whose time to stop is up ends, whatever they wait for.
    """

    def __init__(self, threads: int, serve: Callable[[Given], None]) -> None:
        self._waiting: SimpleQueue[Given] = SimpleQueue()
        for _ in range(threads):
            threading.Thread(target=self._work, args=[serve], daemon=True).start()

    def give(self, conn: Given) -> None:
        """Let the next thread that is free serve a connection."""
        self._waiting.put(conn)

    def shutdown(self, wait: bool = False) -> None:
        """Do nothing, when gunicorn asks its pool to: the threads end with the process."""

    def _work(self, serve: Callable[[Given], None]) -> None:
        while True:
            serve(self._waiting.get())
