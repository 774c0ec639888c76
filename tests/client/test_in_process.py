"""The client for tests of a service: which app it calls, and what the app gets."""

from __future__ import annotations

import mongomock
import pytest
from flask import Flask, abort, request

from gatewayfw import gateway
from gatewayfw.client import BadReply, InProcessClient
from gatewayfw.client.in_process import InProcess
from gatewayfw.errors import DefinitionError


@pytest.fixture
def gw():
    """A gateway with one act."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.acts.act("user", "tell")(lambda body: "told")
    return gw


@pytest.fixture
def app(gw):
    """A host's app with hooks of its own and the gateway below a prefix."""
    app = Flask("host")
    gw.init_app(app, url_prefix="/api")

    @app.before_request
    def look():
        if request.headers.get("X-Stop") == "abort":
            abort(503)
        if request.headers.get("X-Stop") == "raise":
            raise RuntimeError("of the host")

    return app


def test_requests_go_through_the_hooks_of_the_app(app):
    assert InProcessClient(app).call("user", "tell") == "told"
    with pytest.raises(BadReply, match="^bad reply of the gateway: its answer is not application/json$") as found:
        InProcessClient(app, headers={"X-Stop": "abort"}).call("user", "tell")
    assert found.value.status == 503


def test_what_a_testing_app_lets_through_is_raised(app):
    app.testing = True
    with pytest.raises(RuntimeError, match="of the host"):
        InProcessClient(app, headers={"X-Stop": "raise"}).call("user", "tell")


def test_of_several_gateways_one_is_named(gw, app):
    gateway().init_app(app, url_prefix="/other")
    with pytest.raises(DefinitionError, match="path: required, because the app has 2 gateway routes"):
        InProcessClient(app)
    client = InProcessClient(app, path="/api/gateway")
    assert (client.call("user", "tell"), repr(client)) == ("told", "InProcessClient('/api/gateway')")


def test_a_variable_in_the_path_is_filled_in(gw):
    app = Flask("host")
    gw.init_app(app, url_prefix="/<tenant>")
    with pytest.raises(DefinitionError, match="path: required, because the gateway's route has a variable"):
        InProcessClient(app)
    assert InProcessClient(app, path="/x/gateway").call("user", "tell") == "told"


@pytest.mark.parametrize("path", ["", "gateway"])
def test_a_path_without_its_slash_is_refused(app, path):
    with pytest.raises(DefinitionError, match="path: expected one that starts with a slash"):
        InProcessClient(app, path=path)


def test_an_app_without_a_gateway_is_refused():
    with pytest.raises(DefinitionError, match="path: required, because the app has 0 gateway routes"):
        InProcessClient(Flask("empty"))


def test_an_app_gets_path_headers_and_body():
    app = Flask(__name__)
    app.post("/here")(lambda: [request.headers["X-Token"], request.get_json()])
    reply = InProcess(app, "/here").post(b'{"a": 1}', {"X-Token": "t", "Content-Type": "application/json"})
    assert (reply.status, reply.data.strip()) == (200, b'["t",{"a":1}]')


def test_a_cookie_of_one_request_is_not_in_the_next():
    app = Flask(__name__)
    app.post("/here")(lambda: ({"seen": request.cookies.to_dict()}, {"Set-Cookie": "a=1"}))
    transport = InProcess(app, "/here")
    assert [transport.post(b"", {}).data.strip() for _ in range(2)] == [b'{"seen":{}}'] * 2
