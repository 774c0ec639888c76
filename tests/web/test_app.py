"""The app of our own, and the servers that run it."""

import flask
import pytest
from flask import abort

from gatewayfw.errors import DefinitionError
from gatewayfw.web.mount import make_app, prefix
from tests.web.mount import BODY, answer, endpoint, post, refusal, seen

WHOLE = {"service": "main", **BODY}


def test_the_app_is_of_the_class_that_stands_for_flasks_when_it_is_made(monkeypatch):
    class Instrumented(flask.Flask):
        """As OpenTelemetry's `FlaskInstrumentor().instrument()` puts it there."""

    monkeypatch.setattr(flask, "Flask", Instrumented)
    assert type(make_app(endpoint())) is Instrumented


def test_app_serves_the_gateway(app):
    assert seen(post(app)) == answer(WHOLE)


@pytest.mark.parametrize("path", ["/", "/gateway", "/api", "/api/gateway/", "/playground", "/static/x", "/favicon.ico"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unknown_paths_answer_an_envelope(app, method, path):
    reply = app.test_client().open(path, method=method)
    assert seen(reply) == refusal(404, "not found; acts are called by POST /api/gateway")
    assert reply.headers["X-Error-Code"] == "not_found"


@pytest.mark.parametrize("path", ["/none", "/own"])
def test_errors_outside_of_the_gateway_have_the_id_of_the_request_too(app, path):
    app.add_url_rule("/own", "own", lambda: "mine", methods=["PUT"])
    client = app.test_client()
    reply = client.get(path, headers={"X-Request-Id": "r-1", "X-Gateway-Detail": "1"})
    assert (reply.headers["X-Request-Id"], reply.get_json()["body"]["requestId"]) == ("r-1", "r-1")
    assert len(client.get(path).headers["X-Request-Id"]) == 32


def test_unknown_method_answers_an_envelope_with_allow():
    app = make_app(endpoint(playground=True))
    reply = app.test_client().post("/playground")
    assert seen(reply) == refusal(405, "method not allowed")
    assert reply.headers["Allow"] == "GET, HEAD"


def test_a_method_that_an_added_view_has_not_answers_an_envelope_too(app):
    app.add_url_rule("/own", "own", lambda: "mine", methods=["PUT"])
    reply = app.test_client().get("/own")
    assert seen(reply) == refusal(405, "method not allowed")
    assert reply.headers["Allow"] == "OPTIONS, PUT"


@pytest.mark.parametrize(("given", "expected"), [("", None), ("/", None), ("/api", "/api"), ("/a/b//", "/a/b")])
def test_a_prefix_is_as_flask_wants_it(given, expected):
    assert prefix(given) == expected


@pytest.mark.parametrize("code", [400, 404, 405])
def test_what_added_views_abort_with_stays(app, code):
    app.add_url_rule("/own", "own", lambda: abort(code, description="own words"))
    reply = app.test_client().get("/own")
    assert reply.status_code == code
    assert reply.mimetype == "text/html"
    assert "own words" in reply.text


@pytest.mark.parametrize("given", ["api", None, 5])
def test_wrong_url_prefix_is_refused(given):
    with pytest.raises(DefinitionError) as caught:
        make_app(endpoint(), url_prefix=given)
    assert caught.value.message == "option 'url_prefix': expected '' or a path like '/api'"
