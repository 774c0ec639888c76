"""Work outside of the caller's deadline of the driver."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any

import pymongo

from gatewayfw.storage.base import T


def run_aside(fn: Callable[[], T], seconds: float | None = None) -> T:
    """Run a function outside of the caller's deadline; return its result.

    ``seconds`` are a deadline of its own. PyMongo can only shorten a deadline. All other variables, such as the current
    span of a tracer, are the caller's.
    """
    kept = [(variable, value) for variable, value in copy_context().items() if variable not in _DEADLINES]

    def run() -> T:
        for variable, value in kept:
            variable.set(value)
        with pymongo.timeout(seconds):
            return fn()

    return Context().run(run)


def _find_deadlines() -> frozenset[ContextVar[Any]]:
    """Return the variables in which PyMongo keeps a deadline."""
    context = Context()
    context.run(pymongo.timeout(1).__enter__)
    return frozenset(context)


_DEADLINES = _find_deadlines()
