"""city.addCity."""

from __future__ import annotations

from typing import Any

from gatewayfw import object_id

from ..mixins import NAME
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act("city", "addCity", set={"name": NAME, "country": object_id(of="country")}, get=1, public=True)
    def add_city(body: Body) -> dict[str, Any]:
        """Add a city to a country."""
        details = body["details"]
        return service.cities.insert_one(
            doc={"name": details["set"]["name"]},
            relations={"country": {"_ids": details["set"]["country"], "relatedRelations": {"cities": True}}},
            projection=details["get"],
        )
