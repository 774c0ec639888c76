"""What is in the database while the corpus runs; its ids stand in the corpus as they are here."""

from __future__ import annotations

import hashlib

from bson import ObjectId

PASSWORD = "correct horse battery staple"
HASH = hashlib.sha256(PASSWORD.encode()).hexdigest()

#: The ``_id`` of each person whose token a case can use with ``"as"``.
PEOPLE = {
    "ghost": "050000000000000000000001",
    "Manager": "050000000000000000000002",
    "Admin": "050000000000000000000003",
    "OrgHead": "050000000000000000000004",
    "UnitHead": "050000000000000000000005",
    "Employee": "050000000000000000000006",
    "inactive": "050000000000000000000007",
    "target": "050000000000000000000008",
    "other": "050000000000000000000009",
}
#: The ``roleId`` of those that have a role; an inactive one was a Manager.
ROLES = {
    "Manager": "0a0000000000000000000002",
    "Admin": "0a0000000000000000000003",
    "OrgHead": "0a0000000000000000000004",
    "UnitHead": "0a0000000000000000000005",
    "Employee": "0a0000000000000000000006",
    "inactive": "0a0000000000000000000007",
}
HOME, AWAY = "0c0000000000000000000001", "0c0000000000000000000002"
OFFICE, WORKSHOP = "0e0000000000000000000001", "0e0000000000000000000002"
COUNTRY, CITY = "0d0000000000000000000001", "0b0000000000000000000001"
FILE = "0f0000000000000000000001"


def seed(service):
    """Add two organizations with a unit each, everybody above, a country with a city, and a file."""
    for id_, name in ((HOME, "Home"), (AWAY, "Away")):
        service.organizations.insert_one(doc={"_id": id_, "name": name})
    for id_, name, organization in ((OFFICE, "Office", HOME), (WORKSHOP, "Workshop", AWAY)):
        relation = {"_ids": organization, "relatedRelations": {"units": True}}
        service.units.insert_one(doc={"_id": id_, "name": name}, relations={"organization": relation})
    for name in PEOPLE:
        relations = {
            "organizations": {"_ids": [HOME], "relatedRelations": {"users": True}},
            "units": {"_ids": [OFFICE], "relatedRelations": {"members": True}},
        }
        service.users.insert_one(doc=user_doc(name), relations=relations)
    service.countries.insert_one(doc={"_id": COUNTRY, "name": "Norway", "population": 5_600_000})
    relation = {"_ids": COUNTRY, "relatedRelations": {"cities": True}}
    service.cities.insert_one(doc={"_id": CITY, "name": "Oslo"}, relations={"country": relation})
    service.files.insert_one(doc={"_id": FILE, "name": "notes", "type": "text/plain", "size": 1})


def user_doc(name):
    """Return the document of a person."""
    doc = {
        "_id": PEOPLE[name],
        "first_name": name,
        "last_name": "Example",
        "email": f"{name.lower()}@example.com",
        "password": HASH,
        "isActive": name != "inactive",
    }
    if name == "ghost":
        doc["isGhost"] = True
    if name in ROLES:
        doc["roles"] = [_role(name)]
    return doc


def _role(name):
    scopes = {"OrgHead": ("organization", HOME), "UnitHead": ("unit", OFFICE)}
    role = {"roleId": ObjectId(ROLES[name]), "name": "Manager" if name == "inactive" else name}
    if name in scopes:
        role |= {"scopeType": scopes[name][0], "scopeId": ObjectId(scopes[name][1])}
    return role
