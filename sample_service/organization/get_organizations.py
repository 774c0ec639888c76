"""organization.getOrganizations."""

from __future__ import annotations

from sample_service.mixins import PAGE
from sample_service.service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "organization",
        "getOrganizations",
        set=PAGE,
        get=1,
        mode="create",
        pre_act=service.signed_in,
        returns="many",
        mcp=True,
    )
    def get_organizations(body: Body) -> object:
        """Return organizations, oldest first; 20 unless `limit` says otherwise."""
        wanted = body["details"]["set"]
        found = service.organizations.find(projection=body["details"]["get"])
        return found.sort("_id").skip(wanted["skip"]).limit(wanted["limit"])
