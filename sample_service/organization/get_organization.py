"""organization.getOrganization."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "organization",
        "getOrganization",
        set={"organizationId": object_id(of="organization")},
        get=1,
        pre_act=service.signed_in,
    )
    def get_organization(body: Body) -> dict[str, Any]:
        """Return one organization."""
        details = body["details"]
        organization = service.organizations.find_one(
            filters={"_id": details["set"]["organizationId"]}, projection=details["get"]
        )
        if organization is None:
            raise NotFound("organization not found")
        return organization
