"""A shop of books with authors, and listings of them."""

from __future__ import annotations

import pytest

from gatewayfw import Gateway, array, boolean, date, decimal, integer, nullable, object_, optional, string

BOOK = {
    "title": string(size=(1, 60)),
    "year": optional(nullable(integer())),
    "price": optional(decimal(places=2)),
    "out": optional(date()),
    "lent": optional(boolean()),
    "tags": optional(array(string(size=(1, 20)), size=(0, 5))),
    "printed": optional(object_({"city": string(size=(1, 20))})),
    "secret": optional(string()),
}


class Shop:
    """Models of authors and books, and what reads pages of books."""

    def __init__(self, database):
        self.gateway = Gateway()
        self.odm = self.gateway.odm
        self.odm.set_db(database, memory=True)
        self.authors = self.odm.new_model("author", {"name": string(size=(1, 30))})
        relation = {"schemaName": "author", "type": "single", "optional": True, "relatedRelations": {}}
        self.books = self.odm.new_model("book", BOOK, {"author": relation}, {"excludes": ["secret"]})

    def add(self, title, author=None, **fields):
        """Insert a book and return its id."""
        relations = None if author is None else {"author": {"_ids": author, "relatedRelations": {}}}
        return self.books.insert_one({"title": title, **fields}, relations=relations)["_id"]

    def pages(self, listing, get=None, where=None, **given):
        """Return the rows of all pages, one list for each."""
        pages, after = [], {}
        while after is not None:
            page = listing.page({"set": {**given, **after}, "get": get or {"title": 1}}, where=where)
            pages.append(page["rows"])
            after = page["next"] and {"after": page["next"]}
        return pages

    def titles(self, listing, **given):
        """Return the titles on all pages."""
        return [row["title"] for page in self.pages(listing, **given) for row in page]


@pytest.fixture
def shop(database):
    return Shop(database)
