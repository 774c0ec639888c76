"""user.getUsers: a listing. That everyone who signed in may read it is our choice, as for getUser."""

from __future__ import annotations

from typing import Any

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""
    listing = service.users.listing(
        filter={
            "organizations": ["eq", "in"],
            "units": ["eq", "in"],
            "email": ["prefix"],
            "last_name": ["prefix"],
        },
        sort=["_id", "last_name"],
        default_sort="_id",
    )

    @service.gw.acts.act(
        "user",
        "getUsers",
        set=listing.set,
        get=1,
        mode="create",
        pre_act=service.signed_in,
        returns=listing.returns,
        mcp="read",
    )
    def get_users(body: Body) -> dict[str, Any]:
        """Return a page of users, oldest first, optionally filtered."""
        return listing.page(body["details"])
