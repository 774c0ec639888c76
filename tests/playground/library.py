"""A service with a listing of books, and what it was sent."""

from __future__ import annotations

from datetime import datetime

import mongomock

from gatewayfw import Gateway, gateway
from gatewayfw.schemas import boolean, date, integer, nullable, optional, string
from tests.playground.echo import Recorder

#: Rows of a page, of books, and that are counted.
PAGE, BOOKS, COUNTED = 5, 23, 20
FILTERS = {
    "year": ["eq", "gte", "lt", "in", "exists"],
    "title": ["eq", "prefix", "contains"],
    "author._id": ["eq", "in"],
    "lent": ["eq"],
    "out": ["gte"],
}


def title_of(number: int) -> str:
    """Return the title of a book, in whose order they are listed."""
    return f"Book {number:02}"


def library_gateway() -> Gateway:
    """Return a gateway with the act ``listBooks`` and 23 books by two authors."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    authors = gw.odm.new_model("author", {"name": string(size=(1, 30))}, {})
    pure = {
        "title": string(size=(1, 60)),
        "year": optional(nullable(integer())),
        "lent": optional(boolean()),
        "out": optional(date()),
    }
    author = {"schemaName": "author", "type": "single", "relatedRelations": {}}
    books = gw.odm.new_model("book", pure, {"author": author})
    listing = books.listing(
        filter=FILTERS, sort=["title", "year"], default_sort="title", most=100, default=PAGE, count=COUNTED
    )

    @gw.acts.act("book", "listBooks", set={**listing.set}, get=1, public=True, mode="create", returns=listing.returns)
    def list_books(body):
        """Books, filtered and by page."""
        return listing.page(body["details"])

    ids = [authors.insert_one({"name": name})["_id"] for name in ("Ann", "Bob")]
    for number in range(BOOKS):
        book = {"title": title_of(number), "year": 2000 + number, "lent": number % 2 == 0, "out": datetime(2020, 1, 1)}
        books.insert_one(book, relations={"author": {"_ids": ids[number % 2], "relatedRelations": {}}})
    return gw


def library_app(bodies: list[str]) -> Recorder:
    """Return an application with the books. What is sent to it goes to ``bodies``."""
    return Recorder(library_gateway().create_app(playground=True), bodies)
