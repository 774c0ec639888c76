"""user.setUserRoles: what a user may do. Only a Manager may do this, and stays one; our choice."""

from __future__ import annotations

from typing import Any

from bson import ObjectId

from gatewayfw import Forbidden, NotFound, ValidationError, array, object_, object_id, optional
from gatewayfw.auth import same_id

from ..access import MANAGER, REFUSED, changeable
from ..mixins import ACTIVE_ROLE
from ..service import Body, Service
from .model import MOST_ROLES, ROLE


def register(service: Service) -> None:
    """Register the act."""
    auth = service.auth

    @service.gw.acts.act(
        "user",
        "setUserRoles",
        set={
            **ACTIVE_ROLE,
            "_id": object_id(of="user"),
            "roles": array(object_({"roleId": optional(object_id()), **ROLE}), size=(0, MOST_ROLES)),
        },
        get=1,
        pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER)],
    )
    def set_user_roles(body: Body) -> dict[str, Any]:
        """Replace a user's roles. A role without a `roleId` gets one. Managers cannot remove their own Manager role."""
        given = body["details"]["set"]
        check_roles(given["roles"])
        is_own = service.active_role is not None and same_id(given["_id"], service.caller["_id"])
        if is_own and not any(role["name"] == "Manager" for role in given["roles"]):
            raise Forbidden(REFUSED)
        roles = [{"roleId": ObjectId(), **role} for role in given["roles"]]
        user = service.users.find_one_and_update(
            filter=changeable(service.caller, given["_id"]),
            update={"$set": {"roles": roles}},
            projection=body["details"]["get"],
        )
        if user is None:
            raise NotFound("user not found")
        return user


def check_roles(roles: list[dict[str, Any]]) -> None:
    """Check the rules that the kinds of single values cannot express.

    Raises:
        ValidationError: a `scopeType` or `scopeId` without the other, or a `roleId` given twice.
    """
    errors: dict[str, list[str]] = {}
    seen: set[str] = set()
    for number, role in enumerate(roles):
        if ("scopeType" in role) != ("scopeId" in role):
            errors[f"set.roles.{number}"] = ["scopeType and scopeId go together."]
        role_id = role.get("roleId", "").lower()
        if role_id and role_id in seen:
            errors[f"set.roles.{number}.roleId"] = ["Ids may not repeat."]
        seen.add(role_id)
    if errors:
        raise ValidationError(errors)
