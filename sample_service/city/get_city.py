"""city.getCity."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act("city", "getCity", set={"cityId": object_id(of="city")}, get=1, public=True, mcp="read")
    def get_city(body: Body) -> dict[str, Any]:
        """Return one city."""
        details = body["details"]
        city = service.cities.find_one(filters={"_id": details["set"]["cityId"]}, projection=details["get"])
        if city is None:
            raise NotFound("city not found")
        return city
