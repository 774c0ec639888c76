"""organization.updateOrganization."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id, optional

from ..access import MANAGER_OR_ADMIN
from ..mixins import ACTIVE_ROLE, DESCRIPTION, NAME
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "organization",
        "updateOrganization",
        set={
            **ACTIVE_ROLE,
            "_id": object_id(of="organization"),
            "name": optional(NAME),
            "description": optional(DESCRIPTION),
        },
        get=1,
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN)],
    )
    def update_organization(body: Body) -> dict[str, Any]:
        """Change the given fields. All copies of the organization are updated."""
        changes = dict(body["details"]["set"])
        changes.pop("activeRoleId", None)
        organization = service.organizations.find_one_and_update(
            filter={"_id": changes.pop("_id")}, update={"$set": changes}, projection=body["details"]["get"]
        )
        if organization is None:
            raise NotFound("organization not found")
        return organization
