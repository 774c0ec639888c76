"""The request context: what hooks and acts share during one request, and nobody else sees.

Every gateway has its own `ContextFns`; the open contexts of all gateways live in one
`ContextVar`, so a thread, greenlet or task sees only what was opened in it.
Source: contract, "Request context".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar, copy_context
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar, cast, final

_NO_VALUES: Mapping[str, Any] = MappingProxyType({})

P = ParamSpec("P")
T = TypeVar("T")


@final
class Headers(Mapping[str, str]):
    """Request headers: names compare without regard to case, a name may have several values.

    Takes a mapping, pairs of name and value, or werkzeug's `Headers`. ``headers[name]`` is the
    first value, ``getlist(name)`` all of them. The values never show in ``repr``: one is the token.
    """

    __slots__ = ("_later", "_read")

    def __init__(self, source: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self._later: Callable[[], Iterable[tuple[str, str]]] | None = None
        # What was read is never changed: a copy may share it.
        self._read = source._values if isinstance(source, Headers) else _by_name(_pairs(source))

    @classmethod
    def later(cls, read: Callable[[], Iterable[tuple[str, str]]]) -> Headers:
        """Return the headers that ``read`` gives when one is first asked for; few acts look at any.

        Threads that ask at the same time may each call it.
        """
        headers = cls.__new__(cls)
        headers._later = read
        return headers

    @property
    def _values(self) -> dict[str, tuple[str, list[str]]]:
        read = self._later  # looked at once: another thread may be done at any moment
        if read is not None:
            self._read = _by_name(read())
            self._later = None
        return self._read

    def getlist(self, name: str) -> list[str]:
        """Return all values of a header in the order sent; empty when it is absent."""
        return list(self._values.get(name.lower(), ("", []))[1])

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()][1][0]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping) or not all(isinstance(name, str) for name in other):
            return NotImplemented
        return self._lists() == Headers(other)._lists()

    __hash__ = None  # type: ignore[assignment]  # equal to dicts, which have no hash

    def __repr__(self) -> str:
        return f"Headers({list(self)})"

    def _lists(self) -> dict[str, list[str]]:
        return {name: values for name, (_, values) in self._values.items()}


def _pairs(source: Any) -> Iterable[tuple[str, str]]:
    return cast("Iterable[tuple[str, str]]", source.items() if hasattr(source, "items") else source)


def _by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, list[str]]]:
    """Return all values by the name in lower case, with the name as it came first."""
    values: dict[str, tuple[str, list[str]]] = {}
    for name, value in pairs:
        values.setdefault(name.lower(), (name, []))[1].append(value)
    return values


@final
class Context(dict[str, Any]):
    """The values of one request, as keys and as attributes (``context["user"]``, ``context.user``).

    Always there in a request: ``Headers`` (`Headers`) and ``body`` (the parsed body, None until
    parsed); ``Request`` is the framework's request, ``Address`` the address of the connection,
    empty when it has none. All other keys are the hooks' own. The names
    of dictionary methods (``items``, ``get``) work as keys only.
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

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise AttributeError(f"the context has no {name!r}")
        del self[name]


# The mapping is never changed but replaced: requests and copies of a context may share it.
_NONE: Mapping[ContextFns, Context] = MappingProxyType({})
_CONTEXTS: ContextVar[Mapping[ContextFns, Context]] = ContextVar("gatewayfw_contexts", default=_NONE)


def _empty() -> Context:
    return Context(Headers=Headers(), body=None)


class _Opened(AbstractContextManager[Context]):
    """A context of its own for a block; a class, because each request opens one and a generator costs more."""

    __slots__ = ("_fns", "_token", "_values")

    def __init__(self, fns: ContextFns, values: Mapping[str, Any]) -> None:
        self._fns = fns
        self._values = values

    def __enter__(self) -> Context:
        context = Context(self._values)
        context.setdefault("body", None)
        if "Headers" not in context:
            context["Headers"] = Headers.later(tuple)
        self._token = _CONTEXTS.set({**_CONTEXTS.get(), self._fns: context})
        return context

    def __exit__(self, *error: object) -> None:
        _CONTEXTS.reset(self._token)


@final
class ContextFns:
    """The context functions of one gateway.

    Outside a request of this gateway they work on a scratch context of the running thread, so
    that hooks can be unit-tested. It is kept: what a host's own view or ``before_request`` puts
    there, the next request of the host in that thread finds. Who wants a fresh one, in a host as
    in a test, writes ``with context_fns.open():``.
    """

    def get_context_model(self) -> Context:
        """Return the current context itself: changing it changes what later hooks and the act see."""
        context = _CONTEXTS.get().get(self)
        if context is None:
            context = _empty()
            _CONTEXTS.set({**_CONTEXTS.get(), self: context})
        return context

    def set_context(self, obj: Mapping[str, Any]) -> None:
        """Replace the whole context, ``Headers`` and ``body`` included.

        Raises:
            TypeError: ``obj`` is not a mapping.
        """
        values = dict(_mapping(obj))
        context = self.get_context_model()
        context.clear()
        context.update(values)

    def add_contexts(self, con: Mapping[str, Any]) -> None:
        """Set the context to the given value, as `set_context` does; the contract lists both."""
        self.set_context(con)

    def add_context(self, con: Mapping[str, Any]) -> None:
        """Merge values into the context; a key that is there already is replaced.

        Raises:
            TypeError: ``con`` is not a mapping.
        """
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

    def run_in_context(self, fn: Callable[P, T]) -> Callable[P, T]:
        """Return a function that runs ``fn`` in a copy of the context of this call.

        For pools, whose threads inherit nothing. The result may be called many times and at the
        same time: each call has its own copy, so keys it sets are seen by no other. The values
        are not copied. All context variables go along (deadlines too), as with `asyncio.to_thread`.
        """
        captured = copy_context()
        contexts = {fns: Context(context) for fns, context in _CONTEXTS.get().items()}

        def enter(*args: P.args, **kwargs: P.kwargs) -> T:
            _CONTEXTS.set({fns: Context(context) for fns, context in contexts.items()})
            return fn(*args, **kwargs)

        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            return captured.copy().run(enter, *args, **kwargs)

        return run

    def open(self, values: Mapping[str, Any] = _NO_VALUES) -> AbstractContextManager[Context]:
        """Give a new context with these values; afterwards the previous is back.

        Where ``values`` name none, ``Headers`` is empty and ``body`` None.
        """
        return _Opened(self, values)

    # The contract's spellings of the methods above.
    getContextModel = get_context_model
    setContext = set_context
    addContexts = add_contexts
    addContext = add_context
    addReqToContext = add_req_to_context
    addHeaderToContext = add_header_to_context
    addBodyToContext = add_body_to_context
    runInContext = run_in_context


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a mapping, not {type(value).__name__}")
    return value
