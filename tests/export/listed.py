"""A gateway with listings: books by authors, and acts that look like listings and are none."""

from __future__ import annotations

from typing import Any

import mongomock

from gatewayfw.core import Gateway, gateway
from gatewayfw.schemas import array, date, decimal, enums, integer, nullable, optional, string

BOOK = {
    "title": string(size=(1, 60)),
    "year": optional(nullable(integer(minimum=1))),
    "price": optional(decimal(places=2)),
    "out": optional(date()),
    "state": optional(enums("in", "lent")),
    "tags": optional(array(string(size=(1, 20)), size=(0, 5))),
}
FILTER = {
    "title": ["prefix", "contains"],
    "year": ["eq", "ne", "gte", "lt", "in", "exists"],
    "price": ["lte"],
    "out": ["eq", "gt"],
    "state": ["eq", "nin"],
    "tags": ["in"],
    "author": ["eq"],
    "author.name": ["eq", "prefix"],
}


def listed() -> Gateway:
    """Return a gateway with seven books of one author."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().listed)
    authors = gw.odm.new_model("author", {"name": string(size=(1, 30))})
    relation = {"schemaName": "author", "type": "single", "relatedRelations": {"books": {"type": "multiple"}}}
    books = gw.odm.new_model("book", BOOK, {"author": relation})
    author = authors.insert_one(doc={"name": "Ann"})["_id"]
    for number in range(7):
        doc = {"title": f"Book {number}", "year": 2000 + number}
        books.insert_one(doc=doc, relations={"author": {"_ids": author, "relatedRelations": {"books": True}}})
    listing = books.listing(filter=FILTER, sort=["title", "year"], default_sort="title", most=4, default=3, count=5)
    plain = authors.listing(count=True)

    def act(model: str, name: str, fn: Any, **options: Any) -> None:
        gw.acts.act(model, name, public=True, **options)(fn)

    details = lambda read: lambda body: read(body["details"])  # noqa: E731 - what each act does
    act("book", "list", details(listing.page), set={**listing.set}, get=1, mode="create", returns=listing.returns)
    act("author", "list", details(plain.page), set={**plain.set}, get=1, returns=plain.returns)
    stuck = lambda body: {"rows": [], "next": "again"}  # noqa: E731
    act(
        "book",
        "stuck",
        stuck,
        set={"after": optional(string)},
        get=1,
        returns={"rows": "many", "next": nullable(string)},
    )
    # Each lacks something of a list by page.
    numbered = {"after": optional(integer())}
    act("book", "numbered", stuck, set=numbered, get=1, returns={"rows": "many", "next": nullable(string)})
    needed = {"after": string()}
    act("book", "needed", stuck, set=needed, get=1, returns={"rows": "many", "next": nullable(string)})
    act("book", "endless", stuck, set={**plain.set}, get=1, returns={"rows": "many"})
    act("book", "unnamed", stuck, set={**plain.set}, get=1, returns="many")
    act("book", "whole", stuck, get=1, returns=listing.returns)
    return gw
