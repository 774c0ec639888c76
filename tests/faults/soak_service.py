"""A service that uses all that may pile up: jobs, stored replies, files, cursors, sessions."""

from __future__ import annotations

import os
from itertools import islice

from gatewayfw import GridFsFiles, file, gateway

#: How long replies are kept.
KEPT = "20s"
#: Copies that a rename writes itself; a land has more cities.
INLINE = 20


def make(uri):
    """Return the gateway."""
    gw = gateway(link_key="k" * 32, max_batch=10, inline_limit=INLINE)
    gw.odm.set_db(uri)
    gw.files.use(GridFsFiles())
    gw.files.model("file", public=True)
    name = gw.schemas.string()
    lands = gw.odm.new_model("land", {"name": name})
    reverse = {"cities": {"type": "multiple", "limit": 10}}
    cities = gw.odm.new_model(
        "city",
        {"name": name},
        {"land": {"schemaName": "land", "type": "single", "relatedRelations": reverse}},
        {"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}},
    )

    def act(model, act_name, set_, idempotent=KEPT):
        shared = {"idempotent": idempotent, "idempotent_by": lambda body: "all"} if idempotent else {}
        return gw.acts.act(model, act_name, set=set_, get=1, public=True, **shared)

    @act("land", "rename", {"_id": gw.schemas.object_id(), "name": name})
    def rename(body):
        given = body["details"]["set"]
        update = {"$set": {"name": given["name"]}}
        return lands.find_one_and_update({"_id": given["_id"]}, update, projection=body["details"]["get"])

    @act("city", "add", {"name": name, "land": gw.schemas.object_id()}, None)
    @act("city", "addOnce", {"name": name, "land": gw.schemas.object_id()})
    def add(body):
        given = body["details"]["set"]
        links = {"land": {"_ids": given["land"], "relatedRelations": {"cities": True}}}
        return cities.insert_one({"name": given["name"]}, relations=links, projection=body["details"]["get"])

    @act("city", "remove", {"name": name})
    def remove(body):
        cities.delete_one({"name": body["details"]["set"]["name"]})

    @gw.acts.act("city", "all", get=1, returns="many", public=True)
    def show_all(body):
        return cities.find({}, projection=body["details"]["get"])

    @gw.acts.act("city", "some", get=1, returns="many", public=True)
    def show_some(body):
        """Leave a cursor in its middle."""
        return list(islice(cities.find({}, projection=body["details"]["get"]), 3))

    @act("file", "add", {"file": file(most=10**6)})
    def keep(body):
        return gw.files.insert(body["details"]["set"]["file"], projection=body["details"]["get"])

    @act("file", "lose", {"file": file(most=10**6)}, None)
    def lose(body):
        """Store bytes, but no document."""
        return gw.files.insert(body["details"]["set"]["file"], doc={"name": ""}, projection=body["details"]["get"])

    @act("file", "remove", {"_id": gw.schemas.object_id()})
    def drop(body):
        gw.odm.model("file").delete_one({"_id": body["details"]["set"]["_id"]})

    return gw


def create_app():
    """Return the app, for gunicorn and for flask."""
    return make(os.environ["MONGODB_URI"]).create_app()
