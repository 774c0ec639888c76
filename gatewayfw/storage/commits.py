"""What a thread does once its transaction has committed.

A transaction may begin several times and may belong to several gateways on one storage, so the functions are collected
here, for the thread and the storage, and called by whoever began the outermost transaction.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from gatewayfw.errors import UsageError
from gatewayfw.logs import traceback_of

#: Opens what a function finds around it, such as a context.
Scope = Callable[[], AbstractContextManager[object]]
_LOG = logging.getLogger("gatewayfw.storage")


class Commits(threading.local):
    """The functions that each thread calls after its outermost commit."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], object]] | None = None
        self._scope: Scope | None = None

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Open a scope around each function that a block leaves for later."""
        before, self._scope = self._scope, scope
        try:
            yield
        finally:
            self._scope = before

    def call_after(self, fn: Callable[[], object], *, within: bool) -> None:
        """Call a function after the commit that is collected for; else at once.

        ``within`` says whether a transaction is under way at all.

        Raises:
            UsageError: there is one that nobody collects for, so its end would not be noticed.
        """
        if self._waiting is not None:
            self._waiting.append(fn if self._scope is None else partial(_call_within, self._scope, fn))
        elif within:
            raise UsageError("after_commit: this transaction was not begun by odm.transaction")
        else:
            _call(fn)

    def collect(self, *, within: bool) -> Collecting | None:
        """Return the collector of the outermost transaction, which begins now.

        None inside of another, as ``within`` says: that one collects.
        """
        return None if within or self._waiting is not None else Collecting(self)


class Collecting(AbstractContextManager["Collecting"]):
    """Collects functions in a block around one transaction, all its attempts included.

    They are called when the block ends without an exception.
    """

    def __init__(self, commits: Commits) -> None:
        self._commits = commits

    def __enter__(self) -> Collecting:
        self.begin()
        return self

    def begin(self) -> None:
        """Begin an attempt: forget what the one before has left."""
        self._commits._waiting = []

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        waiting, self._commits._waiting = self._commits._waiting or [], None
        for fn in waiting if kind is None else ():
            _call(fn)


def _call_within(scope: Scope, fn: Callable[[], object]) -> None:
    with scope():
        fn()


def _call(fn: Callable[[], object]) -> None:
    try:
        fn()
    except Exception as error:  # The seam: what is committed must not look as if it had failed.
        _LOG.error("a function of after_commit failed\n%s", traceback_of(error))
