"""country.getCountry. Source: specification 17.2."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "country", "getCountry", set={"countryId": object_id(of="country")}, get=1, public=True, mcp="read"
    )
    def get_country(body: Body) -> dict[str, Any]:
        """Return one country."""
        details = body["details"]
        country = service.countries.find_one(filters={"_id": details["set"]["countryId"]}, projection=details["get"])
        if country is None:
            raise NotFound("country not found")
        return country
