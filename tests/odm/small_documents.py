"""Storages that hold smaller documents than MongoDB does, and models whose windows outgrow them."""

from __future__ import annotations

from bson import encode

from gatewayfw.errors import TooLarge
from gatewayfw.odm import Odm
from gatewayfw.odm.upkeep.integrity import Integrity
from gatewayfw.schemas import Schemas, defaulted, integer, optional, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, MongoStorage
from tests.odm.oracle import check, copy_to_memory

#: Most bytes of a document. What one writer may write fits: a user, with all that it is related to, has at most 4,500.
MOST = 6_000
#: Most characters of a user's text and of an organization's.
MOST_TEXT, MOST_ABOUT = 800, 300
MODELS = ("user", "org")


class LimitedMongo(MongoStorage):
    """A MongoDB that refuses documents as the server does, but of other sizes."""

    def insert(self, collection, documents):
        self.transaction(lambda: (super(LimitedMongo, self).insert(collection, documents), self._judge(collection)))

    def _update_one(self, collection, *args):
        def write():
            found = super(LimitedMongo, self)._update_one(collection, *args)
            self._judge(collection)
            return found

        return self.transaction(write)

    def _update(self, collection, changes, *args, **keys):
        def write():
            matched = super(LimitedMongo, self)._update(collection, changes, *args, **keys)
            self._judge(collection)
            return matched

        return self.transaction(write)

    def _judge(self, collection):
        is_large = {"$expr": {"$gt": [{"$bsonSize": "$$ROOT"}, self.most_bytes]}}
        with self._command() as session:
            if self._db[collection].find_one(is_large, session=session) is not None:
                raise TooLarge("the document would be too large")


def limited(database, most=MOST):
    """Return a storage over a database of mongomock or PyMongo whose documents have ``most`` bytes at most."""
    storage = (MockStorage if type(database).__module__.startswith("mongomock") else LimitedMongo)(database)
    storage.most_bytes = most
    return storage


def define_models(odm):
    """Users of organizations, with every kind of reverse relation; users are each other's mates."""
    by_rank = {"field": "rank", "order": "asc"}
    odm.new_model(
        "user",
        {"name": string(), "text": string(size=(0, 100_000)), "rank": defaulted(integer(), 0)},
        {
            "orgs": {
                "schemaName": "org",
                "type": "multiple",
                "optional": True,
                "limit": 3,
                "relatedRelations": {
                    "users": {"type": "multiple", "limit": 4, "sort": by_rank},
                    "latest": {"type": "multiple", "limit": 3},
                    "head": {"type": "single"},
                },
            },
            "mates": {
                "schemaName": "user",
                "type": "multiple",
                "optional": True,
                "limit": 2,
                "relatedRelations": {"mateOf": {"type": "multiple", "limit": 3}},
            },
        },
    )
    odm.new_model(
        "org",
        {"name": string(), "about": defaulted(string(size=(0, 100_000)), ""), "number": optional(integer())},
        {
            "owner": {
                "schemaName": "user",
                "type": "single",
                "optional": True,
                "relatedRelations": {"owns": {"type": "multiple", "limit": 2}},
            }
        },
    )


class Club:
    """Users and their organizations on a storage of small documents, and what tests do with them and ask of them."""

    def __init__(self, storage, **settings):
        self.storage = storage
        self.odm = Odm(Schemas(Settings(windows_bytes=MOST // 2)), Settings(**settings))
        self.odm.set_db(storage)
        define_models(self.odm)
        self.user, self.org = self.odm.model("user"), self.odm.model("org")
        self.odm.ready()

    def add_user(self, text="", orgs=(), name="u", flags=("users", "latest", "head"), **more):
        relations = {"orgs": {"_ids": list(orgs), "relatedRelations": dict.fromkeys(flags, True)}} if orgs else {}
        return self.user.insert_one(doc={"name": name, "text": text, **more}, relations=relations)["_id"]

    def add_org(self, name="o", about=""):
        return self.org.insert_one(doc={"name": name, "about": about})["_id"]

    def change(self, model, id_, **fields):
        return model.find_one_and_update(filter={"_id": id_}, update={"$set": fields})

    def stored(self, model, id_):
        return next(self.storage.find(model.name, {"_id": id_}))

    def ids(self, org, window="users"):
        return [one["_id"] for one in self.stored(self.org, org).get(window, [])]

    def cut(self, model, id_):
        noted = self.stored(model, id_).get("_gw", {}).get("cut", {})
        return {name: share for name, share in noted.items() if share is not None}

    def problems(self):
        """Everything that is not right: to the judge of the tests, to `check`, and in size."""
        schemas, stored = self.odm.schemas, copy_to_memory(self.odm.schemas, self.storage)
        large = [one for name in MODELS for one in stored.find(name, {}) if len(encode(one)) > MOST]
        integrity = Integrity(schemas, stored)
        return [*check(schemas, stored), *integrity.check(), *integrity.misfits(), *large]
