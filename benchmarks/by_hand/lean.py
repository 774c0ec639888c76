"""The service as lean as Flask allows: plain checks instead of marshmallow, orjson for text that comes and goes."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson
from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException

from benchmarks.by_hand.checks import routes
from benchmarks.by_hand.flask_app import connected
from benchmarks.by_hand.text import dumps


def make_app(database: Any) -> Flask:
    """Return the service; errors are envelopes, too."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024

    def view(check: Any, act: Any) -> Response:
        if request.mimetype != "application/json":
            abort(415)
        try:
            details = orjson.loads(request.get_data())
        except orjson.JSONDecodeError:
            abort(400)
        if not check(details):
            abort(400)
        result = act(details["set"], details["get"])
        if result is None:
            abort(404)
        return _envelope(result)

    for name, (check, act) in routes(database).items():
        app.add_url_rule(f"/api/{name}", name, partial(view, check, act), methods=["POST"])

    @app.errorhandler(HTTPException)
    def failed(error: HTTPException) -> Response:
        return _envelope({"message": error.name}, error.code or 500)

    return app


def _envelope(body: Any, status: int = 200) -> Response:
    data = dumps({"body": body, "success": status == 200})
    return Response(data, status, mimetype="application/json")


def lean_app() -> Flask:
    """Return the service for a server."""
    return make_app(connected())
