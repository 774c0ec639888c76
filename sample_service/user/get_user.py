"""user.getUser. Source: specification 17.3; that it needs a token is our choice."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "user",
        "getUser",
        set={"userId": object_id(of="user")},
        get=1,
        pre_act=service.signed_in,
        mcp="read",
    )
    def get_user(body: Body) -> dict[str, Any]:
        """Return one user."""
        details = body["details"]
        user = service.users.find_one(filters={"_id": details["set"]["userId"]}, projection=details["get"])
        if user is None:
            raise NotFound("user not found")
        return user
