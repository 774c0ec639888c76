"""Greenlets in the place of threads, which are refused.

What belongs to one transaction or deadline is kept per thread. Greenlets that take turns in one thread would share it:
a write of one request would join, and be rolled back with, the transaction of another. A context variable is no way
out, because what copies its context, such as `asyncio.to_thread`, would share the transaction between threads.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from gatewayfw.errors import DefinitionError

#: The module that replaces parts of the standard library, by the name of the package.
_PATCHERS = {"gevent": ("gevent.monkey", "is_module_patched"), "eventlet": ("eventlet.patcher", "is_monkey_patched")}
#: With either of them greenlets take turns within an operation.
_PARTS = ("threading", "thread", "socket")


def patched_by(modules: Mapping[str, Any] = sys.modules) -> str | None:
    """Return the package that has replaced threads by greenlets; None if none has.

    ``modules`` are those that are loaded.
    """
    for package, (module, function) in _PATCHERS.items():
        is_patched = getattr(modules.get(module), function, None)
        if is_patched is not None and any(is_patched(part) for part in _PARTS):
            return package
    return None


def refuse_greenlets(modules: Mapping[str, Any] = sys.modules) -> None:
    """Refuse a process whose threads are greenlets.

    Raises:
        DefinitionError: says what was found, why it is refused, and what to use instead.
    """
    package = patched_by(modules)
    if package is not None:
        raise DefinitionError(
            f"{package} has replaced the threads of this process by greenlets: requests would share their transactions "
            "and lose each other's writes; serve with threads, by gunicorn's gthread, granian or waitress"
        )
