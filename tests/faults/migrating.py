"""Two versions of a service that sells items of owners, and processes that write with each while one migrates.

As a program: ``python -m tests.faults.migrating ROLE``, where the role is a version that writes until standard input
ends, or `migrate`. ``MONGODB_URI`` names the database. A writer tells of each acknowledged write on standard output.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
import threading

from bson import ObjectId

from gatewayfw.errors import GatewayError
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, integer, optional, string
from gatewayfw.settings import Settings

FIELDS = {
    "old": {"number": integer(), "mail": optional(string()), "age": optional(string()), "hits": integer()},
    "new": {
        **{"number": integer(), "email": optional(string()), "age": optional(integer()), "hits": integer()},
        "level": optional(integer()),
    },
}
#: What `default` fills in.
LEVEL = 3
#: Seconds that a writer rests after each write, so that others get somewhere, too.
PAUSE = 0.05


def deploy(version):
    """Return the models of a version, the new one with its migrations."""
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(os.environ["MONGODB_URI"])
    odm.new_model("owner", FIELDS[version])
    to = {"schemaName": "owner", "optional": True}
    relations = {"by": {**to, "type": "multiple"}, "then": {**to, "type": "single", "frozen": True}}
    odm.new_model("item", {"title": string()}, relations)
    if version == "new":
        odm.migration("email", "owner", rename={"mail": "email"}, prefer="old")
        odm.migration("level", "owner", default={"level": LEVEL})
        odm.migration("age", "owner", convert=["age"])
    return odm


class Writer:
    """Writes owners whose number is its own, counts hits of all owners, and adds items of them."""

    def __init__(self, version):
        self._version = version
        self._odm = deploy(version)
        self._owner, self._item = self._odm.model("owner"), self._odm.model("item")
        self._chance = random.Random(version)
        self._numbers = [one["number"] for one in self._owner.find({}, projection={"number": 1, "_id": 0})]
        self._own = [number for number in self._numbers if number % 3 == (version == "new")]
        self._count = itertools.count()

    def write_until(self, ended):
        while not ended.wait(PAUSE):
            write = self._chance.choice([*[self._change] * 4, self._hit, self._hit, self._add, self._sell])
            try:
                told = write()
            except GatewayError:  # it was rolled back
                continue
            if told is not None:
                print(json.dumps(told), flush=True)
        self._odm.storage.close()

    def _change(self):
        """Change a field of an owner; the new version lets addresses be until they have their new name."""
        number, n = self._chance.choice(self._own), next(self._count)
        if self._version == "old":
            change = self._chance.choice([{"mail": f"old {n}"}, {"age": str(n)}])
        else:
            change = self._chance.choice([{"email": f"new {n}"}, {"age": n}, {"level": n}])
        wanted = {"number": number, **{name: {"$exists": True} for name in change if name == "email"}}
        done = self._owner.find_one_and_update(wanted, {"$set": change}, projection={"number": 1})
        return done and {"number": number, "set": change}

    def _hit(self):
        number = self._chance.choice(self._numbers)
        self._owner.find_one_and_update({"number": number}, {"$inc": {"hits": 1}})
        return {"number": number, "hit": 1}

    def _add(self):
        n = next(self._count)
        number = 1_000_000 + 3 * n + (self._version == "new")
        values = (
            {"mail": f"old {n}", "age": str(n)}
            if self._version == "old"
            else {"email": f"new {n}", "age": n, "level": n}
        )
        self._owner.insert_one({"number": number, "hits": 0, **values})
        return {"number": number, "set": values}

    def _sell(self):
        wanted = {"number": {"$in": self._chance.sample(self._numbers, 3)}}
        ids = [one["_id"] for one in self._owner.find(wanted, projection={"_id": 1})]
        title = f"{self._version} {next(self._count)}"
        self._item.insert_one({"title": title}, relations={"by": {"_ids": ids}, "then": {"_ids": ids[0]}})
        return {"item": title, "owners": len(ids)}


def owners(number):
    """Return that many owners as the old version stores them; of every tenth the age is missing."""
    plain = ({"_id": ObjectId(), "number": n, "mail": f"m{n}", "hits": 0} for n in range(number))
    return [{**one, "age": str(one["number"])} if one["number"] % 10 else one for one in plain]


def items_of(stored, copies):
    """Return as many items as owners, so that each owner is in so many of them, and frozen in one."""
    for n in range(len(stored)):
        by = [stored[(n + step) % len(stored)] for step in range(copies)]
        yield {"_id": ObjectId(), "title": f"item {n}", "by": by, "then": stored[n]}


def main(role):
    if role == "migrate":
        odm = deploy("new")
        odm.ready()
        print(json.dumps([[one["changed"], one["left"], one["listed"]] for one in odm.migrate()], default=str))
        odm.storage.close()
        return
    ended = threading.Event()
    writing = threading.Thread(target=Writer(role).write_until, args=[ended])
    writing.start()
    sys.stdin.read()
    ended.set()
    writing.join()


if __name__ == "__main__":
    main(sys.argv[1])
