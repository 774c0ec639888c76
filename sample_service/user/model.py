"""The model user. Source: specification 9; the roles and the features are our choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatewayfw import Gateway, array, boolean, defaulted, enums, object_, object_id, optional, string
from gatewayfw.odm import Model
from gatewayfw.schemas import ReverseShape

from ..access import ROLE_NAMES
from ..mixins import EMAIL, NAME

FEATURES = array(object_({"feature": enums("reports", "exports", "invitations")}), size=(None, 20))
MOST_ROLES = 50

#: A role without its ``roleId``: what the user may do, and for a head of something, where.
ROLE = {
    "name": enums(ROLE_NAMES),
    "scopeType": optional(enums("organization", "unit")),
    "scopeId": optional(object_id()),
}

_NEWEST_FIRST: ReverseShape = {
    "type": "multiple",
    "limit": 100,
    "sort": {"field": "_id", "order": "desc"},
    "excludes": ["roles", "isGhost"],  # a copy says who someone is, not what they may do
}


def define_user(gw: Gateway) -> Model:
    """Define user; the password's hash is in no reply and no copy."""
    users = gw.odm.new_model(
        "user",
        {
            "first_name": NAME,
            "last_name": NAME,
            "email": EMAIL,
            "password": string(size=(None, 500)),  # the hash
            "position": optional(NAME),
            "isActive": defaulted(boolean(), True),
            "features": optional(FEATURES),
            "roles": optional(array(object_({"roleId": object_id(), **ROLE}), size=(None, MOST_ROLES))),
            "isGhost": optional(boolean()),
        },
        {
            "avatar": {"schemaName": "file", "type": "single", "optional": True},
            "organizations": {
                "schemaName": "organization",
                "type": "multiple",
                "optional": True,
                "relatedRelations": {"users": _NEWEST_FIRST},
            },
            "units": {
                "schemaName": "unit",
                "type": "multiple",
                "optional": True,
                "relatedRelations": {"members": _NEWEST_FIRST},
            },
        },
        {
            "createIndex": {"indexSpec": {"email": 1}, "options": {"unique": True}},
            "excludes": ["password"],
        },
    )
    gw.odm.migration("2026-11 active users", "user", default={"isActive": True})  # those of before there was `isActive`
    return users


def relation_input(ids: Mapping[str, Any]) -> dict[str, Any]:
    """Return the relation input for the ids given under `avatar`, `organizations` and `units`."""
    relations: dict[str, Any] = {}
    if "avatar" in ids:
        relations["avatar"] = {"_ids": ids["avatar"]}
    if "organizations" in ids:
        relations["organizations"] = {"_ids": ids["organizations"], "relatedRelations": {"users": True}}
    if "units" in ids:
        relations["units"] = {"_ids": ids["units"], "relatedRelations": {"members": True}}
    return relations
