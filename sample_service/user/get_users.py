"""user.getUsers."""

from __future__ import annotations

from gatewayfw import object_id, optional
from sample_service.mixins import PAGE
from sample_service.service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "user",
        "getUsers",
        set={
            **PAGE,
            "organizationId": optional(object_id(of="organization")),
            "unitId": optional(object_id(of="unit")),
        },
        get=1,
        mode="create",
        pre_act=service.signed_in,
        returns="many",
        mcp=True,
    )
    def get_users(body: Body) -> object:
        """Return users, all or those of an organization or unit, oldest first; 20 unless `limit` says otherwise."""
        wanted = body["details"]["set"]
        filters = {}
        if "organizationId" in wanted:
            filters["organizations._id"] = wanted["organizationId"]
        if "unitId" in wanted:
            filters["units._id"] = wanted["unitId"]
        found = service.users.find(filters=filters, projection=body["details"]["get"])
        return found.sort("_id").skip(wanted["skip"]).limit(wanted["limit"])
