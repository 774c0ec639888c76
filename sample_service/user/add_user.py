"""user.addUser. Source: specification 14."""

from __future__ import annotations

from typing import Any

from gatewayfw import array, boolean, defaulted, object_id, optional

from ..access import MANAGER_OR_ADMIN, head_of_organization
from ..mixins import ACTIVE_ROLE, EMAIL, NAME, PASSWORD
from ..service import Body, Service
from .model import FEATURES, relation_input

RELATIONS = ("avatar", "organizations", "units")


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "user",
        "addUser",
        set={
            **ACTIVE_ROLE,
            "first_name": NAME,
            "last_name": NAME,
            "email": EMAIL,
            "password": PASSWORD,
            "position": optional(NAME),
            "isActive": defaulted(boolean(), True),
            "features": optional(FEATURES),
            "avatar": optional(object_id(of="file")),
            "organizations": optional(array(object_id(of="organization"))),
            "units": optional(array(object_id(of="unit"))),
        },
        get=1,
        mode="create",
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN, head_of_organization(service.units))],
    )
    def add_user(body: Body) -> dict[str, Any]:
        """Add a user. A Manager or Admin can add one anywhere, an OrgHead in their own organization and its units."""
        doc = dict(body["details"]["set"])
        doc.pop("activeRoleId", None)
        ids = {name: doc.pop(name) for name in RELATIONS if name in doc}
        return service.users.insert_one(
            doc={**doc, "password": service.hasher.hash(doc["password"])},
            relations=relation_input(ids),
            projection=body["details"]["get"],
        )
