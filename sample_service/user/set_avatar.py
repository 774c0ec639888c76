"""user.setAvatar."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from gatewayfw import NotFound, StillReferenced, file

from ..service import Body, Service
from .model import relation_input


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "user",
        "setAvatar",
        # Within the client_max_body_size of nginx.conf.
        set={"avatar": file(most="900kB", types=["image/png", "image/jpeg", "image/webp"])},
        get=1,
        pre_act=service.signed_in,
    )
    def set_avatar(body: Body) -> dict[str, Any]:
        """Change the current user's picture. The old one is deleted unless another user has it."""
        details = body["details"]
        me = {"_id": service.caller["_id"]}
        before = service.users.find_one(me, projection={"avatar": {"_id": 1}})
        new = service.gw.files.insert(details["set"]["avatar"], projection={"_id": 1})
        user = service.users.add_relation(
            me, relations=relation_input({"avatar": new["_id"]}), replace=True, projection=details["get"]
        )
        if user is None:
            raise NotFound("user not found")
        if before and "avatar" in before:
            with suppress(StillReferenced):
                service.files.delete_one({"_id": before["avatar"]["_id"]})
        return user
