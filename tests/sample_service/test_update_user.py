"""user.updateUser: what changes, what stays, and every refusal."""

from __future__ import annotations

import pytest
from bson import ObjectId

from tests.sample_service.conftest import NEW_HASH, NEW_PASSWORD, NOBODY, ok, refused


@pytest.fixture
def target(service, places, stored):
    """The id of a user with every field and relations."""
    user = service.users.insert_one(
        doc={
            "first_name": "Old",
            "last_name": "Name",
            "email": "old@example.com",
            "password": "0" * 64,
            "features": [{"feature": "reports"}],
        },
        relations={
            "organizations": {"_ids": [places.home], "relatedRelations": {"users": True}},
            "units": {"_ids": [places.unit], "relatedRelations": {"members": True}},
        },
    )
    return str(user["_id"])


def without_version(document):
    """A document without the hidden field, whose content the tests of the ODM judge."""
    return {name: value for name, value in document.items() if name != "_gw"}


@pytest.mark.parametrize(
    "changes",
    [
        {"first_name": "New"},
        {"position": "cook", "isActive": False},
        {"email": "new@example.com", "features": []},
        {},
    ],
    ids=lambda changes: " ".join(changes) or "nothing",
)
def test_only_what_is_given_changes(act_as, target, stored, changes):
    before = without_version(stored("user", target))
    get = dict.fromkeys(changes, 1)
    assert act_as("Admin", "updateUser", {"_id": target, **changes}, get) == ok({"_id": target, **changes})
    assert without_version(stored("user", target)) == {**before, **changes}


def test_copies_follow_and_never_hold_the_hash(act_as, target, stored, places):
    act_as("Manager", "updateUser", {"_id": target, "last_name": "Changed"}, {})
    copy = {
        "_id": ObjectId(target),
        "first_name": "Old",
        "last_name": "Changed",
        "email": "old@example.com",
        "isActive": True,
        "features": [{"feature": "reports"}],
    }
    listed = (stored("organization", places.home)["users"], stored("unit", places.unit)["members"])
    assert listed == ([copy], [copy])


def test_password_is_stored_as_its_hash(act_as, target, stored):
    before = without_version(stored("user", target))
    reply = act_as("ghost", "updateUser", {"_id": target, "password": NEW_PASSWORD}, {"password": 1, "email": 1})
    assert reply == ok({"_id": target, "email": "old@example.com"})
    assert without_version(stored("user", target)) == {**before, "password": NEW_HASH}


@pytest.mark.parametrize("name", ["OrgHead", "UnitHead", "Employee", "Ordinary"])
def test_other_roles_may_not(act_as, target, digest, name):
    before = digest()
    assert act_as(name, "updateUser", {"_id": target, "first_name": "X"}, {}) == refused(403, "You cant do this")
    assert digest() == before


@pytest.mark.parametrize(
    ("set_", "status", "message"),
    [
        ({"_id": NOBODY, "first_name": "X"}, 404, "user not found"),
        ({"_id": NOBODY}, 404, "user not found"),
        ({"email": "admin@example.com"}, 409, "Duplicate key error"),
        ({"_id": "x"}, 400, "validation error: set._id: Not a valid ObjectId (24 hexadecimal digits)."),
        ({"_id": {"$ne": None}}, 400, "validation error: set._id: Not a valid ObjectId (24 hexadecimal digits)."),
        ({"avatar": NOBODY}, 400, "validation error: set.avatar: Unknown field."),
        ({"organizations": [NOBODY]}, 400, "validation error: set.organizations: Unknown field."),
        ({"units": []}, 400, "validation error: set.units: Unknown field."),
        ({"roles": []}, 400, "validation error: set.roles: Unknown field."),
        ({"isGhost": True}, 400, "validation error: set.isGhost: Unknown field."),
        ({"organizations.0.name": "X"}, 400, "validation error: set.organizations.0.name: Unknown field."),
        ({"first_name": None}, 400, "validation error: set.first_name: Field may not be null."),
    ],
    ids=str,
)
def test_refuses(act_as, target, digest, set_, status, message):
    before = digest()
    assert act_as("Manager", "updateUser", {"_id": target, **set_}, {}) == refused(status, message)
    assert digest() == before


def test_refuses_without_id(act_as, people):
    message = "validation error: set._id: Missing data for required field."
    assert act_as("Manager", "updateUser", {"first_name": "X"}, {}) == refused(400, message)


def test_refuses_without_active_role(call, people, target, digest):
    before = digest()
    set_ = {"_id": target, "first_name": "X"}
    assert call("user", "updateUser", set_, {}, people["Manager"].token) == refused(400, "activeRoleId is required")
    assert call("user", "updateUser", set_, {}) == refused(401, "you should send your id with token key in req header")
    assert digest() == before
