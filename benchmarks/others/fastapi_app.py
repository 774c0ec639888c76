"""The service on FastAPI: pydantic models, PyMongo's asynchronous client, orjson; for uvicorn."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable
from typing import Annotated, Any, Literal

from bson import ObjectId
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pymongo import AsyncMongoClient, ReturnDocument
from pymongo.asynchronous.database import AsyncDatabase

from benchmarks.by_hand.checks import EMAIL
from benchmarks.by_hand.reads import Document, projection
from benchmarks.by_hand.text import dumps
from benchmarks.by_hand.writes import COUNTRY_COPY, listed, new_document, shaped

Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{24}$")]
Email = Annotated[str, StringConstraints(pattern=f"^{EMAIL.pattern}$")]
Wanted = Literal[0, 1]


class Strict(BaseModel):
    """Nothing unknown, and no value of another type; fields that were not sent are left out."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Nothing(Strict):
    """No fields."""


class ById(Strict):
    """The id of one document."""

    id: Id = Field(alias="_id")


class Page(Strict):
    """The users after one."""

    after: Id
    limit: int = Field(ge=1, le=10_000)


class NewUser(Strict):
    """The fields of a user, and its country."""

    first_name: str
    last_name: str
    email: Email
    age: int = Field(ge=0)
    is_active: bool
    country: Id


class UserChange(ById):
    """New values of some fields of a user."""

    first_name: str = ""
    last_name: str = ""
    email: Email = ""
    age: int = Field(0, ge=0)
    is_active: bool = False


class NewName(ById):
    """A new name of a country."""

    name: str


class CountryFields(Strict):
    """The fields of a country that a client may ask for."""

    id: Wanted = Field(0, alias="_id")
    name: Wanted = 0
    population: Wanted = 0


class UserFields(Strict):
    """The fields of a user that a client may ask for."""

    id: Wanted = Field(0, alias="_id")
    first_name: Wanted = 0
    last_name: Wanted = 0
    email: Wanted = 0
    age: Wanted = 0
    is_active: Wanted = 0
    joined: Wanted = 0


class UserGet(UserFields):
    """A user and its country."""

    country: CountryFields = CountryFields()


class CountryGet(CountryFields):
    """A country and its newest users."""

    users: UserFields = UserFields()


class Ping(Strict):
    """The details of `ping`."""

    set: Nothing
    get: Nothing


class GetUser(Strict):
    """The details of `getUser`."""

    set: ById
    get: UserGet


class GetUsers(Strict):
    """The details of `getUsers`."""

    set: Page
    get: UserGet


class GetCountry(Strict):
    """The details of `getCountry`."""

    set: ById
    get: CountryGet


class AddUser(Strict):
    """The details of `addUser`."""

    set: NewUser
    get: UserGet


class UpdateUser(Strict):
    """The details of `updateUser`."""

    set: UserChange
    get: UserGet


class Rename(Strict):
    """The details of `rename`."""

    set: NewName
    get: CountryGet


def make_app(database: AsyncDatabase[Document]) -> FastAPI:
    """Return the service; errors are envelopes, too."""
    app = FastAPI(openapi_url=None)

    async def invalid(request: Request, error: Exception) -> Response:
        return _envelope({"message": "validation error"}, 400)

    app.add_exception_handler(RequestValidationError, invalid)

    @app.post("/api/ping")
    async def ping(details: Ping) -> Response:
        return _answer("pong")

    @app.post("/api/getUser")
    async def get_user(details: GetUser) -> Response:
        set_, get = _asked(details)
        return _answer(await database.user.find_one({"_id": ObjectId(set_["_id"])}, projection(get)))

    @app.post("/api/getUsers")
    async def get_users(details: GetUsers) -> Response:
        set_, get = _asked(details)
        cursor = database.user.find({"_id": {"$gt": ObjectId(set_["after"])}}, projection(get))
        return _answer(await cursor.sort("_id", 1).limit(set_["limit"]).to_list())

    @app.post("/api/getCountry")
    async def get_country(details: GetCountry) -> Response:
        set_, get = _asked(details)
        return _answer(await database.country.find_one({"_id": ObjectId(set_["_id"])}, projection(get)))

    @app.post("/api/addUser")
    async def add_user(details: AddUser) -> Response:
        return _answer(await _added(database, *_asked(details)))

    @app.post("/api/updateUser")
    async def update_user(details: UpdateUser) -> Response:
        return _answer(await _changed(database, *_asked(details)))

    @app.post("/api/rename")
    async def rename(details: Rename) -> Response:
        return _answer(await _renamed(database, *_asked(details)))

    return app


