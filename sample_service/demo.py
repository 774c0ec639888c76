"""Demo data: two organizations with units, a user in each role, a country with cities.

For trying things out: the passwords are in this file.
"""

from __future__ import annotations

import json
from typing import Any

from bson import ObjectId

from .service import Service
from .user.model import relation_input

#: First name, role, and the organization or unit that a head leads.
USERS = (
    ("Mary", "Manager", None),
    ("Adam", "Admin", None),
    ("Olga", "OrgHead", "organization"),
    ("Umar", "UnitHead", "unit"),
    ("Emma", "Employee", None),
    ("Otto", "Ordinary", None),
)


def note() -> str:
    """Return what tells of the demo users in the playground, which makes a button of each."""
    users = (f"`{email_of(role)}` / `{password_of(role)}`" for _, role, _ in USERS)
    return f"Demo users: {', '.join(users)}."


def email_of(role: str) -> str:
    """Return the e-mail of the demo user with a role."""
    return f"{role.lower()}@example.com"


def password_of(role: str) -> str:
    """Return the password of the demo user with a role."""
    return f"demo-{role.lower()}"


def seed(service: Service) -> bool:
    """Add the demo data, all or nothing, unless there are users; tell whether it was added."""
    if service.users.count():
        return False
    service.gw.odm.transaction(lambda: _add_all(service))
    return True


def _add_all(service: Service) -> None:
    organizations = [
        service.organizations.insert_one(doc={"name": name})["_id"] for name in ("Harbour Works", "City Library")
    ]
    units = [
        _add_unit(service, name, organization) for organization in organizations for name in ("Office", "Workshop")
    ]
    for first_name, role, scope in USERS:
        _add_user(service, first_name, role, scope, {"organizations": organizations[:1], "units": units[:1]})
    country = service.countries.insert_one(doc={"name": "Norway", "population": 5_600_000})["_id"]
    for name in ("Oslo", "Bergen"):
        service.cities.insert_one(
            doc={"name": name}, relations={"country": {"_ids": country, "relatedRelations": {"cities": True}}}
        )


def _add_unit(service: Service, name: str, organization: ObjectId) -> Any:
    relation = {"_ids": organization, "relatedRelations": {"units": True}}
    return service.units.insert_one(doc={"name": name}, relations={"organization": relation})["_id"]


def _add_user(service: Service, first_name: str, name: str, scope: str | None, ids: dict[str, Any]) -> None:
    role: dict[str, Any] = {"roleId": ObjectId(), "name": name}
    if scope is not None:
        role |= {"scopeType": scope, "scopeId": ids[f"{scope}s"][0]}
    service.users.insert_one(
        doc={
            "first_name": first_name,
            "last_name": "Example",
            "email": email_of(name),
            "password": service.hasher.hash(password_of(name)),
            "roles": [role],
        },
        relations=relation_input(ids),
    )


def credentials(service: Service) -> str:
    """Return a table of the demo users that are in the database."""
    lines = [f"{'role':<10}{'e-mail':<24}password"]
    for _, role, _ in USERS:
        if service.users.count({"email": email_of(role)}):
            lines.append(f"{role:<10}{email_of(role):<24}{password_of(role)}")
    return "\n".join(lines) if len(lines) > 1 else "There are no demo users in this database."


def examples(service: Service, url: str) -> str:
    """Return curl commands to paste: a login, and addUser with a token and a role id that are valid now."""
    login = {
        "model": "user",
        "act": "login",
        "details": {
            "set": {"email": email_of("Manager"), "password": password_of("Manager")},
            "get": {"token": 1, "roles": 1, "user": {"first_name": 1, "organizations": {"name": 1}}},
        },
    }
    manager = service.users.find_one(
        filters={"email": email_of("Manager")}, projection={"roles": 1, "organizations": 1}
    )
    if manager is None:
        return ""
    if not manager.get("roles"):
        return _curl(url, login)
    new_user = {
        "activeRoleId": str(manager["roles"][0]["roleId"]),
        "first_name": "Nina",
        "last_name": "New",
        "email": "nina@example.com",
        "password": "a long password",
        "organizations": [str(one["_id"]) for one in manager["organizations"]],
    }
    get = {"email": 1, "isActive": 1, "organizations": {"name": 1}}
    add_user = {"model": "user", "act": "addUser", "details": {"set": new_user, "get": get}}
    token = service.auth.tokens.issue({"_id": str(manager["_id"])})
    return "\n\n".join([_curl(url, login), _curl(url, add_user, token)])


def _curl(url: str, body: dict[str, Any], token: str = "") -> str:
    header = f"-H 'token: {token}' " if token else ""
    return f"curl {url} -H 'Content-Type: application/json' {header}-d '{json.dumps(body)}'"
