"""Deadlines, and the work they cover, for each thread of a storage."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from gatewayfw.errors import Timeout


class Scope:
    """The work that one deadline covers.

    Attributes:
        committed: whether a transaction or a single write committed in it. A transaction that fails
            later does not count; one that only read may count.
        reply_bytes: most bytes of JSON in the reply that the work is for; None without a reply.
        totals: the sums that it shares with other work for the same request, see `gatewayfw.acts.lifecycle`; or None.
    """

    # Those of a scope that is in no other.
    reply_bytes: int | None = None
    totals: Any = None

    def __init__(self, seconds: float, outer: Scope | None = None) -> None:
        self._until = until = time.monotonic() + seconds
        self._outer = outer
        self.committed = False
        if outer is not None and outer is not UNLIMITED:
            self._until = min(until, outer._until)
            self.reply_bytes, self.totals = outer.reply_bytes, outer.totals

    def remaining(self) -> float:
        """Return the seconds left, never negative; infinity without a deadline."""
        left = self._until - time.monotonic()
        return left if left > 0 else 0.0

    def check(self) -> None:
        """Raise `Timeout` when no time is left."""
        if time.monotonic() >= self._until:
            raise Timeout()

    def end(self) -> None:
        """Use up the time that is left, here and in every outer scope."""
        if self is not UNLIMITED:
            self._until = -math.inf
        if self._outer is not None:
            self._outer.end()

    def commit(self) -> None:
        """Record that an operation committed, here and in every outer scope."""
        self.committed = self is not UNLIMITED
        if self._outer is not None:
            self._outer.commit()

    def add_queries(self, queries: int) -> None:
        """Count the queries of a `get` against the bound of all items of a batch.

        Raises:
            ValidationError: they are too many for all of these together.
        """
        if self.totals is not None:
            self.totals.add_queries(queries)


#: The work outside of all deadlines, which keeps no record.
UNLIMITED = Scope(math.inf)


class Scopes(threading.local):
    """The current scope of each thread."""

    scope: Scope = UNLIMITED


class Deadline(Scope, AbstractContextManager[Scope]):
    """The `Scope` of a thread while the block runs.

    ``limit_driver`` opens a limit of so many seconds for the driver's work; of nested ones the nearest wins.
    """

    _driver: AbstractContextManager[object] | None = None

    def __init__(
        self,
        scopes: Scopes,
        seconds: float,
        limit_driver: Callable[[float], AbstractContextManager[object]] | None = None,
    ) -> None:
        Scope.__init__(self, seconds, scopes.scope)
        self._scopes = scopes
        self._limit_driver = limit_driver

    def __enter__(self) -> Scope:
        self._scopes.scope = self
        if self._limit_driver is not None:
            self._driver = self._limit_driver(self.remaining())
            self._driver.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._driver is not None:
            self._driver.__exit__(None, None, None)
        self._scopes.scope = self._outer or UNLIMITED


@contextmanager
def unrecorded(local: Scopes) -> Iterator[None]:
    """Let a block commit what no deadline's scope records, in the time that is left."""
    outer = local.scope
    if outer is not UNLIMITED:
        local.scope = Scope(outer.remaining())
    try:
        yield
    finally:
        local.scope = outer
