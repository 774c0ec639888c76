"""Locks that let the threads of one process queue for hot documents instead of colliding.

Only an optimisation: the database decides who wins. A thread that waited in vain goes on without.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

_STRIPES = 64


class Stripes:
    """A fixed number of locks, shared out to documents by their hash; one set per process.

    Made at first use and anew after a fork: a child never gets a lock that a thread of its parent
    held. Locks made late are also those of gevent where it was patched in before.
    """

    def __init__(self) -> None:
        self._locks: tuple[threading.Lock, ...] = ()
        self._pid = 0

    def held(self, documents: Iterable[tuple[str, object]], patience: float) -> AbstractContextManager[None]:
        """Hold the locks of documents (collection, ``_id``); wait at most ``patience`` seconds in all.

        They are taken in one order, so threads that hold some never wait for each other.
        """
        return _Held(self._own(), sorted({hash(document) % _STRIPES for document in documents}), patience)

    def _own(self) -> tuple[threading.Lock, ...]:
        if self._pid != os.getpid():
            self._locks, self._pid = tuple(threading.Lock() for _ in range(_STRIPES)), os.getpid()
        return self._locks


class _Held(AbstractContextManager[None]):
    """Locks that are held while the block runs."""

    def __init__(self, locks: Sequence[threading.Lock], numbers: Iterable[int], patience: float) -> None:
        self._locks = locks
        self._numbers = numbers
        self._patience = patience
        self._taken: list[threading.Lock] = []

    def __enter__(self) -> None:
        until = time.monotonic() + self._patience
        try:
            for number in self._numbers:
                lock = self._locks[number]
                if not lock.acquire(timeout=max(0.0, until - time.monotonic())):
                    break
                self._taken.append(lock)
        except BaseException:  # interrupted while it waits
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        for lock in self._taken:
            lock.release()
