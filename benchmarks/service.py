"""The contender itself: the works as acts of a gateway, in a Flask app."""

from __future__ import annotations

import os
from typing import Any

from flask import Flask

from benchmarks.dataset import JOINED, WINDOW
from gatewayfw import NotFound, boolean, date, email, gateway, integer, number, object_id, observe, optional, string
from gatewayfw.core import Gateway

Body = dict[str, Any]


def make_gateway(database: Any, window: int = WINDOW, sort: str = "_id", *more: str, **settings: Any) -> Gateway:
    """Return a gateway with the two models and the acts of the works, on a database or a storage.

    ``more`` names texts of a user that no work asks for.
    """
    gw = gateway(**settings)
    gw.odm.set_db(database, memory=True)
    country = {"name": string(), "population": number()}
    user = {
        "first_name": string(),
        "last_name": string(),
        "email": email(),
        "age": integer(minimum=0),
        "is_active": boolean(),
    }
    newest = {"type": "multiple", "limit": window, "sort": {"field": sort, "order": "desc"}}
    relation = {"schemaName": "country", "type": "single", "optional": False, "relatedRelations": {"users": newest}}
    countries = gw.odm.new_model("country", country)
    users = gw.odm.new_model(
        "user", {**user, JOINED: optional(date()), **dict.fromkeys(more, optional(string))}, {"country": relation}
    )

    @gw.acts.act("main", "ping")
    def ping(body: Body) -> str:
        return "pong"

    @gw.acts.act("user", "getUser", set={"_id": object_id()}, get=1)
    def get_user(body: Body) -> Body:
        details = body["details"]
        return _found(users.find_one(filters={"_id": details["set"]["_id"]}, projection=details["get"]))

    @gw.acts.act("user", "getUsers", set={"after": object_id(), "limit": integer(minimum=1, maximum=10_000)}, get=1)
    def get_users(body: Body) -> Any:
        set_, get = body["details"]["set"], body["details"]["get"]
        return users.find(filters={"_id": {"$gt": set_["after"]}}, projection=get).sort({"_id": 1}).limit(set_["limit"])

    @gw.acts.act("country", "getCountry", set={"_id": object_id()}, get=1)
    def get_country(body: Body) -> Body:
        details = body["details"]
        return _found(countries.find_one(filters={"_id": details["set"]["_id"]}, projection=details["get"]))

    @gw.acts.act("user", "addUser", set={**user, "country": object_id()}, get=1)
    def add_user(body: Body) -> Body:
        set_ = body["details"]["set"]
        return users.insert_one(
            doc={name: value for name, value in set_.items() if name != "country"},
            relations={"country": {"_ids": set_["country"], "relatedRelations": {"users": True}}},
            projection=body["details"]["get"],
        )

    changes = {name: optional(kind) for name, kind in user.items()}

    @gw.acts.act("user", "updateUser", set={**changes, "_id": object_id()}, get=1)
    def update_user(body: Body) -> Body:
        return _changed(users, body)

    @gw.acts.act("country", "rename", set={"_id": object_id(), "name": string()}, get=1)
    def rename(body: Body) -> Body:
        return _changed(countries, body)

    return gw


def _changed(model: Any, body: Body) -> Body:
    details = body["details"]
    change = {name: value for name, value in details["set"].items() if name != "_id"}
    filter = {"_id": details["set"]["_id"]}
    return _found(model.find_one_and_update(filter=filter, update={"$set": change}, projection=details["get"]))


def _found(document: Body | None) -> Body:
    if document is None:
        raise NotFound("not found")
    return document


def in_flask(database: Any) -> Flask:
    """Return a host app with the gateway's blueprint in it."""
    app = Flask(__name__)
    app.register_blueprint(make_gateway(database).blueprint(), url_prefix="/api")
    return app


def standalone(database: Any) -> Any:
    """Return what `create_app` gives: an application that serves the gateway and nothing else."""
    return make_gateway(database).create_app(url_prefix="/api")


def hiding(database: Any) -> Any:
    """Return `standalone` with policies that hide a field which no work asks for."""
    gw = make_gateway(database, WINDOW, "_id", "note")
    gw.policy("country", roles=[None])
    gw.policy("user", roles=[None], hide=["note"])
    return gw.create_app(url_prefix="/api")


def observed(database: Any) -> Any:
    """Return `standalone` with every observer of calls."""
    gw = make_gateway(database)
    for observer in (observe.access_log(), observe.prometheus(), observe.otel(), observe.sentry()):
        gw.on_call(observer)
    return gw.create_app(url_prefix="/api")


def blueprint_app() -> Flask:
    """Return `in_flask` for a server; the database is named by the environment."""
    return in_flask(os.environ["BENCH_URI"])


def lane_app() -> Any:
    """Return `standalone` for a server."""
    return standalone(os.environ["BENCH_URI"])


def hiding_app() -> Any:
    """Return `hiding` for a server."""
    return hiding(os.environ["BENCH_URI"])


def observed_app() -> Any:
    """Return `observed` for a server."""
    return observed(os.environ["BENCH_URI"])
