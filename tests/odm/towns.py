"""Lands, towns and guests with ids that tests know, on a storage that notes its commands."""

from __future__ import annotations

from bson import ObjectId

from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, integer, optional, string
from gatewayfw.settings import Settings
from gatewayfw.storage import Lock
from tests.odm.noted import note_commands

LAND, SEA, ROME, BONN, ANN, BOB, NEW = (ObjectId(f"{number:024x}") for number in range(1, 8))
#: The version that the clock gives.
V = 1_000_000
#: How documents of one's own are locked, and targets, which must not have a cut window.
LOCK, UNCUT = Lock("_gw.rev"), Lock("_gw.rev", unmarked="_gw.cut")
LAND_COPY, SEA_COPY = {"_id": LAND, "name": "land"}, {"_id": SEA, "name": "sea"}
ROME_COPY = {"_id": ROME, "name": "rome", "size": 5}
BONN_COPY = {"_id": BONN, "name": "bonn"}
ANN_COPY = {"_id": ANN, "name": "ann"}
NEW_COPY = {"_id": NEW, "name": "new"}


def define_towns(odm):
    """Define lands that list their towns and guests, guests who live in towns, and deeds, which keep frozen copies."""
    odm.new_model("land", {"name": string(), "code": optional(string())}, options={"excludes": ["code"]})
    by_size = {"type": "multiple", "limit": 2, "sort": {"field": "size", "order": "desc"}}
    listed = {"towns": {"type": "multiple", "limit": 3}, "largest": by_size, "capital": {"type": "single"}}
    land = {"schemaName": "land", "type": "single", "relatedRelations": listed}
    odm.new_model("town", {"name": string(), "size": optional(integer())}, {"land": land})
    visited = {"schemaName": "land", "type": "multiple", "optional": True}
    visited["relatedRelations"] = {"guests": {"type": "multiple", "limit": 2}}
    home = {"schemaName": "town", "type": "single", "optional": True}
    odm.new_model("guest", {"name": string()}, {"visited": visited, "home": home})
    odm.new_model("deed", {}, {"of": {"schemaName": "land", "type": "single", "frozen": True}})


class Towns:
    """The models, two lands, the first with two towns and a guest; a transaction may write so many copies.

    Attributes:
        commands: those that the storage got since then, but for commands about jobs.
        job_commands: the names of those about jobs.
    """

    def __init__(self, storage, limit=3):
        self.storage = storage
        self.odm = Odm(Schemas(Settings()), Settings(inline_limit=limit))
        self.odm.set_db(storage)
        define_towns(self.odm)
        self.land, self.town, self.guest, self.deed = (
            self.odm.model(name) for name in ("land", "town", "guest", "deed")
        )
        self.odm.ready()
        for name in ("land", "town", "guest", "deed", "_gw_jobs"):
            storage.delete_many(name, {})
        lists = {"towns": [BONN_COPY, ROME_COPY], "largest": [ROME_COPY, BONN_COPY]}
        storage.insert("land", [{**LAND_COPY, **lists}, SEA_COPY])
        storage.insert("town", [{**ROME_COPY, "land": LAND_COPY}, {**BONN_COPY, "land": LAND_COPY}])
        out = {"out": {"visited": {"guests": [LAND]}}}
        storage.insert("guest", [{**ANN_COPY, "visited": [LAND_COPY], "home": ROME_COPY, "_gw": out}])
        storage.insert("guest", [{"_id": BOB, "name": "bob"}])
        self._noted = note_commands(storage)

    @property
    def commands(self):
        return [one for one in self._noted if one[1] != "_gw_jobs"]

    @property
    def job_commands(self):
        return [one[0] for one in self._noted if one[1] == "_gw_jobs"]

    def jobs(self):
        return sorted((job.kind, job.id, job.relation, job.v, job.targets) for job in self.odm.jobs())


def related(name, ids, **flags):
    """Return the relation input of one relation."""
    return {name: {"_ids": ids, "relatedRelations": flags}}


def alone(path, id_):
    """Return the filter of what holds a single copy of a document."""
    return {f"{path}._id": id_, path: {"$not": {"$elemMatch": {"_id": id_}}}}


def asked(target, id_, **left):
    """Return the commands that lock a document and ask whether its windows list who leaves, by window."""
    ways = [{f"{window}._id": {"$in": ids}} for window, ids in sorted(left.items())]
    filter = ways[0] if len(ways) == 1 else {"$or": ways}
    return ("touch", target, {"_id": id_, **filter}, (), {"lock": UNCUT})


def members(window, land):
    """Return the command that reads a window from its members."""
    if window == "guests":
        visits, out = {"visited._id": land}, {"_gw.out.visited.guests": {"$ne": land}}
        listed = {"_gw.in.visited.guests": land, **visits}
        filter = {"$or": [{**visits, "_gw.some.visited.guests": {"$exists": False}, **out}, listed]}
        return ("find", "guest", filter, ("name",), {"sort": (("_id", -1),), "limit": 2})
    listed = {"$or": [{f"_gw.some.land.{window}": {"$exists": False}}, {f"_gw.in.land.{window}": land}]}
    filter = {"land._id": land, f"_gw.out.land.{window}": {"$exists": False}, **listed}
    orders = {"towns": ((("_id", -1),), 3), "largest": ((("size", -1), ("_id", 1)), 2)}
    sort, limit = orders[window]
    return ("find", "town", filter, ("name", "size"), {"sort": sort, "limit": limit})
