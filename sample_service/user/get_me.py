"""user.getMe."""

from __future__ import annotations

from typing import Any

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act("user", "getMe", get=1, pre_act=service.signed_in, returns="optional")
    def get_me(body: Body) -> dict[str, Any] | None:
        """Return the current user."""
        caller = service.gw.context_fns.get_context_model()["user"]
        return service.users.find_one(filters={"_id": caller["_id"]}, projection=body["details"]["get"])
