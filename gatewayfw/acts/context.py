"""The request context: what hooks and acts share during one request.

Every gateway has its own `ContextFns`. The context of a request is an attribute of the request itself, so it ends with
it and no other request can see it, whatever thread, app context or environment they share. Contexts opened by hand live
in one `ContextVar`, each with the request it was opened in. Source: specification 4; where a context lives is our
choice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, final

from gatewayfw.acts.headers import Headers
from gatewayfw.context_variables import OPEN_CONTEXTS, OpenContexts, holding

#: The key of the context that holds the address of the connection.
ADDRESS = "Address"
#: The types whose content an attempt gets a copy of.
_COPIED = (dict, list)

P = ParamSpec("P")
T = TypeVar("T")


@final
class Context(dict[str, Any]):
    """The values of one request, as keys and as attributes: ``context.user``.

    Always there: ``Headers`` (`Headers`) and ``body`` (the parsed body, None until the gateway has parsed it). In a
    request also ``Request``, a weak reference that behaves as the framework's request (keep the request itself if you
    need it later), and ``Address``, the address of the connection, empty when it has none. All other keys are the
    hooks' own. The names of dictionary methods (``items``, ``get``) work as keys only.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the context has no {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(dict, name):
            raise AttributeError(f"{name!r} is a method of dictionaries; set context[{name!r}]")
        self[name] = value


#: The attributes of a request that hold its contexts, and what those begin with that nobody has asked for, both by the
#: functions of each gateway.
_KEPT, _LATER = "gatewayfw_contexts", "gatewayfw_later"

_NO_CONTEXT = (
    "there is no context outside of a request: write 'with context_fns.open():' around this call, "
    "or hand a thread of your own 'context_fns.run_in_context(fn)'; "
    "around the generator of a streamed reply write Flask's 'stream_with_context'"
)


class _OpenContext(NamedTuple):
    """A context opened by hand, and the request it was opened in, if any."""

    context: Context
    request: object | None

    def counts(self, request: object | None) -> bool:
        """Whether it is the current context, during a request or outside of any."""
        return request is None or self.request is request


def _no_request() -> object:
    raise RuntimeError


def _empty(_request: object, *_known: object) -> Context:
    return Context(Headers=Headers.later(tuple), body=None)


