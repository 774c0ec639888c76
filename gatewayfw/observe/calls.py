"""Calls: what observers are told about each request that a gateway has answered.

An observer is a function of a `Call`. One that must surround the act, such as a tracer, also has ``begin``: it is
called as soon as the act is known, in the thread of the request, and returns the function that gets the `Call`.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar, final

from gatewayfw.acts.hooks import find_fn_problems
from gatewayfw.acts.lookup import UnknownName
from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import CODE
from gatewayfw.errors import DefinitionError
from gatewayfw.logs import traceback_of
from gatewayfw.spelling import MAIN

#: The code of a call that succeeded.
OK = "ok"
#: The names of what nobody has registered, and of a body that names nothing.
UNKNOWN = "_unknown"

_logger = logging.getLogger("gatewayfw.calls")

Observer = Callable[["Call"], object]


class SentHeaders(Protocol):
    """The headers of a request; names ignore case."""

    def get(self, name: str, /) -> str | None:
        """Return the value of a header; None without one."""


#: No headers.
NO_HEADERS: SentHeaders = MappingProxyType({})
F = TypeVar("F", bound=Callable[..., object])


@final
class Names(NamedTuple):
    """The names of an act that is registered; `UNKNOWN` stands for each that is not."""

    service: str = UNKNOWN
    model: str = UNKNOWN
    act: str = UNKNOWN

    def __str__(self) -> str:
        """``main.book.buy``; `UNKNOWN` alone where nothing is registered."""
        service, model, act = self
        return UNKNOWN if service == UNKNOWN else f"{service}.{model}.{act}"


_NONE = Names()


@final
class Call(NamedTuple):
    """One request, or one item of a batch, that has been answered.

    Attributes:
        service: ``main``, the name of another service, or `UNKNOWN`: never a name that a client made up.
        model: a model, or `UNKNOWN`, which it also is for remote services.
        act: the same of the act.
        code: `OK`, or the code of the error as in the header ``X-Error-Code``.
        status: the HTTP status of the reply.
        seconds: from the beginning of the request to its finished reply, without sending it.
        request_id: as in the reply's header ``X-Request-Id``.
        address: the address of the connection, as the context has it. Behind ``ProxyFix`` it is what the
            proxy sent.
        error: the exception, where it is the fault of the program and not of the client or the database.
    """

    service: str
    model: str
    act: str
    code: str
    status: int
    seconds: float
    request_id: str
    address: str
    error: Exception | None = None

    @property
    def names(self) -> Names:
        """The names alone; as text ``main.book.buy``."""
        return Names(self.service, self.model, self.act)


@final
class OpenCall:
    """A call that is being answered; each is ended once, or dropped."""

    __slots__ = ("_address", "_observers", "_request_id", "_started", "error", "names")

    def __init__(self, observers: Sequence[Observer], request_id: str, address: str, started: float | None) -> None:
        self._observers = observers
        self._request_id = request_id
        self._address = address
        self._started = perf_counter() if started is None else started
        self.names = _NONE
        self.error: Exception | None = None

    def begin(self, names: Names, headers: SentHeaders) -> None:
        """Note which act is called, and tell the observers that surround it."""
        self.names = names
        self._observers = [
            _begun(observer, names, headers) if hasattr(observer, "begin") else observer for observer in self._observers
        ]

    def drop(self) -> None:
        """Tell nobody: the items of a batch have been told of instead."""
        self._observers = ()

    def end(self, status: int, code: str) -> None:
        """Tell all observers, once; what they raise is logged."""
        observers, self._observers = self._observers, ()
        error, self.error = self.error, None
        if not observers:
            return
        seconds = perf_counter() - self._started
        known = code if CODE.fullmatch(code) else "error"
        call = Call(*self.names, known, status, seconds, self._request_id, self._address, error)
        for observer in observers:
            try:
                observer(call)
            except Exception as failed:  # The client gets its reply all the same, and the others are told.
                _log("an observer of calls failed", failed)


@final
class CallObservers:
    """The observers of one gateway, in the order of their registration."""

    def __init__(self, resolve: Callable[[str, str, str], Any]) -> None:
        self._resolve = resolve
        self.observers: tuple[Observer, ...] = ()

    def add(self, observer: F) -> F:
        """Register an observer; return it. See `Gateway.on_call`."""
        if problems := list(find_fn_problems(observer, "on_call", "call")):
            raise DefinitionError(problems[0])
        if observer in self.observers:
            raise DefinitionError("on_call: this observer is registered already")
        self.observers = (*self.observers, observer)
        return observer

    def open(self, request_id: str, address: str, started: float | None = None) -> OpenCall:
        """Return a call that begins now, or began when `perf_counter` gave ``started``."""
        return OpenCall(self.observers, request_id, address, started)

    def names(self, body: Mapping[str, Any]) -> Names:
        """Return the names of the act of a checked body, as far as they are registered."""
        service, model, act = body["service"] or MAIN, body["model"], body["act"]
        try:
            found = self._resolve(service, model, act)
        except UnknownName:
            return _NONE
        return Names(service) if isinstance(found, RemoteService) else Names(service, model, act)


def _begun(observer: Observer, names: Names, headers: SentHeaders) -> Observer:
    try:
        ended: Observer = observer.begin(names, headers)  # type: ignore[attr-defined]  # it has one
    except Exception as failed:
        _log("an observer of calls could not begin", failed)
        return observer
    return ended


def ignore(_call: Call) -> None:
    """Do nothing: the observer of a call about which another one tells, or nobody."""


def _log(what: str, error: Exception) -> None:
    _logger.error("%s\n%s", what, traceback_of(error))
