"""unit.getUnit."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "unit",
        "getUnit",
        set={"unitId": object_id(of="unit")},
        get=1,
        pre_act=service.signed_in,
    )
    def get_unit(body: Body) -> dict[str, Any]:
        """Return one unit."""
        details = body["details"]
        unit = service.units.find_one(filters={"_id": details["set"]["unitId"]}, projection=details["get"])
        if unit is None:
            raise NotFound("unit not found")
        return unit
