"""A whole Flask app for one gateway."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from flask import Flask, Response, request
from werkzeug import exceptions

from gatewayfw.errors import BadRequest, DefinitionError, GatewayError, HttpError, NotFound
from gatewayfw.web.endpoint import Endpoint
from gatewayfw.web.flask_bypass import SUPPORTED, FlaskBypass
from gatewayfw.web.mount import NAME, RULE, is_hidden, make_blueprint
from gatewayfw.web.static import StaticFiles


def make_app(
    endpoint: Endpoint,
    *,
    static_path: Sequence[str | os.PathLike[str]] = (),
    url_prefix: str = "",
    fast_lane: bool = True,
) -> Flask:
    """Return an app of one gateway, with static files at the root.

    Errors outside its route are envelopes too.

    With ``fast_lane`` a WSGI callable answers the gateway's route before Flask's dispatch, as long as nothing in the
    app could notice: see `gatewayfw.web.flask_bypass.FlaskBypass`.

    Static files are looked for only when the routing found nothing, so they shadow no route. Unknown paths and methods
    and bad hosts answer envelopes, because this app is ours (our choice); if an added view aborts, Flask's error page
    stays.

    Raises:
        DefinitionError: an option is of the wrong type, a directory does not exist, or the definitions
            are wrong.
    """
    if not isinstance(fast_lane, bool):
        raise DefinitionError("option 'fast_lane': expected true or false")
    files, mounted = StaticFiles(static_path), prefix(url_prefix)
    path = (mounted or "") + RULE
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # Otherwise it would redirect doubled slashes, with an HTML page.
    app.register_blueprint(make_blueprint(endpoint), url_prefix=mounted)

    def is_own(error: exceptions.HTTPException) -> bool:
        """Whether an error comes from the routing, or from a page that is hidden."""
        return request.routing_exception is error or is_hidden(app, request.endpoint)

    def bad_request(error: exceptions.BadRequest) -> Response | exceptions.BadRequest:
        if request.routing_exception is not error:
            return error
        return endpoint.refuse(BadRequest("the header Host is not valid"))

    def not_found(error: exceptions.NotFound) -> Response | exceptions.NotFound:
        if not is_own(error):
            return error
        try:
            endpoint.begin()
        except GatewayError as refusal:
            return endpoint.refuse(refusal)
        reply = files.response(request.path) if request.method in ("GET", "HEAD") else None
        if reply is None:
            return endpoint.refuse(NotFound(f"not found; acts are called by POST {path}"))
        return endpoint.with_cors(reply)

    def not_allowed(error: exceptions.MethodNotAllowed) -> Response | exceptions.MethodNotAllowed:
        if not is_own(error):
            return error
        refusal = HttpError("method not allowed", 405)
        refusal.headers = {"Allow": ", ".join(sorted(error.valid_methods or ()))}
        return endpoint.refuse(refusal)

    app.register_error_handler(400, bad_request)
    app.register_error_handler(404, not_found)
    app.register_error_handler(405, not_allowed)
    if fast_lane and SUPPORTED and "<" not in path:
        app.wsgi_app = FlaskBypass(app, endpoint, f"{NAME}.gateway", path)  # type: ignore[method-assign]  # Flask's way
    return app


def prefix(url_prefix: Any) -> str | None:
    """Return a checked url_prefix as Flask wants it: None for the root.

    Raises:
        DefinitionError: not empty and not a path that starts with a slash.
    """
    if not isinstance(url_prefix, str) or (url_prefix and not url_prefix.startswith("/")):
        raise DefinitionError("option 'url_prefix': expected '' or a path like '/api'")
    return url_prefix.rstrip("/") or None
