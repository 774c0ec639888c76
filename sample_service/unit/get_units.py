"""unit.getUnits."""

from __future__ import annotations

from gatewayfw import object_id, optional
from sample_service.mixins import PAGE
from sample_service.service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "unit",
        "getUnits",
        set={**PAGE, "organizationId": optional(object_id(of="organization"))},
        get=1,
        mode="create",
        pre_act=service.signed_in,
        returns="many",
        mcp=True,
    )
    def get_units(body: Body) -> object:
        """Return units, all or those of one organization, oldest first; 20 unless `limit` says otherwise."""
        wanted = body["details"]["set"]
        filters = {"organization._id": wanted["organizationId"]} if "organizationId" in wanted else {}
        found = service.units.find(filters=filters, projection=body["details"]["get"])
        return found.sort("_id").skip(wanted["skip"]).limit(wanted["limit"])
