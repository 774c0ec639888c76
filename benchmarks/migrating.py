"""How long migrations take and were planned, and what a search for misfits costs."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bson import ObjectId
from pymongo import MongoClient
from pymongo.database import Database

from gatewayfw import gateway, integer, optional, string
from gatewayfw.odm import Odm

Document = dict[str, Any]
#: Documents that are stored at once.
_STORED = 5_000
#: Seconds that a search may take.
_LONGEST = 1_800.0


def make_odm(database: Database[Document]) -> Odm:
    """Return models of owners, and of items that embed several, with migrations."""
    odm = gateway().odm
    odm.set_db(database)
    names = ("name", "email", "street", "city")
    odm.new_model("owner", {**{name: optional(string()) for name in names}, "age": integer(), "level": integer()})
    odm.new_model("item", {"title": string()}, {"by": {"schemaName": "owner", "type": "multiple", "optional": True}})
    odm.migration("rename", "owner", rename={"mail": "email"})
    odm.migration("default", "owner", default={"level": 3})
    odm.migration("convert", "owner", convert=["age"])
    return odm


def fill(database: Database[Document], number: int, copies: int) -> None:
    """Store owners as an old version did, each embedded in so many items."""
    for start in range(0, number, _STORED):
        owners = [{**_owner(n), "mail": f"{n}@example.com", "age": str(n % 90)} for n in range(start, start + _STORED)]
        owners = owners[: number - start]
        database.owner.insert_many(owners)
        if copies:
            database.item.insert_many(_items(owners, copies))


def fill_fitting(database: Database[Document], first: int, number: int) -> None:
    """Store owners that fit, but for the age of each thousandth."""
    for start in range(first, number, _STORED):
        new = range(start, min(number, start + _STORED))
        owners = ({**_owner(n), "email": f"{n}@example.com", "level": 1, "age": n if n % 1000 else "old"} for n in new)
        database.owner.insert_many(owners)


def _owner(n: int) -> Document:
    return {"_id": ObjectId(), "name": f"owner {n}", "street": f"{n} street", "city": "city"}


def _items(owners: list[Document], copies: int) -> Iterator[Document]:
    for n in range(len(owners)):
        by = [owners[(n + step) % len(owners)] for step in range(copies)]
        yield {"_id": ObjectId(), "title": f"item {n}", "by": by}


def plan_and_run(database: Database[Document], number: int, copies: int) -> Iterator[tuple[str, float, float]]:
    """Yield each migration's name, its planned seconds, and those that it took."""
    for name in database.list_collection_names():
        database.drop_collection(name)
    odm = make_odm(database)
    odm.ready()
    fill(database, number, copies)
    for migration in odm.migrations.chosen():
        planned = odm.migrations.plan(migration).seconds
        start = time.monotonic()
        odm.migrations.run(migration)
        yield migration.name, planned or 0.0, time.monotonic() - start


def search(uri: str, database: Database[Document], number: int) -> Document:
    """Search for misfits in a process of its own.

    Return seconds of CPU, MB of memory, and how many it found."""
    fill_fitting(database, database.owner.estimated_document_count(), number)
    words = [sys.executable, "-m", "benchmarks.migrating", uri, database.name]
    root = Path(__file__).parent.parent
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=_LONGEST, check=True)
    return dict(json.loads(done.stdout))


def main(uri: str, name: str) -> None:
    """Search, and print the figures."""
    with MongoClient[Document](uri) as client:
        odm = make_odm(client[name])
        before = time.process_time()
        found = sum(one.count for one in odm.integrity.misfits())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": time.process_time() - before, "memory": peak, "misfits": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
