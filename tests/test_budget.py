"""What one request may cost, as counts that no clock can blur: calls of Python functions, and database commands.

Calls are counted beside those of a view by hand in the same run, which does what Flask must do anyway,
so that a ceiling holds whatever Flask and werkzeug are installed.
"""

from __future__ import annotations

import gc
import io
import json
import sys

import mongomock
import orjson
import pytest
from bson import ObjectId
from flask import Flask, Response, request
from pymongo import MongoClient
from pymongo.monitoring import CommandListener
from werkzeug.test import EnvironBuilder

from gatewayfw import gateway, object_id, string
from gatewayfw.storage import MockStorage

USER, COUNTRY = ObjectId("0" * 23 + "1"), ObjectId("0" * 23 + "2")
STORED = {"_id": USER, "name": "Ana", "email": "a@b.c", "country": {"_id": COUNTRY, "name": "Iran"}}
PING = {"model": "user", "act": "ping", "details": {"set": {}, "get": {}}}
GET_USER = {
    "model": "user",
    "act": "getUser",
    "details": {"set": {"userId": str(USER)}, "get": {"_id": 1, "name": 1, "country": {"_id": 1, "name": 1}}},
}
#: Calls of Python functions beyond those of the view by hand, with CPython 3.11; a little above what was counted:
#: 5 fewer and 16 more. A reply that nobody changed is sent without werkzeug's last look at its headers.
#: Comprehensions are calls up to 3.11, so later versions count fewer.
CEILINGS = {"ping": -4, "getUser": 17}


class Constant(MockStorage):
    """A storage that finds one document at no cost."""

    def find(self, collection, filter, fields=None, **_):
        return iter([STORED])


class Commands(CommandListener):
    """Counts the commands that a client sends."""

    def __init__(self):
        self.count = 0

    def started(self, event):
        self.count += 1

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


@pytest.fixture
def mongomock_database():
    """An empty database in memory."""
    return mongomock.MongoClient().test


def service(database):
    """The app of `made`."""
    return made(database)[1]


def made(database):
    """A gateway with a user with one relation and the two acts, and an app."""
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("country", {"name": string()})
    users = gw.odm.new_model(
        "user",
        {"name": string(), "email": string()},
        {"country": {"schemaName": "country", "type": "single", "optional": True}},
    )
    gw.acts.set_act(schema="user", act_name="ping", validator={"set": {}, "get": {}}, fn=lambda body: {"pong": True})

    @gw.acts.act("user", "getUser", set={"userId": object_id()}, get=1)
    def get_user(body):
        details = body["details"]
        return users.find_one(filters={"_id": details["set"]["userId"]}, projection=details["get"])

    app = Flask("host", static_folder=None)
    app.register_blueprint(gw.blueprint(), url_prefix="/api")
    return gw, app


def by_hand():
    """The least a view of Flask does: read the body and give a reply with the same headers."""
    app = Flask("hand", static_folder=None)

    @app.post("/api/gateway")
    def view():
        body = orjson.loads(request.get_data())
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Request-Id": "x" * 32}
        return Response(orjson.dumps({"body": body, "success": True}), 200, headers, content_type="application/json")

    return app


def sender(app, body):
    """A function that sends a body to an app, without a client's own work."""
    data = json.dumps(body).encode()
    environ = EnvironBuilder("/api/gateway", method="POST", data=data, content_type="application/json").get_environ()

    def send():
        reply = app({**environ, "wsgi.input": io.BytesIO(data)}, lambda status, headers: None)
        whole = b"".join(reply)
        if hasattr(reply, "close"):
            reply.close()
        return json.loads(whole)

    return send


def calls_of(fn):
    """How many Python functions a call runs, once everything is prepared."""
    for _ in range(3):
        fn()
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call"

    outer = sys.getprofile()
    gc.disable()  # or it may run here, with its callbacks and finalizers: Hypothesis has one
    sys.setprofile(profile)
    try:
        fn()
    finally:
        sys.setprofile(outer)
        gc.enable()
    return count


@pytest.mark.parametrize(("name", "body"), [("ping", PING), ("getUser", GET_USER)], ids=["ping", "getUser"])
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="counted with CPython 3.11")
def test_calls_of_a_request(mongomock_database, name, body):
    send = sender(service(Constant(mongomock_database)), body)
    assert send()["success"] is True
    calls = calls_of(send) - calls_of(sender(by_hand(), body))
    assert calls <= CEILINGS[name], calls


@pytest.mark.parametrize(("body", "calls"), [(PING, 7), (GET_USER, 10)], ids=["ping", "getUser"])
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="counted with CPython 3.11")
def test_calls_that_a_policy_adds_which_hides(mongomock_database, body, calls):
    free = sender(service(Constant(mongomock_database)), body)
    gw, app = made(Constant(mongomock_database))
    gw.policy("user", roles=[None], hide=["email"])
    gw.policy("country", roles=[None])
    hiding = sender(app, body)
    assert hiding() == free()
    assert calls_of(hiding) - calls_of(free) <= calls


def test_a_ping_of_many_headers_costs_what_one_of_few_costs(mongomock_database):
    app = service(Constant(mongomock_database))
    few = sender(app, PING)
    many = sender(lambda environ, start: app({**environ, **{f"HTTP_X_{n}": "x" for n in range(50)}}, start), PING)
    assert calls_of(many) - calls_of(few) <= 2  # the lambda is one


@pytest.mark.mongo
@pytest.mark.parametrize(("body", "commands"), [(PING, 0), (GET_USER, 1)], ids=["ping", "getUser"])
def test_database_commands_of_a_request(mongod_uri, mongo_database, body, commands):
    counted = Commands()
    with MongoClient(mongod_uri, event_listeners=[counted]) as client:
        database = client[mongo_database.name]
        database["user"].insert_one(dict(STORED))
        send = sender(service(database), body)
        send()
        counted.count = 0
        assert send()["success"] is True
        assert counted.count == commands
