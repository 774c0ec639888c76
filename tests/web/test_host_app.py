"""A gateway in somebody else's app, which keeps its limits, error pages, logging, CORS, sessions and JSON."""

from __future__ import annotations

import json
import logging
from datetime import datetime

import mongomock
import pytest
from flask import Flask, abort, g, jsonify, request, session
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from gatewayfw import gateway, string

ORIGIN = "https://paper.example"
SECRET = "s3cret-of-the-article"


class Lines(logging.Handler):
    """The host's own handler: keeps each line as its formatter writes it."""

    def __init__(self):
        super().__init__()
        self.setFormatter(logging.Formatter("paper|%(name)s|%(levelname)s|%(message)s"))
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))


class Json(DefaultJSONProvider):
    """The host's own JSON: sorted, indented, dates as years."""

    compact = False

    @staticmethod
    def default(value):
        return value.year if isinstance(value, datetime) else DefaultJSONProvider.default(value)


def paper():
    """A newspaper's app, with all that such an app usually sets up."""
    app = Flask("paper", static_folder=None)
    app.config.update(SECRET_KEY="k" * 32, MAX_CONTENT_LENGTH=2_000, MAX_FORM_MEMORY_SIZE=1_000)
    app.json = Json(app)
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1)

    @app.before_request
    def admit():
        g.seen = True
        if request.headers.get("X-Blocked"):
            abort(403)

    @app.after_request
    def stamp(reply):
        reply.headers["X-Paper"] = "daily"
        if request.headers.get("Origin") == ORIGIN:
            reply.headers["Access-Control-Allow-Origin"] = ORIGIN
            reply.headers["Access-Control-Allow-Credentials"] = "true"
        return reply

    @app.errorhandler(HTTPException)
    def page(error):
        return f"<h1>The Paper: {error.code}</h1>", error.code

    @app.errorhandler(Exception)
    def crash(error):
        app.logger.error("crash %s", type(error).__name__)
        return "<h1>The Paper is sorry</h1>", 500

    @app.get("/")
    def front():
        session["visits"] = session.get("visits", 0) + 1
        return jsonify({"visits": session["visits"], "printed": datetime(2026, 1, 2), "a": 1})

    @app.post("/letters")
    def letters():
        return jsonify({"letter": request.form["text"], "from": request.remote_addr})

    @app.get("/broken")
    def broken():
        raise KeyError("broken")

    return app


def articles():
    """The gateway: one act that works, one that fails, one that says who asked."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().paper)
    model = gw.odm.new_model("article", {"title": string()})

    @gw.acts.act("article", "add", set={"title": string()}, get=1)
    def add(body):
        return model.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    @gw.acts.act("article", "fail", set={"title": string()})
    def fail(body):
        return {}[body["details"]["set"]["title"]]

    return gw


REQUESTS = [
    ("GET", "/", {}),
    ("POST", "/", {}),
    ("GET", "/missing", {}),
    ("GET", "/broken", {}),
    ("POST", "/letters", {"data": {"text": "Dear editor"}, "headers": {"X-Forwarded-For": "192.0.2.7"}}),
    ("POST", "/letters", {"data": {"text": "x" * 1_500}}),
    ("POST", "/letters", {"data": b"x" * 3_000, "content_type": "text/plain"}),
    ("GET", "/", {"headers": {"Origin": ORIGIN}}),
    ("GET", "/", {"headers": {"Origin": "https://other.example"}}),
    ("OPTIONS", "/", {"headers": {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}}),
    ("GET", "/", {"headers": {"X-Blocked": "1"}}),
    ("GET", "/", {}),
]


def behaviour(app):
    client = app.test_client()
    replies = [client.open(path, method=method, **given) for method, path, given in REQUESTS]
    return [
        (reply.status_code, reply.data, sorted(header for header in reply.headers if header[0] != "Set-Cookie"))
        for reply in replies
    ]


def logging_of(app):
    loggers = [logging.getLogger(), app.logger, logging.getLogger("werkzeug")]
    return [(one.name, one.level, list(one.handlers), list(one.filters), one.propagate) for one in loggers]


@pytest.fixture
def lines():
    handler, root = Lines(), logging.getLogger()
    root.addHandler(handler)
    yield handler.lines
    root.removeHandler(handler)


@pytest.fixture
def mounted():
    app = paper()
    app.register_blueprint(articles().blueprint(cors=["https://console.example"]), url_prefix="/api")
    return app


def call(app, act, title="A title", **headers):
    body = {"model": "article", "act": act, "details": {"set": {"title": title}, "get": {}}}
    return app.test_client().post("/api/gateway", json=body, headers=headers)


def envelope(reply):
    return reply.status_code, reply.headers["Content-Type"], json.loads(reply.data)


def refusal(message):
    return {"body": {"message": message}, "success": False}


def test_every_page_limit_and_header_of_the_host_stays(mounted, lines):
    alone = paper()
    before = behaviour(alone), list(lines)
    lines.clear()
    assert (behaviour(mounted), lines) == before
    assert mounted.config == alone.config


def test_mounting_and_serving_leave_logging_as_it_is(lines):
    app = paper()
    before = logging_of(app)
    app.register_blueprint(articles().blueprint(), url_prefix="/api")
    assert [call(app, "add").status_code, call(app, "fail").status_code] == [200, 500]
    assert logging_of(app) == before


def test_an_error_of_an_act_is_an_envelope_and_a_line_of_the_hosts_handler(mounted, lines):
    reply = call(mounted, "fail", SECRET, **{"X-Request-Id": "r-1"})
    assert envelope(reply) == (500, "application/json", refusal("internal error"))
    [line] = lines
    first = line.splitlines()[0]
    assert first == "paper|gatewayfw.errors|ERROR|unexpected error: request_id=r-1 service=main model=article act=fail"
    assert "Traceback" in line
    assert "crash" not in line


def test_refusals_of_the_gateway_are_no_pages_of_the_host(mounted):
    client = mounted.test_client()
    replies = [
        client.get("/api/gateway"),
        client.post("/api/gateway", data=b"{", content_type="application/json"),
        client.post("/api/gateway", data=b"{}", content_type="text/plain"),
        client.post("/api/gateway", data=b"x" * 3_000, content_type="application/json"),
    ]
    assert [envelope(reply) for reply in replies] == [
        (405, "application/json", refusal("method not allowed: use POST")),
        (400, "application/json", refusal("malformed JSON at line 1 column 2")),
        (415, "application/json", refusal("unsupported media type: send application/json in UTF-8")),
        (413, "application/json", refusal("the request body is too large")),
    ]
    assert [reply.headers["X-Paper"] for reply in replies] == ["daily"] * 4


def test_a_hook_of_the_host_that_refuses_is_the_hosts_page(mounted):
    reply = call(mounted, "add", **{"X-Blocked": "1"})
    assert (reply.status_code, reply.data) == (403, b"<h1>The Paper: 403</h1>")


@pytest.mark.parametrize(
    ("origin", "allowed", "credentials"),
    [(ORIGIN, ORIGIN, "true"), ("https://console.example", "https://console.example", None), ("null", None, None)],
    ids=["the host's", "the gateway's", "nobody's"],
)
def test_cors_of_the_host_wins_on_the_gateway_too(mounted, origin, allowed, credentials):
    reply = call(mounted, "add", Origin=origin)
    names = "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"
    assert (reply.status_code, *(reply.headers.get(name) for name in names)) == (200, allowed, credentials)


def test_json_of_the_host_does_not_write_envelopes(mounted):
    reply = call(mounted, "add")
    assert reply.data.startswith(b'{"body":{"_id":"')
    assert b"\n" not in reply.data
