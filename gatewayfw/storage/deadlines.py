"""Deadlines: the stretch of work that one bounds, for each thread of a storage."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager

from gatewayfw.errors import Timeout


class Scope:
    """The stretch of work that one deadline covers.

    Attributes:
        committed: whether a transaction or a write of its own committed inside it. What a
            transaction did that fails later does not count; one that only read may count.
        reply_bytes: most bytes of the JSON of the reply that the work is for; None where it is for none.
    """

    def __init__(self, seconds: float, outer: Scope | None = None) -> None:
        self._until = time.monotonic() + seconds
        if outer is not None:
            self._until = min(self._until, outer._until)
        self._outer = outer
        self.committed = False
        self.reply_bytes: int | None = None if outer is None else outer.reply_bytes

    def remaining(self) -> float:
        """Return the seconds left, never negative."""
        return max(0.0, self._until - time.monotonic())

    def check(self) -> None:
        """Raise `Timeout` when no time is left."""
        if time.monotonic() >= self._until:
            raise Timeout()

    def end(self) -> None:
        """Let no time be left, here and in every scope around."""
        self._until = 0.0
        if self._outer is not None:
            self._outer.end()

    def commit(self) -> None:
        """Note that an operation committed, here and in every scope around."""
        self.committed = True
        if self._outer is not None:
            self._outer.commit()


class Scopes(threading.local):
    """The scope that each thread is inside of."""

    scope: Scope | None = None


class Deadline(AbstractContextManager[Scope]):
    """The `Scope` of a thread while the block runs.

    A class, because a generator costs each request more.
    """

    def __init__(self, local: Scopes, seconds: float) -> None:
        self._local = local
        self._seconds = seconds

    def __enter__(self) -> Scope:
        self._outer = self._local.scope
        self._local.scope = scope = Scope(self._seconds, self._outer)
        return scope

    def __exit__(self, *error: object) -> None:
        self._local.scope = self._outer
