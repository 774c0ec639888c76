"""Deletes: what is refused."""

from __future__ import annotations

from gatewayfw.errors import (
    StillReferenced,
)


def test_a_holder_is_counted_once_however_it_holds(world, land, refused):
    world.add_person("p", {"born": {"_ids": land}, "visited": {"_ids": [land]}})
    message = "country is still referenced (person: 1)"
    refused(StillReferenced, message, lambda: world.country.delete_one(filter={"_id": land}))
