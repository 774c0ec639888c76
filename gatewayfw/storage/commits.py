"""What a thread does once its transaction has committed.

A transaction may begin several times and may belong to several gateways on one storage, so the functions are collected
here, for the thread and the storage, and called by whoever began the outermost transaction.
"""

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

    @property
    def collects(self) -> bool:
        """Whether this thread's functions are collected now."""
        return self._waiting is not None

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

    @contextmanager
    def collect(self) -> Iterator[Callable[[], None]]:
        """Collect functions in a block around one transaction, all its attempts included.

        They are called when the block ends without an exception. What is given forgets those that the attempt before
        has left.
        """
        self._waiting = waiting = list[Callable[[], object]]()
        try:
            yield waiting.clear
        finally:
            self._waiting = None
        for fn in waiting:
            _call(fn)


def _call_within(scope: Scope, fn: Callable[[], object]) -> None:
    with scope():
        fn()


def _call(fn: Callable[[], object]) -> None:
    try:
        fn()
    except Exception as error:  # The seam: what is committed must not look as if it had failed.
        _LOG.error("a function of after_commit failed\n%s", traceback_of(error))
