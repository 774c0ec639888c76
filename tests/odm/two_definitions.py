"""Two gateways on one database that define one relation differently, as while a new version is rolled out.

`judge` says, without framework code, what of the stored documents is wrong whichever definition is asked.
"""

from __future__ import annotations

from typing import NamedTuple

from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings

MODELS = ("author", "book", "review")
#: Members in a window.
LISTED = 2


class Form(NamedTuple):
    """One definition of the relation ``book.by``."""

    type: str
    optional: bool = False
    frozen: bool = False

    def fits(self, value):
        """Tell whether a stored value is of this form; nothing is of any form."""
        return value is None or isinstance(value, list) == (self.type == "multiple")


class Gateway:
    """Authors, books by them, and reviews of books, under one definition of ``book.by``."""

    def __init__(self, db, form, limit=100):
        self.form = form
        self.odm = Odm(Schemas(Settings()), Settings(inline_limit=limit, fan_out_thread=False))
        self.odm.set_db(db)
        self.author = self.odm.new_model("author", {"name": string()})
        by = {"schemaName": "author", "type": form.type, "optional": form.optional, "frozen": form.frozen}
        books = {"type": "multiple", "limit": LISTED, "default": True}
        by["relatedRelations"] = {"books": books, "latest": {"type": "single", "default": True}}
        self.book = self.odm.new_model("book", {"title": string()}, {"by": by})
        of = {"schemaName": "book", "type": "single"}
        self.review = self.odm.new_model("review", {"text": string()}, {"of": of})

    def add_author(self, name):
        return self.author.insert_one({"name": name})["_id"]

    def add_book(self, ids, title="t", listed=True):
        relations = {"by": self.relation(ids, listed)} if ids else None
        return self.book.insert_one({"title": title}, relations=relations)["_id"]

    def add_review(self, book):
        return self.review.insert_one({"text": "r"}, relations={"of": {"_ids": book}})["_id"]

    def relation(self, ids, listed=True):
        """Return relation input of this form; ``listed`` says whether the authors list the book."""
        wanted = list(ids) if self.form.type == "multiple" else ids[0]
        return {"_ids": wanted, "relatedRelations": {"books": listed}}

    def rename(self, author, name):
        return self.author.find_one_and_update({"_id": author}, {"$set": {"name": name}})

    def cascade(self, author):
        return self.author.delete_one({"_id": author}, hard_cascade=True)

    def relate(self, book, ids, replace=False, listed=True):
        relations = {"by": self.relation(ids, listed)}
        return self.book.add_relation(filters={"_id": book}, relations=relations, replace=replace)

    def part(self, book, ids):
        return self.book.remove_relation(filters={"_id": book}, relations={"by": {"_ids": self.relation(ids)["_ids"]}})

    def problems(self):
        """Return what `check` finds, as (path, reason) by ``_id``."""
        found = {}
        for problem in self.odm.integrity.check():
            found.setdefault(problem.id, set()).add((problem.path, problem.reason))
        return found


def copies_of(book):
    """Return the copies in a stored book, whatever their form."""
    value = book.get("by")
    return value if isinstance(value, list) else [] if value is None else [value]


def stored_in(db):
    """Return all documents of a database by model and ``_id``, without their locks."""
    return {name: {one["_id"]: _calm(one) for one in db[name].find()} for name in MODELS}


def _calm(document):
    hidden = {name: value for name, value in document.get("_gw", {}).items() if name != "rev"}
    return {**document, "_gw": hidden}
