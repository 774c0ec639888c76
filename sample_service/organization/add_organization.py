"""organization.addOrganization."""

from __future__ import annotations

from typing import Any

from gatewayfw import optional

from ..access import MANAGER_OR_ADMIN
from ..mixins import ACTIVE_ROLE, DESCRIPTION, NAME
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "organization",
        "addOrganization",
        set={**ACTIVE_ROLE, "name": NAME, "description": optional(DESCRIPTION)},
        get=1,
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN)],
    )
    def add_organization(body: Body) -> dict[str, Any]:
        """Add an organization."""
        doc = dict(body["details"]["set"])
        doc.pop("activeRoleId", None)
        return service.organizations.insert_one(doc=doc, projection=body["details"]["get"])
