"""The service without Flask and marshmallow: a WSGI function with orjson, near the least that Python can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from benchmarks.by_hand.checks import routes
from benchmarks.by_hand.flask_app import connected
from benchmarks.by_hand.text import dumps

_MOST = 1024 * 1024


def make_app(database: Any) -> Callable[[dict[str, Any], Any], list[bytes]]:
    """Return the WSGI function."""
    known = {f"/api/{name}": route for name, route in routes(database).items()}

    def answer(environ: dict[str, Any]) -> tuple[str, Any]:
        route = known.get(environ["PATH_INFO"])
        if route is None:
            return "404 NOT FOUND", "not found"
        if environ["REQUEST_METHOD"] != "POST":
            return "405 METHOD NOT ALLOWED", "method not allowed"
        if environ.get("CONTENT_TYPE", "").partition(";")[0].strip() != "application/json":
            return "415 UNSUPPORTED MEDIA TYPE", "expected application/json"
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length > _MOST:
            return "413 REQUEST ENTITY TOO LARGE", "too large"
        try:
            details = orjson.loads(environ["wsgi.input"].read(length))
        except orjson.JSONDecodeError:
            return "400 BAD REQUEST", "no JSON"
        check, act = route
        if not check(details):
            return "400 BAD REQUEST", "validation error"
        result = act(details["set"], details["get"])
        return ("200 OK", result) if result is not None else ("404 NOT FOUND", "not found")

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        status, result = answer(environ)
        success = status == "200 OK"
        body = result if success else {"message": result}
        payload = dumps({"body": body, "success": success})
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))])
        return [payload]

    return app


def bare_app() -> Callable[[dict[str, Any], Any], list[bytes]]:
    """Return the WSGI function for a server."""
    return make_app(connected())
