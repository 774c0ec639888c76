"""The way past Flask: an app of our own answers its route before Flask's dispatch.

Everything else goes to Flask, and so does this route whenever Flask's dispatch would make a difference: see
`FlaskBypass`. Both answer with the same view. The docs and the option call it the fast lane.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import flask.ctx
import flask.globals
from flask import Flask, Request, Response, signals
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from werkzeug.exceptions import SecurityError
from werkzeug.routing import MapAdapter
from werkzeug.wsgi import get_host

from gatewayfw.web.endpoint import Endpoint
from gatewayfw.web.flask_request import LazyRequest
from gatewayfw.web.reply import OK, Success

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Flask 3.1 keeps the contexts of app and request in two variables; with a Flask that does not nothing is bypassed.
SUPPORTED = hasattr(flask.globals, "_cv_app") and hasattr(flask.globals, "_cv_request")
_APP: Any = getattr(flask.globals, "_cv_app", None)
_REQUEST: Any = getattr(flask.globals, "_cv_request", None)
_RequestContext: Any = flask.ctx.RequestContext if SUPPORTED else object
_AppContext: Any = flask.ctx.AppContext

#: The receivers of the signals that only Flask's dispatch sends.
_RECEIVERS = (
    signals.request_started.receivers,
    signals.request_finished.receivers,
    signals.request_tearing_down.receivers,
    signals.appcontext_pushed.receivers,
    signals.appcontext_tearing_down.receivers,
    signals.appcontext_popped.receivers,
)
#: Hosts that routing always accepts; it refuses some of the others, such as `a..b`.
_HOST = re.compile(r"(?:[A-Za-z0-9_-]{1,50}(?:\.[A-Za-z0-9_-]{1,50})*|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


@final
class FlaskBypass:
    """A WSGI application that answers one path of a Flask app itself.

    It leaves the rest to Flask. `flask.request`, `current_app`, `g`, `session`, `url_for` and `after_this_request` work
    in hooks and acts as ever. Flask's own dispatch answers where it would make a difference: while the app has
    functions around requests, receivers of signals, sessions or a response class of its own (`_is_free`), and for
    requests whose host or contexts need it (`_is_plain`). A Flask without the contexts of 3.1 is never bypassed.
    """

    def __init__(self, app: Flask, endpoint: Endpoint, view: str, path: str) -> None:
        self._app = app
        self._dispatch: WSGIApplication = app.wsgi_app
        self._endpoint = endpoint
        self._path = path.encode().decode("latin-1")  # as WSGI writes it
        self._name = view
        self._view = app.view_functions[view]
        self._rule = next(app.url_map.iter_rules(view))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != self._path or not self._is_free() or not self._is_plain(environ):
            return self._dispatch(environ, start_response)
        app = self._app
        kind = app.request_class
        request = LazyRequest(environ, app) if kind is Request else kind(environ)
        request.json_module = app.json
        request.url_rule, request.view_args = self._rule, {}
        context = _BypassContext(app, environ, request)
        app_token, token = _APP.set(_BypassAppContext(app)), _REQUEST.set(context)
        try:
            reply = self._endpoint.answer(request)
            if isinstance(reply, Success) and not context._after_request_functions:
                start_response(OK, self._endpoint.headers(reply, environ))
                return [reply.payload]  # A list: granian sends it in one piece, at half the cost.
            return self._changed(reply, context._after_request_functions)(environ, start_response)
        finally:
            _REQUEST.reset(token)
            _APP.reset(app_token)
            if "files" in request.__dict__ or type(request) is not LazyRequest:
                request.close()
            environ["werkzeug.request"] = None  # Otherwise the two are a cycle that only a garbage collection frees.

    def _changed(self, reply: Success | Response, functions: Iterable[Callable[[Response], Response]]) -> Response:
        """Return a reply after the functions of `after_this_request` have changed it."""
        response = self._endpoint.response(reply) if isinstance(reply, Success) else reply
        try:
            for function in functions:
                response = self._app.ensure_sync(function)(response)
        except Exception as error:
            return self._app.handle_exception(error)
        return response

    def _is_free(self) -> bool:
        """Whether nothing in the app needs Flask's dispatch."""
        app = self._app
        return not (
            app.before_request_funcs  # read each time: some programs set another dictionary
            or app.after_request_funcs
            or app.teardown_request_funcs
            or app.teardown_appcontext_funcs
            or app.url_value_preprocessors
            or any(_RECEIVERS)
            or app.config["SECRET_KEY"] is not None
            or type(app.session_interface) is not SecureCookieSessionInterface
            or app.response_class is not Response
            or app.view_functions.get(self._name) is not self._view
            or app.subdomain_matching
            or app.url_map.host_matching
        )

    def _is_plain(self, environ: WSGIEnvironment) -> bool:
        """Whether Flask would dispatch the request to the view, and forget it afterwards."""
        if "HTTP_UPGRADE" in environ or "werkzeug.debug.preserve_context" in environ:
            return False
        if not _HOST.fullmatch(environ.get("HTTP_HOST", "")):
            return False
        trusted = self._app.config["TRUSTED_HOSTS"]
        try:
            if trusted is not None:
                get_host(environ, trusted)
        except SecurityError:
            return False
        return True


class _BypassAppContext(_AppContext):  # type: ignore[misc]  # Any: mypy takes its attributes for fixed
    """Flask's context of an app; its parts are made on demand."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self._cv_tokens: list[Any] = []

    @cached_property
    def g(self) -> Any:
        return self.app.app_ctx_globals_class()

    @cached_property
    def url_adapter(self) -> MapAdapter | None:
        return self.app.create_url_adapter(None)


class _BypassContext(_RequestContext):  # type: ignore[misc]  # Any: another Flask may have no such class
    """Flask's context of an unrouted request; costly parts are made on demand."""

    def __init__(
        self,
        app: Flask,
        environ: WSGIEnvironment,
        request: Request | None = None,
        session: SessionMixin | None = None,
    ) -> None:
        self.app = app
        self.request = app.request_class(environ) if request is None else request
        self.flashes: list[tuple[str, str]] | None = None
        self._after_request_functions: list[Callable[[Response], Response]] = []
        self._cv_tokens: list[tuple[Any, Any]] = []

    @cached_property
    def url_adapter(self) -> MapAdapter | None:
        return self.app.create_url_adapter(self.request)

    @cached_property
    def _session(self) -> SessionMixin:
        return self.app.session_interface.make_null_session(self.app)  # There are none, see `FlaskBypass`.
