"""The contexts that are open by hand, and that of a test.

They stand apart from the functions that work on them (`gatewayfw.acts.context`), and need no other module: pytest loads
the plugin, and so this, in every session.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple


class OpenContexts(NamedTuple):
    """The contexts open in a thread or task.

    ``opened`` has them by the context functions of their gateway. It is replaced, never changed, because copies share
    it.

    ``scratch``, if any, is where gateways find a context outside of requests: that of a test.
    """

    opened: Mapping[Any, Any]
    scratch: dict[Any, Any] | None


_NOTHING = OpenContexts({}, None)
OPEN_CONTEXTS: ContextVar[OpenContexts] = ContextVar("gatewayfw_contexts", default=_NOTHING)


@contextmanager
def open_scratch() -> Iterator[None]:
    """Give every gateway a context outside of requests for this block.

    The pytest plugin does so for each test.
    """
    token = OPEN_CONTEXTS.set(OPEN_CONTEXTS.get()._replace(scratch={}))
    try:
        yield
    finally:
        OPEN_CONTEXTS.reset(token)
