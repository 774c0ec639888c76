"""Two gateways in one app, under two prefixes and on two databases, do not see each other."""

from __future__ import annotations

import mongomock
import pytest
from flask import Flask

from gatewayfw import gateway, string


def shop(database, greeting):
    """A gateway with one model and two acts; `hello` tells what its context holds."""
    gw = gateway()
    gw.odm.set_db(database)
    things = gw.odm.new_model("thing", {"name": string()})

    @gw.acts.act("thing", "add", set={"name": string()}, get=1)
    def add(body):
        gw.context_fns.add_context({"who": greeting})
        return things.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    @gw.acts.act("thing", f"names{greeting}")
    def names(body):
        return [[one["name"] for one in things.find()], sorted(gw.context_fns.get_context_model())]

    return gw


@pytest.fixture
def client(database):
    other = mongomock.MongoClient().other
    app = Flask(__name__)
    app.register_blueprint(shop(database, "A").blueprint(), url_prefix="/a")
    shop(other, "B").init_app(app, url_prefix="/b")
    return app.test_client()


def call(client, prefix, act, set_=None):
    body = {"model": "thing", "act": act, "details": {"set": set_ or {}, "get": {}}}
    reply = client.post(f"{prefix}/gateway", json=body)
    return reply.status_code, reply.get_json()


def test_data_acts_and_contexts_stay_apart(client):
    assert call(client, "/a", "add", {"name": "of a"})[0] == call(client, "/b", "add", {"name": "of b"})[0] == 200
    keys = ["Address", "Headers", "Request", "body"]
    assert call(client, "/a", "namesA") == (200, {"body": [["of a"], keys], "success": True})
    assert call(client, "/b", "namesB") == (200, {"body": [["of b"], keys], "success": True})
    assert call(client, "/a", "namesB") == (404, {"body": {"message": "act not found: thing.namesB"}, "success": False})
    assert call(client, "/b", "namesA") == (404, {"body": {"message": "act not found: thing.namesA"}, "success": False})
