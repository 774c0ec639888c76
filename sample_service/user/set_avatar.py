"""user.setAvatar."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, file

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

        def replace() -> dict[str, Any]:
            before = service.users.find_one(me, projection={"avatar": {"_id": 1}})
            new = service.gw.files.insert(details["set"]["avatar"], projection={"_id": 1})
            user = service.users.add_relation(
                me, relations=relation_input({"avatar": new["_id"]}), replace=True, projection=details["get"]
            )
            if before is None or user is None:
                raise NotFound("user not found")
            old = before.get("avatar")
            if old and not service.users.exists({"avatar._id": old["_id"]}):
                service.files.delete_one({"_id": old["_id"]})
            return user

        # Else two at once would both delete the one before, and leave the first of theirs to nobody.
        return service.gw.odm.transaction(replace)
