"""user.getMyUsers: a listing of the users that the caller is responsible for. Our choice."""

from __future__ import annotations

from typing import Any

from ..access import MANAGER_OR_ADMIN, head_of_something, responsible_for
from ..mixins import ACTIVE_ROLE
from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth
    listing = service.users.listing(
        filter={
            "organizations": ["eq", "ne"],
            "units": ["eq", "ne"],
            "email": ["prefix", "contains"],
            "roles.name": ["in", "nin"],
        },
        sort=["_id", "last_name"],
        default_sort="last_name",
        count=1_000,
    )

    @service.gw.acts.act(
        "user",
        "getMyUsers",
        set={**ACTIVE_ROLE, **listing.set},
        get=1,
        mode="create",
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER_OR_ADMIN, head_of_something())],
        returns=listing.returns,
    )
    def get_my_users(body: Body) -> dict[str, Any]:
        """Return a page of users: all for a Manager or Admin, those of their organization or unit for a head."""
        return listing.page(body["details"], where=responsible_for(service.caller, service.active_role))
