"""country.addCountry. Source: specification 17.1."""

from __future__ import annotations

from typing import Any

from gatewayfw import number

from ..mixins import NAME
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act("country", "addCountry", set={"name": NAME, "population": number()}, get=1, public=True)
    def add_country(body: Body) -> dict[str, Any]:
        """Add a country."""
        details = body["details"]
        return service.countries.insert_one(doc=details["set"], projection=details["get"])
