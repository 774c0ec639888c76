"""A service whose one act takes a second and writes twice: what a server is stopped with.

As a program it serves itself with ``run_server``: ``python -m tests.faults.slow_service PORT``.
``MONGODB_URI`` names the database. A line in the file ``STARTED`` tells of each act that has begun.
"""

from __future__ import annotations

import os
import sys
import time

from gatewayfw import gateway

SECONDS = 1.0


def make():
    """Return the gateway."""
    gw = gateway()
    gw.odm.set_db(os.environ["MONGODB_URI"])
    models = [gw.odm.new_model(name, {"key": gw.schemas.string()}, {}) for name in ("first", "second")]

    def write(body):
        with open(os.environ["STARTED"], "a") as started:
            started.write("started\n")
        doc = {"key": body["details"]["set"]["key"]}
        models[0].insert_one(doc=doc)
        time.sleep(SECONDS)
        models[1].insert_one(doc=doc)
        return doc["key"] + "x" * 100_000

    validator = gw.schemas.object_({"set": {"key": gw.schemas.string()}, "get": {}})
    gw.acts.set_act(schema="first", act_name="write", validator=validator, fn=write)
    return gw


def create_app():
    """Return the app, for gunicorn."""
    return make().create_app()


if __name__ == "__main__":
    make().run_server(port=int(sys.argv[1]))
