"""unit.updateUnit."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id

from ..access import MANAGER_OR_ADMIN
from ..mixins import ACTIVE_ROLE, NAME
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "unit",
        "updateUnit",
        set={**ACTIVE_ROLE, "_id": object_id(of="unit"), "name": NAME},
        get=1,
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN)],
    )
    def update_unit(body: Body) -> dict[str, Any]:
        """Rename a unit. All its copies are updated."""
        changes = dict(body["details"]["set"])
        changes.pop("activeRoleId", None)
        unit = service.units.find_one_and_update(
            filter={"_id": changes.pop("_id")}, update={"$set": changes}, projection=body["details"]["get"]
        )
        if unit is None:
            raise NotFound("unit not found")
        return unit
