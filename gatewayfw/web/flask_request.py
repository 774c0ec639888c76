"""Flask's current request, which carries the contexts of gateways, and its `g`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final
from weakref import proxy

from flask import Flask, Request, g, request
from flask.globals import app_ctx
from werkzeug.datastructures import EnvironHeaders

from gatewayfw.acts.context import ADDRESS, Context, ContextFns
from gatewayfw.acts.headers import Headers

#: How an IPv4 address begins that is written as an IPv6 one.
_MAPPED = "::ffff:"


class _Part:
    """An attribute of a `LazyRequest`; the first one asked for sets all of them."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, request: LazyRequest, owner: type) -> Any:
        Request.__init__(request, request.environ)
        return request.__dict__[self._name]


@final
class LazyRequest(Request):
    """Flask's request of one app, which reads its environment on demand.

    Few acts ask for a part of it, and to read it takes a tenth of an act that does nothing.
    """

    def __init__(self, environ: dict[str, Any], app: Flask) -> None:
        self.environ = environ
        self.method = environ.get("REQUEST_METHOD", "GET").upper()
        self.remote_addr = environ.get("REMOTE_ADDR")
        self._config = app.config

    @property
    def max_content_length(self) -> int | None:
        """The same as Flask's, which asks its proxy of the app twice."""
        own = self._max_content_length
        return self._config["MAX_CONTENT_LENGTH"] if own is None else own

    @max_content_length.setter
    def max_content_length(self, value: int | None) -> None:
        self._max_content_length = value


for _name in vars(Request({})).keys() - {"environ", "method", "remote_addr"}:
    setattr(LazyRequest, _name, _Part(_name))


def make_contexts() -> ContextFns:
    """Return context functions that work on Flask's current request."""
    # The request itself: its proxy costs time at each use. Outside of requests this raises RuntimeError.
    return ContextFns(request._get_current_object, begin)  # type: ignore[attr-defined]  # of the proxy


def begin(sent: Request, request_id: str | None = None, body: Mapping[str, Any] | None = None) -> Context:
    """Return the initial values of a request's context.

    That is `Request`, `Headers`, `Address` and the ``body``, None as long as it is not read.

    With ``request_id`` that is the header `X-Request-Id`, else it is as it was sent. Nothing in it
    keeps the request: the two would be a cycle. The environment may, until Flask has answered.
    """
    environ = sent.environ
    return Context(
        {
            # Behind a proxy this is the proxy's address, unless the host app uses werkzeug's ProxyFix.
            ADDRESS: address_of(sent),
            "Request": proxy(sent),
            "Headers": Headers.later(lambda: _headers(environ, request_id)),
            "body": body,
        }
    )


def address_of(sent: Request) -> str:
    """Return the caller's address without port, brackets and zone; empty if unknown.

    Some proxies send ``192.0.2.1:5678`` or ``[2001:db8::1]:5678`` in ``X-Forwarded-For``, with another port for each
    connection. An IPv4 address that is written as an IPv6 one is an IPv4 address.
    """
    given = sent.remote_addr or ""
    if ":" not in given:
        return given
    if given.startswith("["):
        given = given[1:].partition("]")[0]
    elif given.count(":") == 1:
        given = given.partition(":")[0]
    bare = given.partition("%")[0]
    return bare[len(_MAPPED) :] if bare.lower().startswith(_MAPPED) and "." in bare else bare


def _headers(environ: dict[str, Any], request_id: str | None) -> Iterator[tuple[str, str]]:
    sent = EnvironHeaders(environ)
    if request_id is None:
        yield from sent
        return
    yield from ((name, value) for name, value in sent if name != "X-Request-Id")
    yield "X-Request-Id", request_id


@final
class FlaskGlobals:
    """Lets attempts and parts of one request have a `flask.g` each."""

    def read(self) -> dict[str, Any]:
        """Return what it holds."""
        return {name: g.get(name) for name in g}

    def reset(self, values: Mapping[str, Any]) -> None:
        """Let it hold these values and no others."""
        held = vars(app_ctx.g)
        held.clear()
        held.update(values)

    @contextmanager
    def open(self, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Let a block have another one, with these values; it gets what that holds."""
        before, app_ctx.g = app_ctx.g, app_ctx.app.app_ctx_globals_class()
        try:
            held = vars(app_ctx.g)
            held.update(values)
            yield held
        finally:
            app_ctx.g = before