@final
class ContextFns:
    """The context functions of one gateway.

    In a request they all share that request's context, no matter which code calls one first: a ``before_request`` of
    the host, a view of the host, the gateway's hooks, the act, an ``after_request``. A request within a request has its
    own, and so has a second one that a middleware dispatches with the same environment. A block of `open` has its own
    as well; it is ignored while a different request is current than the one it was opened in.

    Outside both a request and `open`, the seven functions raise a RuntimeError: in a thread that was started without
    `run_in_context`, in a script, or while a streamed reply is sent without Flask's ``stream_with_context``. Under
    pytest each test has a context for what it calls outside requests, see `gatewayfw.testing.plugin`.

    ``running`` returns the request that is being answered, and raises RuntimeError outside of any; ``begin`` returns
    what a context of a request begins with, of the request and what `fill` knows. It must not hold the request, or the
    two are a cycle that only a collection frees.
    """

    def __init__(self, running: Callable[[], Any] = _no_request, begin: Callable[..., Context] = _empty) -> None:
        self._running = running
        self._begin = begin

    def get_context_model(self) -> Context:
        """Return the current context itself; later hooks and the act see changes to it.

        Raises:
            RuntimeError: outside of a request and of `open`, as of all functions that work on it.
        """
        request, (opened, scratch) = self._current(), OPEN_CONTEXTS.get()
        entry: _OpenContext | None = opened.get(self)
        if entry and entry.counts(request):
            return entry.context
        if request is not None:
            context: Context | None = request.__dict__.get(_KEPT, {}).get(self)
            if context is None:
                begun = self._begin(request, *request.__dict__.get(_LATER, {}).get(self, ()))
                # `setdefault` is atomic: threads may share a request.
                context = request.__dict__.setdefault(_KEPT, {}).setdefault(self, begun)
            return context
        if scratch is None:
            raise RuntimeError(_NO_CONTEXT)
        found: Context = scratch.setdefault(self, _empty(None))
        return found

    def peek(self) -> Context | None:
        """Return the current context; None if nobody has asked for it in this request.

        A request makes its context when it is first asked for, which takes a part of the time of a small act.
        """
        try:
            kept = self._running().__dict__.get(_KEPT)
        except RuntimeError:
            return self.get_context_model()
        if kept or OPEN_CONTEXTS.get().opened:
            return self.get_context_model()
        return None

    def set_context(self, obj: Mapping[str, Any]) -> None:
        """Replace the whole context, ``Headers`` and ``body`` included."""
        values = dict(_mapping(obj))
        context = self.get_context_model()
        context.clear()
        context.update(values)

    #: Rule 4.2 of the specification lists both.
    add_contexts = set_context

    def add_context(self, con: Mapping[str, Any]) -> None:
        """Merge values into the context; a key that is there already is replaced."""
        self.get_context_model().update(_mapping(con))

    def add_req_to_context(self, req: Any) -> None:
        """Add the framework's request under ``Request`` (the key is our choice)."""
        self.get_context_model()["Request"] = req

    def add_header_to_context(self, headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
        """Add the headers under ``Headers``, as case-insensitive `Headers`."""
        self.get_context_model()["Headers"] = Headers(headers)

    def add_body_to_context(self, body: Mapping[str, Any] | None) -> None:
        """Add the parsed body under ``body``."""
        self.get_context_model()["body"] = body

    def snapshot(self) -> Context:
        """Return a copy of the current context that no later change of it reaches."""
        return Context(copy_for_attempt({**self.get_context_model()}))

    def run_in_context(self, fn: Callable[P, T]) -> Callable[P, T]:
        """Return a function that runs ``fn`` in a copy of the context of this call.

        Use it for thread pools, whose threads inherit nothing. The result may be called many times and at the same
        time: each call has its own copy, so no other call sees the keys that it sets. The values are not copied. All
        context variables are copied along, Flask's request and deadlines too.
        """
        request = self._current()
        if request is not None:
            self.get_context_model()  # created here, so that each call copies it
        captured, found = copy_context(), OPEN_CONTEXTS.get()
        contexts: dict[ContextFns, Context] = {} if request is None else dict(request.__dict__.get(_KEPT, ()))
        contexts |= {fns: opened.context for fns, opened in found.opened.items() if opened.counts(request)}
        contexts = _copies(contexts)
        scratch = None if found.scratch is None else _copies(found.scratch)

        def enter(*args: P.args, **kwargs: P.kwargs) -> T:
            opened = {fns: _OpenContext(context, request) for fns, context in _copies(contexts).items()}
            OPEN_CONTEXTS.set(OpenContexts(opened, None if scratch is None else _copies(scratch)))
            return fn(*args, **kwargs)

        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            return captured.copy().run(enter, *args, **kwargs)

        return run

    @contextmanager
    def open(self, values: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Context]:
        """Open a new context with these values; the previous one returns afterwards.

        By default ``Headers`` is empty and ``body`` None. Outside of a request the block belongs to the thread, not to
        a generator: code that runs between its steps is inside the block, too.
        """
        context = _empty(None)
        context.update(values)
        opened, scratch = OPEN_CONTEXTS.get()
        entry = _OpenContext(context, self._current())
        with holding(OPEN_CONTEXTS, OpenContexts({**opened, self: entry}, scratch)):
            yield context

    def _current(self) -> Any:
        try:
            return self._running()
        except RuntimeError:
            return None

    # The contract's spellings of the methods above.
    getContextModel = get_context_model
    setContext = set_context
    addContexts = add_contexts
    addContext = add_context
    addReqToContext = add_req_to_context
    addHeaderToContext = add_header_to_context
    addBodyToContext = add_body_to_context
    runInContext = run_in_context


def fill(fns: ContextFns, request: Any, *known: Any) -> None:
    """Put what a context of the current request begins with into it.

    ``known`` is what ``begin`` takes besides the request. If there is no context yet, it begins with that when somebody
    asks for it; for most acts nobody does. The web calls this as an act begins.
    """
    parts = request.__dict__
    opened = OPEN_CONTEXTS.get().opened.get(fns)
    if opened and opened.request is request:
        opened.context.update(fns._begin(request, *known))
    elif _KEPT in parts and fns in parts[_KEPT]:
        parts[_KEPT][fns].update(fns._begin(request, *known))
    else:
        parts.setdefault(_LATER, {})[fns] = known


def _copies(contexts: Mapping[ContextFns, Context]) -> dict[ContextFns, Context]:
    return {fns: Context(context) for fns, context in contexts.items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a mapping, not {type(value).__name__}")
    return value


class Globals(Protocol):
    """What the host's framework keeps for a request besides: Flask's `g`."""

    def read(self) -> dict[str, Any]:
        """Return what it holds."""

    def reset(self, values: Mapping[str, Any], /) -> None:
        """Let it hold these values and no others."""


def copy_for_attempt(value: Any) -> Any:
    """Return a copy of a value and of all dictionaries and lists in it.

    All other objects are shared. What was one object, or a circle, is one in the copy, too.
    """
    return _copy(value, {}) if isinstance(value, _COPIED) else value


def _copy(value: Any, known: dict[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    # Those of other classes keep theirs; `copy` takes four times as long.
    known[id(value)] = new = value.copy() if type(value) in _COPIED else copy(value)
    for key, inner in new.items() if isinstance(new, dict) else enumerate(new):
        if isinstance(inner, _COPIED):
            new[key] = _copy(inner, known)
    return new
