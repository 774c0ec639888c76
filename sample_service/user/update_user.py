"""user.updateUser. Source: specification 15."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, boolean, object_id, optional

from ..access import MANAGER_OR_ADMIN, changeable
from ..mixins import ACTIVE_ROLE, EMAIL, NAME, PASSWORD
from ..service import Body, Service
from .model import FEATURES


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "user",
        "updateUser",
        set={
            **ACTIVE_ROLE,
            "_id": object_id(of="user"),
            "first_name": optional(NAME),
            "last_name": optional(NAME),
            "email": optional(EMAIL),
            "password": optional(PASSWORD),
            "position": optional(NAME),
            "isActive": optional(boolean()),
            "features": optional(FEATURES),
        },
        get=1,
        mode="create",
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN)],
    )
    def update_user(body: Body) -> dict[str, Any]:
        """Change the given fields. All copies of the user are updated."""
        changes = dict(body["details"]["set"])
        changes.pop("activeRoleId", None)
        id_ = changes.pop("_id")
        if "password" in changes:
            changes["password"] = service.hasher.hash(changes["password"])
        user = service.users.find_one_and_update(
            filter=changeable(service.caller, id_), update={"$set": changes}, projection=body["details"]["get"]
        )
        if user is None:
            raise NotFound("user not found")
        return user
