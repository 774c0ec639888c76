"""Models that tests of several files define, and what their storage holds."""

from __future__ import annotations

from gatewayfw.schemas import string

#: The window `first` of a shop.
FIRST = {"type": "multiple", "limit": 2, "sort": {"field": "x", "order": "desc"}}


def define_offers(odm, fields):
    """Define shops, and offers with these fields, of which a shop lists the two with the highest ``x``; return both."""
    shop = odm.new_model("shop", {"name": string()})
    relation = {"schemaName": "shop", "type": "single", "relatedRelations": {"first": FIRST}}
    return shop, odm.new_model("offer", fields, {"shop": relation})


def add_shop(shop):
    """Add a shop; return its id, and the relation input of an offer that it may list."""
    id_ = shop.insert_one(doc={"name": "a"}, projection={"_id": 1})["_id"]
    return id_, {"shop": {"_ids": id_, "relatedRelations": {"first": True}}}


def read_stored(odm, model, filter):
    """Return what the database holds of the only document that matches, without what is hidden."""
    (found,) = odm.storage.find(model.name, filter)
    return {name: value for name, value in found.items() if name not in ("_id", "_gw")}
