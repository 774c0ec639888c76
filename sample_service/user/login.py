"""user.login: an e-mail and a password for a token. Source: specification 16.2."""

from __future__ import annotations

import secrets
from typing import Any

from gatewayfw import Unauthenticated, array, enums, object_, object_id, optional, string

from ..service import Body, Service
from .model import ROLE

REFUSED = "wrong e-mail or password"


def register(service: Service) -> None:
    """Register the act."""
    users, hasher, tokens = service.users, service.hasher, service.auth.tokens
    hash_of_nobody = hasher.hash(secrets.token_hex())  # so that an unknown e-mail takes as long

    @service.gw.acts.act(
        "user",
        "login",
        set={"email": string(), "password": string()},  # no size: a longer one is merely wrong
        get={
            "token": optional(enums(0, 1)),
            "roles": optional(enums(0, 1)),
            "user": optional(service.gw.schemas.select_struct("user", 1)),
        },
        public=True,
        limit=service.login_limit,
        returns={"token": string(), "roles": array(object_({"roleId": object_id(), **ROLE})), "user": "optional"},
    )
    def login(body: Body) -> dict[str, Any]:
        """Return a token, the user and their roles. Each `roleId` can be used as `activeRoleId`."""
        given, wanted = body["details"]["set"], body["details"]["get"]
        user = users.find_one(
            filters={"email": given["email"]}, projection={"isActive": 1, "roles": 1}, reveal=["password"]
        )
        stored = hash_of_nobody if user is None else user.get("password", hash_of_nobody)
        right = hasher.verify(given["password"], stored)
        if user is None or not right or user.get("isActive") is False:
            raise Unauthenticated(REFUSED)
        if hasher.needs_rehash(stored):
            users.find_one_and_update(
                filter={"_id": user["_id"], "password": stored},
                update={"$set": {"password": hasher.hash(given["password"])}},
                reveal=["password"],
            )
        reply: dict[str, Any] = {}
        if wanted.get("token"):
            reply["token"] = tokens.issue({"_id": str(user["_id"])})
        if wanted.get("roles"):
            reply["roles"] = user.get("roles", [])
        if "user" in wanted:
            reply["user"] = users.find_one(filters={"_id": user["_id"]}, projection=wanted["user"])
        return reply
