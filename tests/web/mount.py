"""What the tests of the web share: an endpoint around one function, in a host app.

Modules that use the fixture `entry` of `conftest.py` run twice: through Flask's dispatch, and through the lane.
"""

from __future__ import annotations

from flask import Flask

from gatewayfw.settings import Settings
from gatewayfw.web.cors import Cors
from gatewayfw.web.endpoint import Endpoint
from gatewayfw.web.flask_bypass import FlaskBypass
from gatewayfw.web.flask_request import make_contexts
from gatewayfw.web.mount import make_blueprint
from gatewayfw.web.playground import Playground

BODY = {"model": "user", "act": "getUser", "details": {"set": {}, "get": {}}}
ID = "test-1"
CATALOG = {
    "format": 1,
    "tokens": [],
    "maxBatch": 0,
    "codes": [],
    "models": {},
    "services": {"main": {"remote": False, "acts": {}}},
}


class Entry:
    """How `host` apps are entered; the fixture `entry` changes it for one test."""

    is_lane = False


class Script:
    """A lifecycle whose only act is one function of the body."""

    def __init__(self, fn):
        self._fn = fn

    def run(self, body, finish, key=None, files=None):
        return finish(self._fn(body))


def raising(error):
    """An act that raises."""

    def fn(body):
        raise error

    return fn


def endpoint(fn=lambda body: body, *, cors=None, contexts=None, playground=False, guard=None, **settings):
    shown = Playground(lambda: CATALOG, guard) if playground else None
    parts = Settings.load({}, **settings), Cors.checked(cors), shown
    return Endpoint(Script(fn), contexts or make_contexts(), *parts)


def host(fn=lambda body: body, *, url_prefix="/api", name="gw", options=None, **parts):
    """A Flask app of somebody else with the gateway mounted in it."""
    app = Flask("host", static_folder=None)
    mounted = endpoint(fn, **parts)
    app.register_blueprint(make_blueprint(mounted, name, **(options or {})), url_prefix=url_prefix)
    if Entry.is_lane:
        app.wsgi_app = FlaskBypass(app, mounted, f"{name}.gateway", f"{(url_prefix or '').rstrip('/')}/gateway")
    return app


def post(app, path="/api/gateway", json=BODY, headers=None, **given):
    return app.test_client().post(path, json=json, headers={"X-Request-Id": ID, **(headers or {})}, **given)


def seen(reply):
    """Status, content type and whole envelope of a reply."""
    return reply.status_code, reply.headers.get("Content-Type"), reply.get_json()


def refusal(status, message):
    return status, "application/json", {"body": {"message": message}, "success": False}


def answer(value):
    return 200, "application/json", {"body": value, "success": True}
