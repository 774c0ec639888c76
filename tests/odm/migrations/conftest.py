"""Fixtures of the tests of migrations: one database, deployed with changing definitions."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings

#: How items relate to their owner, one relation of each form.
FORMS = {
    "by": {"type": "single", "relatedRelations": {"items": {"type": "multiple", "default": True}}},
    "all": {"type": "multiple", "relatedRelations": {"last": {"type": "single", "default": True}}},
    "then": {"type": "single", "frozen": True},
    "once": {"type": "multiple", "frozen": True},
}


class Shop:
    """Owners, and items that embed them in relations of each form."""

    def __init__(self, db, owner, item=None, limit=100, options=None):
        self.db = db
        self.odm = Odm(Schemas(Settings()), Settings(inline_limit=limit, fan_out_thread=False))
        self.odm.set_db(db)
        self.owner = self.odm.new_model("owner", owner, options=options)
        relations = {name: {"schemaName": "owner", "optional": True, **form} for name, form in FORMS.items()}
        self.item = self.odm.new_model("item", item or {"title": string()}, relations)

    def add(self, owner, **title):
        """Add an owner and an item that embeds it four times; return both ids."""
        id_ = self.owner.insert_one(owner)["_id"]
        relations = {name: {"_ids": id_ if form["type"] == "single" else [id_]} for name, form in FORMS.items()}
        return id_, self.item.insert_one(title or {"title": "t"}, relations=relations)["_id"]

    def run(self, **migration):
        """Declare one migration of owners, run it, and return how many it changed, left and listed."""
        self.odm.migration("m", "owner", **migration)
        return self.told()

    def told(self, **keys):
        """Run what is declared; return how many each changed, left and listed."""
        return [(one["changed"], one["left"], len(one["listed"])) for one in self.odm.migrate(**keys)]

    def problems(self):
        """Return what a check finds."""
        return [(problem.path, problem.reason) for problem in self.odm.integrity.check()]

    def owner_of(self, id_):
        """Return the pure fields of a stored owner, without its id, its lists and its notes."""
        stored = self.db.owner.find_one({"_id": id_})
        return {name: value for name, value in stored.items() if name not in ("_id", "_gw", "items", "last")}

    def copies_of(self, id_):
        """Return the four copies in a stored item, in the order of their relations, without their ids."""
        stored = self.db.item.find_one({"_id": id_})
        found = [stored[name] if isinstance(stored[name], list) else [stored[name]] for name in FORMS]
        return [{name: value for name, value in copy.items() if name != "_id"} for (copy,) in found]


@pytest.fixture
def deploy(database):
    """A function that gives a shop on the same database, with these fields of its owners."""
    return lambda owner, **more: Shop(database, owner, **more)


@pytest.fixture
def define():
    """A function that gives a shop with these fields of its owners, to declare migrations of it."""
    return lambda owner, **more: Shop(mongomock.MongoClient().test, owner, **more)
