"""Locks by which threads of one process queue for hot documents.

Only an optimisation: the database decides who wins. A thread that waited in vain goes on without.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_STRIPES = 64


class Stripes:
    """A fixed number of locks, shared by documents' hashes; one set per process.

    Made at first use and anew after a fork: a child never gets a lock that a thread of its parent
    held. Locks made late are also those of gevent where it was patched in before.
    """

    def __init__(self) -> None:
        self._locks: tuple[threading.Lock, ...] = ()
        self._pid = 0

    @contextmanager
    def held(self, documents: Iterable[tuple[str, object]], patience: float) -> Iterator[None]:
        """Hold the locks of documents; wait at most ``patience`` seconds in all.

        Each is (collection, ``_id``).

        They are taken in one order, so threads that hold some never wait for each other.
        """
        until = time.monotonic() + patience
        taken: list[threading.Lock] = []
        try:
            for number in sorted({hash(document) % _STRIPES for document in documents}):
                lock = self._own()[number]
                if not lock.acquire(timeout=max(0.0, until - time.monotonic())):
                    break
                taken.append(lock)
            yield
        finally:
            for lock in taken:
                lock.release()

    def _own(self) -> tuple[threading.Lock, ...]:
        if self._pid != os.getpid():
            self._locks, self._pid = tuple(threading.Lock() for _ in range(_STRIPES)), os.getpid()
        return self._locks