async def _added(database: AsyncDatabase[Document], set_: Document, get: Document) -> Document | None:
    country = await database.country.find_one({"_id": ObjectId(set_["country"])}, COUNTRY_COPY)
    if country is None:
        return None
    user = new_document(set_)
    await database.user.insert_one({**user, "country": country})
    await database.country.update_one({"_id": country["_id"]}, listed(user))
    return shaped({**user, "country": country}, {"_id": 1, **get})


async def _changed(database: AsyncDatabase[Document], set_: Document, get: Document) -> Document | None:
    change = {name: value for name, value in set_.items() if name != "_id"}
    fields = projection(get) | ({} if "country" in get else {"country._id": 1})
    after, of = ReturnDocument.AFTER, {"_id": ObjectId(set_["_id"])}
    user = await database.user.find_one_and_update(of, {"$set": change}, fields, return_document=after)
    if user is None:
        return None
    copies = {f"users.$.{name}": value for name, value in change.items()}
    await database.country.update_one({"_id": user["country"]["_id"], "users._id": user["_id"]}, {"$set": copies})
    return shaped(user, {"_id": 1, **get})


async def _renamed(database: AsyncDatabase[Document], set_: Document, get: Document) -> Document | None:
    after, of, name = ReturnDocument.AFTER, {"_id": ObjectId(set_["_id"])}, set_["name"]
    country: Document | None = await database.country.find_one_and_update(
        of, {"$set": {"name": name}}, projection(get), return_document=after
    )
    if country is not None:
        await database.user.update_many({"country._id": country["_id"]}, {"$set": {"country.name": name}})
    return country


def _asked(details: Any) -> tuple[Document, Document]:
    sent = details.model_dump(by_alias=True, exclude_unset=True)
    return sent["set"], sent["get"]


def _answer(result: Any) -> Response:
    if result is None:
        return _envelope({"message": "not found"}, 404)
    return _envelope(result, 200)


def _envelope(body: Any, status: int) -> Response:
    data = dumps({"body": body, "success": status == 200})
    return Response(data, status, media_type="application/json")


def fastapi_app() -> FastAPI:
    """Return the service for a server."""
    client: AsyncMongoClient[Document] = AsyncMongoClient(os.environ["BENCH_URI"], w="majority")
    return make_app(client.get_default_database())


def in_process(database: Any) -> Callable[[dict[str, Any], Any], list[bytes]]:
    """Return a WSGI function that answers in the calling thread, from the database of a synchronous client."""
    options = database.client.options
    host, port = database.client.address
    loop = asyncio.new_event_loop()
    client: AsyncMongoClient[Document] = AsyncMongoClient(
        host, port, replicaSet=options.replica_set_name, w="majority", event_listeners=options.event_listeners
    )
    app = make_app(client[database.name])

    def answer(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        status, headers, body = loop.run_until_complete(_asgi(app, environ))
        start_response(f"{status} ", headers)
        return [body]

    weakref.finalize(answer, _close, loop, client)
    return answer


def _close(loop: asyncio.AbstractEventLoop, client: AsyncMongoClient[Document]) -> None:
    loop.run_until_complete(client.close())
    loop.close()


async def _asgi(app: Any, environ: dict[str, Any]) -> tuple[int, list[tuple[str, str]], bytes]:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": environ["REQUEST_METHOD"],
        "scheme": "http",
        "path": environ["PATH_INFO"],
        "query_string": environ["QUERY_STRING"].encode(),
        "headers": [(b"content-type", b"application/json"), (b"content-length", environ["CONTENT_LENGTH"].encode())],
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": environ["wsgi.input"].read()}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    headers = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent)
