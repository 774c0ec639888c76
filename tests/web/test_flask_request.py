"""What the context of a request begins with, and that it is the request's own."""

from __future__ import annotations

import gc
import weakref

import flask
import pytest
from flask import Flask, g
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from gatewayfw.web.flask_request import FlaskGlobals, LazyRequest, address_of, begin, make_contexts


def sent(**headers):
    environ = EnvironBuilder(headers={name.replace("_", "-"): value for name, value in headers.items()}).get_environ()
    return Request({**environ, "REMOTE_ADDR": "10.0.0.1"})


@pytest.mark.parametrize("name", sorted(vars(flask.Request({}))))
def test_a_lazy_request_has_each_part_that_flasks_has(name):
    environ = EnvironBuilder("/a?b=c", "http://shop.example/x", method="PUT", headers={"Token": "t"}).get_environ()
    lazy = LazyRequest(environ, Flask("host"))
    assert getattr(lazy, name) == getattr(flask.Request(environ), name)
    assert (lazy.url, lazy.args["b"], lazy.headers["token"]) == ("http://shop.example/x/a?b=c", "c", "t")
    with pytest.raises(AttributeError):
        _ = lazy.nothing


@pytest.mark.parametrize(("of_app", "own", "most"), [(None, None, None), (5, None, 5), (5, 9, 9), (None, 0, 0)])
def test_a_lazy_request_has_the_limit_that_flasks_has(of_app, own, most):
    app = Flask("host")
    app.config["MAX_CONTENT_LENGTH"] = of_app
    with app.app_context():
        for request in (LazyRequest({}, app), flask.Request({})):
            request.max_content_length = own
            assert request.max_content_length == most


def test_a_context_begins_with_request_headers_and_address():
    request = sent(Token="t")
    context = begin(request)
    assert context.Request.path == "/"
    assert context.Headers.get("token") == "t"
    assert context.body is None
    assert context["Address"] == "10.0.0.1"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:5678", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:5678", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%eth0]:5678", "fe80::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("[::FFFF:192.0.2.1]:5678", "192.0.2.1"),
        ("::1", "::1"),
        ("unknown", "unknown"),
        ("not:an:address", "not:an:address"),
        ("", ""),
        (None, ""),
    ],
    ids=repr,
)
def test_the_address_of_a_caller_has_no_port(given, address):
    request = sent()
    request.remote_addr = given
    assert (address_of(request), begin(request)["Address"]) == (address, address)


@pytest.mark.parametrize(("given", "seen"), [("mine", "mine"), (None, "theirs")])
def test_the_id_of_the_request_stands_in_the_headers(given, seen):
    assert begin(sent(X_Request_Id="theirs"), given).Headers.get("x-request-id") == seen


def test_a_context_does_not_keep_its_request():
    request = sent()
    context = begin(request)
    known = weakref.ref(request)
    del request.environ["werkzeug.request"], request
    gc.collect()
    assert (known(), context.body) == (None, None)


def test_each_request_has_its_own_context():
    contexts, app = make_contexts(), Flask("host")
    with app.test_request_context(headers={"Token": "a"}):
        assert contexts.get_context_model().Headers.get("token") == "a"
        with app.test_request_context(headers={"Token": "b"}):
            assert contexts.get_context_model().Headers.get("token") == "b"


def test_g_can_be_set_back():
    with Flask(__name__).app_context():
        g.a, g.b = 1, 2
        before = g._get_current_object()
        FlaskGlobals().reset({"a": 3})
        assert FlaskGlobals().read() == {"a": 3}
        assert g._get_current_object() is before


def test_a_block_has_a_g_of_its_own():
    globals_, fails = FlaskGlobals(), RuntimeError()
    with Flask(__name__).app_context():
        g.a = 1
        with pytest.raises(RuntimeError), globals_.open({"b": 2}) as held:
            g.c = 3
            assert held == globals_.read() == {"b": 2, "c": 3}
            assert "a" not in g
            raise fails
        assert globals_.read() == {"a": 1}
