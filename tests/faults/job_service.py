"""A service with a document that many others embed, one act that changes it, and two that write alone.

As a program it serves itself with ``run_server``: ``python -m tests.faults.job_service SERVER PORT``. ``MONGODB_URI``
names the database.
"""

from __future__ import annotations

import os
import sys
import time

from gatewayfw import DefinitionError, gateway

#: Seconds for which the transaction of the act `hold` stays open.
HELD = 2.0


def make():
    """Return the gateway."""
    gw = gateway()
    gw.odm.set_db(os.environ["MONGODB_URI"])
    names = {"name": gw.schemas.string()}
    lands = gw.odm.new_model("land", names)
    gw.odm.new_model("city", names, {"land": {"schemaName": "land", "type": "single"}})

    @gw.acts.act("land", "rename", set={"name": gw.schemas.string()})
    def rename(body):
        lands.find_one_and_update({"name": {"$exists": True}}, {"$set": body["details"]["set"]})

    @gw.acts.act("land", "add", set={"name": gw.schemas.string()})
    def add(body):
        lands.insert_one(body["details"]["set"])

    @gw.acts.act("land", "hold", set={"name": gw.schemas.string()})
    def hold(body):
        def hold():
            lands.insert_one(body["details"]["set"])
            time.sleep(HELD)
            raise DefinitionError("rolled back")

        gw.odm.transaction(hold)

    return gw


def create_app():
    """Return the app, for gunicorn."""
    return make().create_app()


if __name__ == "__main__":
    make().run_server(server=sys.argv[1], port=int(sys.argv[2]), workers=1)
