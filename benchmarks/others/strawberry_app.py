"""The service in GraphQL: Strawberry on Flask, texts of queries parsed and validated once.

What a query selects becomes the projection. The commands are those of the reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NewType, Optional

import strawberry
from flask import Flask
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.flask.views import GraphQLView
from strawberry.schema.config import StrawberryConfig
from strawberry.types import Info

from benchmarks.by_hand import reads
from benchmarks.by_hand.checks import EMAIL
from benchmarks.by_hand.flask_app import connected
from benchmarks.by_hand.reads import Document
from benchmarks.by_hand.text import plain
from benchmarks.by_hand.writes import Plain

_HEX = re.compile(r"[0-9a-fA-F]{24}")
#: Texts of queries that are kept; clients of a service send a few, with variables.
_TEXTS = 100

Id = NewType("Id", str)
Email = NewType("Email", str)
Age = NewType("Age", int)
Limit = NewType("Limit", int)
Moment = NewType("Moment", str)


def _id(value: Any) -> str:
    if type(value) is not str or not _HEX.fullmatch(value):
        raise ValueError("not an id")
    return value


def _email(value: Any) -> str:
    if type(value) is not str or not EMAIL.fullmatch(value):
        raise ValueError("not an e-mail address")
    return value


def _within(least: int, most: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"not a number from {least} to {most}")
        return value

    return parse


_SCALARS: dict[object, Any] = {
    Id: strawberry.scalar(name="Id", serialize=str, parse_value=_id),
    Email: strawberry.scalar(name="Email", serialize=str, parse_value=_email),
    Age: strawberry.scalar(name="Age", serialize=int, parse_value=_within(0, 2**53)),
    Moment: strawberry.scalar(name="Moment", serialize=plain),
    Limit: strawberry.scalar(name="Limit", serialize=int, parse_value=_within(1, 10_000)),
}


@strawberry.type
class Country:
    """A country and its newest users."""

    _id: Id
    name: str
    population: float
    users: list[User]


@strawberry.type
class User:
    """A user and its country."""

    _id: Id
    first_name: str
    last_name: str
    email: Email
    age: Age
    is_active: bool
    joined: Moment
    country: Country


@strawberry.input
class GetUserSet:
    """The id of a user."""

    _id: Id


@strawberry.input
class GetCountrySet:
    """The id of a country."""

    _id: Id


@strawberry.input
class GetUsersSet:
    """The users after one."""

    after: Id
    limit: Limit


@strawberry.input
class AddUserSet:
    """The fields of a user, and its country."""

    first_name: str
    last_name: str
    email: Email
    age: Age
    is_active: bool
    country: Id


@strawberry.input
class UpdateUserSet:
    """New values of some fields of a user."""

    _id: Id
    first_name: strawberry.Maybe[str]
    last_name: strawberry.Maybe[str]
    email: strawberry.Maybe[Email]
    age: strawberry.Maybe[Age]
    is_active: strawberry.Maybe[bool]


@strawberry.input
class RenameSet:
    """A new name of a country."""

    _id: Id
    name: str


def make_app(database: Any) -> Flask:
    """Return the service."""
    writes = Plain(database)

    @strawberry.type
    class Query:
        @strawberry.field
        def ping(self) -> str:
            return "pong"

        @strawberry.field(name="getUser")
        def get_user(self, set: GetUserSet, info: Info) -> Optional[User]:  # noqa: UP045  # evaluated by strawberry
            return _found(reads.get_user(database, vars(set), _get(info)))

        @strawberry.field(name="getUsers")
        def get_users(self, set: GetUsersSet, info: Info) -> list[User]:
            return _found(reads.get_users(database, vars(set), _get(info)))

        @strawberry.field(name="getCountry")
        def get_country(self, set: GetCountrySet, info: Info) -> Optional[Country]:  # noqa: UP045
            return _found(reads.get_country(database, vars(set), _get(info)))

    @strawberry.type
    class Mutation:
        @strawberry.field(name="addUser")
        def add_user(self, set: AddUserSet, info: Info) -> Optional[User]:  # noqa: UP045
            return _found(writes.add_user(vars(set), _get(info)))

        @strawberry.field(name="updateUser")
        def update_user(self, set: UpdateUserSet, info: Info) -> Optional[User]:  # noqa: UP045
            given = {name: value for name, value in vars(set).items() if value is not None}
            change = {name: value if name == "_id" else value.value for name, value in given.items()}
            return _found(writes.update_user(change, _get(info)))

        @strawberry.field(name="rename")
        def rename(self, set: RenameSet, info: Info) -> Optional[Country]:  # noqa: UP045
            return _found(writes.rename(vars(set), _get(info)))

    config = StrawberryConfig(auto_camel_case=False, default_resolver=_member, scalar_map=_SCALARS)
    caches = [lambda: ParserCache(_TEXTS), lambda: ValidationCache(_TEXTS)]
    schema = strawberry.Schema(Query, Mutation, config=config, extensions=caches)
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024
    app.add_url_rule("/api/graphql", view_func=GraphQLView.as_view("graphql", schema=schema, graphql_ide=None))
    return app


def _member(document: Any, name: str) -> Any:
    return document[name]


def _get(info: Info) -> Document:
    (field,) = info.selected_fields
    return _selected(field.selections)


def _selected(fields: Iterable[Any]) -> Document:
    return {field.name: _selected(field.selections) if field.selections else 1 for field in fields}


def _found(result: Any) -> Any:
    if result is None:
        raise LookupError("not found")
    return result


def strawberry_app() -> Flask:
    """Return the service for a server."""
    return make_app(connected())
