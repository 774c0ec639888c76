"""organization.getOrganizations: a listing."""

from __future__ import annotations

from typing import Any

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    listing = service.organizations.listing(
        filter={"name": ["eq", "prefix", "contains"]}, sort=["_id", "name"], default_sort="_id"
    )

    @service.gw.acts.act(
        "organization",
        "getOrganizations",
        set=listing.set,
        get=1,
        mode="create",
        pre_act=service.signed_in,
        returns=listing.returns,
        mcp="read",
    )
    def get_organizations(body: Body) -> dict[str, Any]:
        """Return a page of organizations, oldest first, optionally filtered."""
        return listing.page(body["details"])
