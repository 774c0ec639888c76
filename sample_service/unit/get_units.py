"""unit.getUnits: a listing."""

from __future__ import annotations

from typing import Any

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    listing = service.units.listing(
        filter={"organization": ["eq", "in"], "name": ["eq", "prefix"]}, sort=["_id", "name"], default_sort="_id"
    )

    @service.gw.acts.act(
        "unit",
        "getUnits",
        set=listing.set,
        get=1,
        mode="create",
        pre_act=service.signed_in,
        returns=listing.returns,
        mcp="read",
    )
    def get_units(body: Body) -> dict[str, Any]:
        """Return a page of units, oldest first, optionally filtered."""
        return listing.page(body["details"])
