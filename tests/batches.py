"""A library that takes batches, for the tests of these."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from gatewayfw import HttpError, gateway, integer, optional, string
from gatewayfw import limits as counters

ID = "batch-1"


def asked(act, set_=None, get=None, **more):
    """A request for an act of the model book."""
    return {"model": "book", "act": act, "details": {"set": set_ or {}, "get": get or {}}, **more}


def add(title, **get):
    """A request that adds a book and gets its title, and what else is named."""
    return asked("add", {"title": title}, {"_id": 0, "title": 1, **get})


def done(body):
    """The reply to an item that succeeded."""
    return {"body": body, "success": True, "status": 200}


def failed(status, code, message, **more):
    """The reply to an item that failed."""
    return {"body": {"message": message}, "success": False, "status": status, "code": code, **more}


#: The reply to an item of an atomic batch in which another one failed.
NOT_DONE = failed(409, "not_done", "not done")


class Library:
    """A gateway with the models author and book, and a client of it.

    ``calls`` has what the act ``remember`` found in its context.
    """

    def __init__(self, database, **settings):
        self.gw = gw = gateway(**{"max_batch": 20, **settings})
        if database is not None:
            gw.odm.set_db(database)
        self.calls = []
        self.authors = gw.odm.new_model("author", {"name": string()})
        books = {"type": "multiple", "limit": 5, "sort": {"field": "_id", "order": "asc"}}
        author = {"schemaName": "author", "type": "single", "optional": True, "relatedRelations": {"books": books}}
        self.books = gw.odm.new_model("book", {"title": string(), "n": optional(integer())}, {"author": author})
        self.define()
        self.client = gw.create_app(check=database is not None).test_client()

    def define(self):
        acts, books = self.gw.acts, self.books

        @acts.act("book", "add", set={"title": string(size=(1, 20))}, get=2)
        def add(body):
            return books.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

        @acts.act("book", "addAndFail", set={"title": string()})
        def add_and_fail(body):
            books.insert_one(doc=body["details"]["set"])
            raise HttpError("sold out", 409, code="sold_out")

        @acts.act("book", "list", get=min(3, self.gw.settings.max_get_depth), returns="many")
        def list_books(body):
            return books.find(projection=body["details"]["get"]).sort("_id", 1)

        @acts.act("book", "ping")
        def ping(body):
            return "pong"

        @acts.act("book", "limited", limit="3/minute")
        def limited(body):
            return "passed"

        @acts.act("book", "break")
        def broken(body):
            raise ValueError("a secret")

        @acts.act("book", "say", set={"text": string()})
        def say(body):
            return body["details"]["set"]["text"]

    def post(self, *items, headers=None, **more):
        """Post a batch; return status and envelope."""
        return self.send({"batch": list(items), **more}, headers)

    def send(self, body, headers=None):
        """Post a body; return status and envelope."""
        reply = self.client.post("/gateway", json=body, headers={"X-Request-Id": ID, **(headers or {})})
        return reply.status_code, json.loads(reply.data)

    def titles(self):
        """The titles of all books, in the order in which they were added."""
        return [book["title"] for book in self.books.find().sort("_id", 1)]


@pytest.fixture
def library(database):
    """A library on each database."""
    return Library(database)


@pytest.fixture
def stopped(monkeypatch):
    """Let no time pass for rate limits."""
    monkeypatch.setattr(counters, "time", SimpleNamespace(monotonic=lambda: 1000.0, time=lambda: 1000.0))
