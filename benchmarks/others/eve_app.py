"""The service on Eve: two resources, whose copies are kept by Eve's own database hooks.

Left at what serves the comparison: no links, no entity tags, no counting of all documents for each page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from eve import Eve
from eve.io.mongo import Mongo, MongoJSONEncoder
from flask import Response, abort

from benchmarks.by_hand.checks import EMAIL
from benchmarks.by_hand.flask_app import connected
from benchmarks.by_hand.reads import Document
from benchmarks.by_hand.text import plain
from benchmarks.by_hand.writes import COUNTRY_COPY, listed
from benchmarks.dataset import JOINED, USER_FIELDS

_TEXT = {"type": "string", "required": True}
_USER: dict[str, Any] = {
    "first_name": _TEXT,
    "last_name": _TEXT,
    "email": {**_TEXT, "regex": EMAIL.pattern},
    "age": {"type": "integer", "min": 0, "required": True},
    "is_active": {"type": "boolean", "required": True},
    JOINED: {"type": "datetime", "readonly": True},
    "country": {
        "type": "dict",
        "required": True,
        "schema": {"_id": {"type": "objectid", "required": True}},
    },
}
_COUNTRY: dict[str, Any] = {
    "name": _TEXT,
    "population": {"type": "number", "required": True},
    "users": {"type": "list", "readonly": True},
}


def _settings() -> dict[str, Any]:
    resource = {"item_methods": ["GET", "PATCH"], "url": "user", "schema": _USER}
    return {
        "URL_PREFIX": "api",
        "DOMAIN": {
            "user": {**resource, "resource_methods": ["GET", "POST"]},
            "country": {**resource, "url": "country", "schema": _COUNTRY},
        },
        "MONGO_WRITE_CONCERN": {"w": "majority"},
        "RENDERERS": ["eve.render.JSONRenderer"],
        "HATEOAS": False,
        "IF_MATCH": False,
        "BULK_ENABLED": False,
        "BANDWIDTH_SAVER": False,
        "PAGINATION_LIMIT": 10_000,
        "OPTIMIZE_PAGINATION_FOR_SPEED": True,
    }


class Json(MongoJSONEncoder):
    """Eve's JSON, with moments as the others give them."""

    def default(self, value: Any) -> Any:
        """Return a moment as text."""
        return plain(value.replace(tzinfo=None)) if isinstance(value, datetime) else super().default(value)


def make_app(database: Any) -> Eve:
    """Return the service."""

    class Given(Mongo):
        """The data layer, on the database that we have."""

        db = database
        json_encoder_class = Json

        def pymongo(self, resource: Any = None, prefix: Any = None) -> Any:
            return self

    def embed(users: Sequence[Document]) -> None:
        for user in users:
            country = database.country.find_one({"_id": user["country"]["_id"]}, COUNTRY_COPY)
            if country is None:
                abort(404)
            user["country"] = country

    def list_(users: Sequence[Document]) -> None:
        for user in users:
            copy = {name: user[name] for name in ("_id", *USER_FIELDS)}
            database.country.update_one({"_id": user["country"]["_id"]}, listed(copy))

    def copy_user(changes: Mapping[str, Any], before: Document) -> None:
        copies = {f"users.$.{name}": changes[name] for name in USER_FIELDS if name in changes}
        of = {"_id": before["country"]["_id"], "users._id": before["_id"]}
        database.country.update_one(of, {"$set": copies})

    def copy_country(changes: Mapping[str, Any], before: Document) -> None:
        copies = {f"country.{name}": changes[name] for name in ("name", "population") if name in changes}
        database.user.update_many({"country._id": before["_id"]}, {"$set": copies})

    app = Eve(settings=_settings(), data=Given)
    app.on_insert_user += embed
    app.on_inserted_user += list_
    app.on_updated_user += copy_user
    app.on_updated_country += copy_country

    @app.get("/api/ping")
    def ping() -> Response:
        return Response(json.dumps("pong"), mimetype="application/json")

    return app


def eve_app() -> Eve:
    """Return the service for a server."""
    return make_app(connected())
