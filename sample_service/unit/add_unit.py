"""unit.addUnit."""

from __future__ import annotations

from typing import Any

from gatewayfw import object_id

from ..access import MANAGER_OR_ADMIN
from ..mixins import ACTIVE_ROLE, NAME
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "unit",
        "addUnit",
        set={**ACTIVE_ROLE, "name": NAME, "organization": object_id(of="organization")},
        get=1,
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN)],
    )
    def add_unit(body: Body) -> dict[str, Any]:
        """Add a unit to an organization."""
        details = body["details"]
        return service.units.insert_one(
            doc={"name": details["set"]["name"]},
            relations={"organization": {"_ids": details["set"]["organization"], "relatedRelations": {"units": True}}},
            projection=details["get"],
        )
