"""A process that counts in one document by its revisions, while jobs bring each count to its holders.

Run as a program it counts so many times and prints how often another process was first:

    python -m tests.faults.revisions mongodb://127.0.0.1:27017/counted?replicaSet=rs0 6b03a821d2b4bb122c2b9b5d 200
"""

from __future__ import annotations

import sys

from gatewayfw import Stale, gateway, integer, string

HOLDERS = 30


def open_models(uri):
    """Return the gateway, with the counters and what holds them; each count leaves a job."""
    gw = gateway(inline_limit=2)
    gw.odm.set_db(uri)
    counters = gw.odm.new_model("counter", {"count": integer()})
    holders = gw.odm.new_model(
        "holder",
        {"name": string()},
        {"counter": {"schemaName": "counter", "type": "single", "relatedRelations": {}}},
    )
    return gw, counters, holders


def count(counters, id_, times):
    """Add 1 so many times by reading and writing; return how often the document had changed in between."""
    lost = 0
    while times:
        found = counters.find_one({"_id": id_}, projection={"count": 1, "_rev": 1})
        try:
            counters.find_one_and_update({"_id": id_}, {"$set": {"count": found["count"] + 1}}, rev=found["_rev"])
        except Stale:
            lost += 1
        else:
            times -= 1
    return lost


def main():
    uri, id_, times = sys.argv[1:]
    gw, counters, _ = open_models(uri)
    gw.odm.ready()
    print(count(counters, id_, int(times)), flush=True)
    gw.odm.storage.close()


if __name__ == "__main__":
    main()
