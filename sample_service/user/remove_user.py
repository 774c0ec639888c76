"""user.removeUser. Who may remove whom is our choice."""

from __future__ import annotations

from typing import Any

from gatewayfw import Forbidden, NotFound, boolean, defaulted, enums, integer, object_, object_id, optional

from ..access import MANAGER_OR_ADMIN, REFUSED, removable
from ..mixins import ACTIVE_ROLE
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "user",
        "removeUser",
        set={**ACTIVE_ROLE, "_id": object_id(of="user"), "hardCascade": defaulted(boolean(), False)},
        get={"deletedCount": optional(enums(0, 1)), "cascaded": optional(enums(0, 1))},
        mode="create",
        returns={"deletedCount": integer(), "cascaded": object_()},
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN)],
    )
    def remove_user(body: Body) -> dict[str, Any]:
        """Remove another user everywhere. `cascaded` counts the documents deleted with them, by model."""
        given, wanted = body["details"]["set"], body["details"]["get"]
        if given["_id"] == service.caller["_id"]:
            raise Forbidden(REFUSED)
        result = service.users.delete_one(
            filter=removable(service.caller, service.active_role, given["_id"]), hard_cascade=given["hardCascade"]
        )
        if not result:
            raise NotFound("user not found")
        return {name: value for name, value in result.items() if wanted.get(name)}
