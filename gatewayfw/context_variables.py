"""What holds in a thread or task: whose rights, and which contexts are open.

The lifecycle of an act notes who calls; the operations of models ask. A thread that an act starts has a caller only if
the context variables were handed on (`contextvars.copy_context`). This needs no other module: pytest loads the plugin,
and so this, in every session.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from copy import copy
from enum import Enum
from typing import Any, NamedTuple, final


@final
class Caller:
    """Whose rights hold, from the moment at which the hooks before an act have passed.

    Attributes:
        role: a declared role; empty for a caller who is signed in without one; None for nobody.
        context: a copy of the context of that moment, for the functions of policies.
        hidden: what a `get` may not name, by its select struct, as policies join it.
        known: what these functions gave, by model.
        viewer: for the ODM: what it is asked by.
    """

    __slots__ = ("context", "hidden", "known", "role", "viewer")

    def __init__(self, role: str | None, context: Any, hidden: Any = None) -> None:
        self.role = role
        self.context = context
        self.hidden = hidden
        self.known: dict[str, Any] = {}
        self.viewer: Any = None


@final
class Free(Enum):
    """Why nothing is restricted in an act: what runs in it, or that a ghost calls."""

    HOOKS = "hooks"
    POLICY = "policy"
    MIGRATION = "migration"
    GHOST = "ghost"


Entry = Caller | Free
#: Who calls, by the models of a gateway. It is replaced, never changed, because copies share it. Those whose models are
#: not here run no act in this thread.
CALLERS: ContextVar[Mapping[Any, Entry]] = ContextVar("gatewayfw_callers", default={})  # noqa: B039


@contextmanager
def holding(variable: ContextVar[Any], value: object) -> Iterator[None]:
    """Give a variable a value in a block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def calling(of: Any, entry: Entry) -> AbstractContextManager[None]:
    """Let somebody be the caller for the models of one gateway, in a block."""
    return holding(CALLERS, {**CALLERS.get(), of: entry})


def anew(entry: Entry) -> Entry:
    """Return the same entry; a caller learns the rest without the other."""
    if not isinstance(entry, Caller):
        return entry
    new = Caller(entry.role, entry.context, entry.hidden)
    new.known = {model: copy(rights) for model, rights in entry.known.copy().items()}
    return new


def calling_anew() -> AbstractContextManager[None]:
    """Let what functions of policies give in a block hold only there."""
    return holding(CALLERS, {of: anew(entry) for of, entry in CALLERS.get().items()})


def for_later(fn: Callable[[], object]) -> Callable[[], object]:
    """Return a function that is called for those who call now."""
    now = CALLERS.get()

    def call() -> object:
        with holding(CALLERS, now):
            return fn()

    return call


# -- the contexts that are open by hand, and that of a test


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


def open_scratch() -> AbstractContextManager[None]:
    """Give every gateway a context outside of requests in a block, as for a test."""
    return holding(OPEN_CONTEXTS, OPEN_CONTEXTS.get()._replace(scratch={}))
