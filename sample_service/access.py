"""Who may do what: the roles of this service and the rules that acts name in `preAct`.

Source: specification 19; the roles beyond its four are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatewayfw.auth import Rule, first_id
from gatewayfw.odm import Model

#: The contract's message for what a role does not permit.
REFUSED = "You cant do this"
ROLE_NAMES = ("Manager", "Admin", "OrgHead", "UnitHead", "Employee", "Ordinary")


def changeable(caller: Mapping[str, Any], id_: str) -> dict[str, Any]:
    """Return the filter for a user whom the caller may change: only ghosts can change a ghost."""
    return {"_id": id_} if caller.get("isGhost") is True else {"_id": id_, "isGhost": {"$ne": True}}


def removable(caller: Mapping[str, Any], role: Mapping[str, Any] | None, id_: str) -> dict[str, Any]:
    """Return the filter for a user whom the caller may remove: an Admin cannot remove a Manager."""
    is_admin = role is not None and role.get("name") == "Admin" and caller.get("isGhost") is not True
    return {**changeable(caller, id_), **({"roles.name": {"$ne": "Manager"}} if is_admin else {})}


def head_of_organization(units: Model) -> Rule:
    """Return the rule for OrgHeads who add a user: the first organization is theirs, and all units are parts of it."""
    in_organization = first_id("organizations", "organization")

    def in_scope(role: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
        ids = set(body["details"]["set"].get("units", ()))
        own = {"_id": {"$in": sorted(ids)}, "organization._id": role.get("scopeId")}
        return in_organization(role, body) and (not ids or units.count(own) == len(ids))

    return Rule(roles=("OrgHead",), scope=in_scope)


def head_of_something() -> Rule:
    """Return the rule for heads whose role says what they lead."""

    def leads(role: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
        return role.get("scopeType") == _LED[role["name"]] and role.get("scopeId") is not None

    return Rule(roles=tuple(_LED), scope=leads)


def responsible_for(caller: Mapping[str, Any], role: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the filter for the users whom a caller is responsible for in a role.

    Ghosts, Managers and Admins are for all; the rule of `head_of_something` admits nobody else but heads.
    """
    if role is None or caller.get("isGhost") is True or role["name"] in MANAGER_OR_ADMIN.roles:
        return {}
    return {f"{role['scopeType']}s._id": role["scopeId"]}


#: What heads lead, by the name of their role.
_LED = {"OrgHead": "organization", "UnitHead": "unit"}
MANAGER = Rule(roles=("Manager",))
MANAGER_OR_ADMIN = Rule(roles=("Manager", "Admin"))
