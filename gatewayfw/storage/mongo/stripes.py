"""Locks with which the threads of one process queue for hot documents.

They are only an optimisation: the database decides who wins. A thread that waits in vain goes on
without the lock.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_STRIPES = 64


class Stripes:
    """A fixed set of locks per process, shared by the hashes of documents.

    It is made on first use, and again after a fork, so that a child never gets a lock that a thread of its
    parent held.
    """

    def __init__(self) -> None:
        self._locks: tuple[threading.Lock, ...] = ()
        self._pid = 0

    @contextmanager
    def held(self, documents: Iterable[tuple[str, object]], patience: float) -> Iterator[None]:
        """Hold the locks of documents; wait at most ``patience`` seconds in all.

        Each document is (collection, ``_id``). Locks are taken in one fixed order, so threads never
        deadlock.
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
