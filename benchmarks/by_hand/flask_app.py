"""A Flask service by hand, with marshmallow; its JSON by the standard library or by orjson."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

import orjson
from bson import ObjectId
from flask import Flask, Response, abort, request
from flask.json.provider import DefaultJSONProvider, JSONProvider
from flask.typing import ResponseReturnValue
from marshmallow import Schema, ValidationError, fields, validate
from pymongo import MongoClient
from pymongo.database import Database
from werkzeug.exceptions import HTTPException

from benchmarks.by_hand import reads
from benchmarks.by_hand.text import dumps, plain
from benchmarks.by_hand.writes import InTransaction, Plain, Writes


def _id() -> fields.String:
    return fields.String(required=True, validate=validate.Regexp(r"[0-9a-fA-F]{24}\Z"))


def _wanted() -> fields.Integer:
    return fields.Integer(strict=True, validate=validate.OneOf((0, 1)))


class Nothing(Schema):
    """No fields."""


class ById(Schema):
    """The id of one document."""

    _id = _id()


class Page(Schema):
    """The users after one."""

    after = _id()
    limit = fields.Integer(strict=True, required=True, validate=validate.Range(1, 10_000))


class UserChange(ById):
    """New values of some fields of a user."""

    first_name = fields.String()
    last_name = fields.String()
    email = fields.Email()
    age = fields.Integer(strict=True, validate=validate.Range(0))
    is_active = fields.Boolean()


class NewUser(Schema):
    """The fields of a user, and its country."""

    first_name = fields.String(required=True)
    last_name = fields.String(required=True)
    email = fields.Email(required=True)
    age = fields.Integer(strict=True, required=True, validate=validate.Range(0))
    is_active = fields.Boolean(required=True)
    country = _id()


class NewName(ById):
    """A new name of a country."""

    name = fields.String(required=True)


class CountryFields(Schema):
    """The fields of a country that a client may ask for."""

    _id = _wanted()
    name = _wanted()
    population = _wanted()


class UserFields(Schema):
    """The fields of a user that a client may ask for."""

    _id = _wanted()
    first_name = _wanted()
    last_name = _wanted()
    email = _wanted()
    age = _wanted()
    is_active = _wanted()
    joined = _wanted()


class UserGet(UserFields):
    """A user and its country."""

    country = fields.Nested(CountryFields)


class CountryGet(CountryFields):
    """A country and its newest users."""

    users = fields.Nested(UserFields)


def _details(set_: type[Schema], get: type[Schema]) -> Schema:
    nested: dict[str, fields.Field[Any]] = {
        "set": fields.Nested(set_, required=True),
        "get": fields.Nested(get, required=True),
    }
    return Schema.from_dict(nested)()


PING = _details(Nothing, Nothing)
GET_USER = _details(ById, UserGet)
GET_USERS = _details(Page, UserGet)
GET_COUNTRY = _details(ById, CountryGet)
ADD_USER = _details(NewUser, UserGet)
UPDATE_USER = _details(UserChange, UserGet)
RENAME = _details(NewName, CountryGet)


class StandardJson(DefaultJSONProvider):
    """Flask's own JSON, with ids and moments."""

    sort_keys = False

    @staticmethod
    def default(value: Any) -> Any:
        """Return an id or a moment as text."""
        return plain(value) if isinstance(value, ObjectId | datetime) else DefaultJSONProvider.default(value)


class Orjson(JSONProvider):
    """JSON by orjson, with ids and moments."""

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """Return what a text says."""
        return orjson.loads(s)

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        """Return a value as text."""
        return dumps(obj).decode()

    def response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a reply without the detour through text."""
        return Response(dumps(self._prepare_response_obj(args, kwargs)), mimetype="application/json")


def make_app(database: Any, writes: Writes, json: type[JSONProvider] = Orjson) -> Flask:
    """Return the service; errors are envelopes, too."""
    app = Flask(__name__)
    app.json = json(app)
    app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024

    def asked(schema: Schema) -> tuple[dict[str, Any], dict[str, Any]]:
        details = schema.load(request.get_json())
        return details["set"], details["get"]

    def answer(result: Any) -> ResponseReturnValue:
        if result is None:
            abort(404)
        return app.json.response({"body": result, "success": True})

    @app.post("/api/ping")
    def ping() -> ResponseReturnValue:
        asked(PING)
        return answer("pong")

    @app.post("/api/getUser")
    def get_user() -> ResponseReturnValue:
        return answer(reads.get_user(database, *asked(GET_USER)))

    @app.post("/api/getUsers")
    def get_users() -> ResponseReturnValue:
        return answer(reads.get_users(database, *asked(GET_USERS)))

    @app.post("/api/getCountry")
    def get_country() -> ResponseReturnValue:
        return answer(reads.get_country(database, *asked(GET_COUNTRY)))

    @app.post("/api/addUser")
    def add_user() -> ResponseReturnValue:
        return answer(writes.add_user(*asked(ADD_USER)))

    @app.post("/api/updateUser")
    def update_user() -> ResponseReturnValue:
        return answer(writes.update_user(*asked(UPDATE_USER)))

    @app.post("/api/rename")
    def rename() -> ResponseReturnValue:
        return answer(writes.rename(*asked(RENAME)))

    @app.errorhandler(ValidationError)
    def invalid(error: ValidationError) -> ResponseReturnValue:
        message = f"validation error: {error.messages}"
        return app.json.response({"body": {"message": message}, "success": False}), 400

    @app.errorhandler(HTTPException)
    def failed(error: HTTPException) -> ResponseReturnValue:
        return app.json.response({"body": {"message": error.name}, "success": False}), error.code or 500

    return app


def connected() -> Database[dict[str, Any]]:
    """Return the database that the environment names."""
    client: MongoClient[dict[str, Any]] = MongoClient(os.environ["BENCH_URI"], w="majority")
    return client.get_default_database()


def with_orjson(database: Any) -> Flask:
    """Return the reference."""
    return make_app(database, Plain(database))


def with_transactions(database: Any) -> Flask:
    """Return the reference with each write in a transaction."""
    return make_app(database, InTransaction(database))


def with_json(database: Any) -> Flask:
    """Return the service with the standard library's JSON."""
    return make_app(database, Plain(database), StandardJson)


def orjson_app() -> Flask:
    """Return `with_orjson` for a server."""
    return with_orjson(connected())


def transaction_app() -> Flask:
    """Return `with_transactions` for a server."""
    return with_transactions(connected())


def json_app() -> Flask:
    """Return `with_json` for a server."""
    return with_json(connected())
