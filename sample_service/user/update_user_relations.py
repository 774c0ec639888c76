"""user.updateUserRelations."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, array, boolean, defaulted, object_id, optional

from ..access import MANAGER_OR_ADMIN, changeable
from ..mixins import ACTIVE_ROLE
from ..service import Body, Service
from .model import relation_input


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "user",
        "updateUserRelations",
        set={
            **ACTIVE_ROLE,
            "_id": object_id(of="user"),
            "avatar": optional(object_id(of="file")),
            "organizations": optional(array(object_id(of="organization"))),
            "units": optional(array(object_id(of="unit"))),
            "replace": defaulted(boolean(), False),
        },
        get=1,
        mode="create",
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN)],
    )
    def update_user_relations(body: Body) -> dict[str, Any]:
        """Add to a user's relations. With `replace`, only the given ids remain."""
        given = body["details"]["set"]
        user = service.users.add_relation(
            filters=changeable(service.caller, given["_id"]),
            relations=relation_input(given),
            replace=given["replace"],
            projection=body["details"]["get"],
        )
        if user is None:
            raise NotFound("user not found")
        return user
