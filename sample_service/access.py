"""Who may do what: the roles of this service and the rules that acts name in `preAct`.

Source: contract, "Authentication"; the roles beyond its four are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatewayfw.auth import Rule, first_id

ROLE_NAMES = ("Manager", "Admin", "OrgHead", "UnitHead", "Employee", "Ordinary")


def changeable(caller: Mapping[str, Any], id_: str) -> dict[str, Any]:
    """Return the filter for a user whom the caller may change: a ghost is changed by ghosts only."""
    return {"_id": id_} if caller.get("isGhost") is True else {"_id": id_, "isGhost": {"$ne": True}}


MANAGER = Rule(roles=("Manager",))
MANAGER_OR_ADMIN = Rule(roles=("Manager", "Admin"))
HEAD_OF_FIRST_ORGANIZATION = Rule(roles=("OrgHead",), scope=first_id("organizations", "organization"))
