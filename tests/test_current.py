"""`current_gateway` in requests and outside of them: gatewayfw.current."""

from __future__ import annotations

import mongomock
import pytest
from flask import Blueprint, Flask, jsonify

from gatewayfw import current_gateway, gateway

BODY = {"model": "a", "act": "who", "details": {"set": {}, "get": {}}}


def make(name):
    """A gateway whose act tells whether it is the current one, and its name."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.acts.act("a", "who")(lambda body: [name, current_gateway == gw, current_gateway.settings is gw.settings])
    return gw


def who(app, path="/gateway"):
    return app.test_client().post(path, json=BODY).get_json()["body"]


@pytest.mark.parametrize("fast_lane", [True, False])
def test_an_act_finds_its_gateway(fast_lane):
    assert who(make("one").create_app(fast_lane=fast_lane)) == ["one", True, True]


def test_of_several_in_an_app_it_is_the_one_that_is_asked():
    app, nested = Flask("host"), Blueprint("api", __name__)
    make("one").init_app(app)
    nested.register_blueprint(make("two").blueprint(), url_prefix="/two")
    app.register_blueprint(nested, url_prefix="/api")
    assert (who(app), who(app, "/api/two/gateway")) == (["one", True, True], ["two", True, True])


def test_an_act_that_asks_another_gateway_keeps_its_own():
    other = make("other").create_app()
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.acts.act("a", "who")(lambda body: [who(other), current_gateway == gw])
    assert who(gw.create_app()) == [["other", True, True], True]


def test_elsewhere_in_the_app_it_is_its_only_gateway():
    app, gw = Flask("host"), make("one")
    gw.init_app(app, "/a")
    gw.init_app(app, "/b")
    app.add_url_rule("/view", view_func=lambda: jsonify(current_gateway == gw))
    assert app.test_client().get("/view").get_json() is True
    with app.app_context():
        assert current_gateway == gw


@pytest.mark.parametrize(("count", "problem"), [(0, "has no gateway"), (2, "has several gateways")])
def test_where_no_single_one_is_meant_it_says_so(count, problem):
    app = Flask("host")
    for number in range(count):
        make(str(number)).init_app(app, f"/{number}")
    with app.app_context(), pytest.raises(RuntimeError, match=f"^current_gateway: the app 'host' {problem}$"):
        _ = current_gateway.settings


def test_without_an_app_it_says_so():
    with pytest.raises(RuntimeError) as raised:
        _ = current_gateway.settings
    assert str(raised.value) == "current_gateway: there is no app context; use app.app_context()"
