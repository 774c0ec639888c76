"""The other acts of user: reading, removing, roles."""

from __future__ import annotations

import pytest
from bson import ObjectId

from tests.sample_service.conftest import NOBODY, ROLES, ok, refused

NO_TOKEN = "you should send your id with token key in req header"


@pytest.mark.parametrize("name", [*ROLES, "ghost"])
def test_get_user_is_for_all_who_signed_in(call, people, name):
    set_, get = {"userId": people["Admin"].id}, {"first_name": 1, "password": 1}
    assert call("user", "getUser", set_, get, people[name].token) == ok(
        {"_id": people["Admin"].id, "first_name": "Admin"}
    )


def test_get_user_with_an_empty_get_gives_the_id(call, people):
    reply = call("user", "getUser", {"userId": people["Admin"].id}, {}, people["Admin"].token)
    assert reply == ok({"_id": people["Admin"].id})


@pytest.mark.parametrize(
    ("set_", "get", "status", "message"),
    [
        ({"userId": NOBODY}, {}, 404, "user not found"),
        ({"userId": "x"}, {}, 400, "validation error: set.userId: Not a valid ObjectId (24 hexadecimal digits)."),
        ({}, {}, 400, "validation error: set.userId: Missing data for required field."),
        ({"userId": NOBODY}, {"x": "$password"}, 400, "validation error: get.x: Unknown field."),
        ({"userId": NOBODY}, {"_gw": 1}, 400, "validation error: get._gw: Unknown field."),
    ],
    ids=str,
)
def test_get_user_refuses(call, people, set_, get, status, message):
    assert call("user", "getUser", set_, get, people["Admin"].token) == refused(status, message)


@pytest.mark.parametrize(
    ("act", "set_"), [("getUser", {"userId": NOBODY}), ("getUsers", {}), ("getMyUsers", {}), ("getMe", {})]
)
def test_reading_users_needs_a_token(call, people, act, set_):
    assert call("user", act, set_, {}) == refused(401, NO_TOKEN)


def test_get_me_gives_the_caller(call, people):
    reply = call("user", "getMe", {}, {"email": 1, "roles": 1}, people["Manager"].token)
    roles = [{"roleId": people["Manager"].role, "name": "Manager"}]
    assert reply == ok({"_id": people["Manager"].id, "email": "manager@example.com", "roles": roles})


@pytest.mark.parametrize("name", ["Manager", "Admin", "ghost"])
def test_remove_user_removes_every_trace(act_as, people, places, stored, name):
    set_ = {"_id": people["Employee"].id, "organizations": [places.home]}
    assert act_as("Manager", "updateUserRelations", set_, {})[0] == 200
    reply = act_as(name, "removeUser", {"_id": people["Employee"].id}, {"deletedCount": 1, "cascaded": 1})
    assert reply == ok({"deletedCount": 1, "cascaded": {}})
    assert (stored("user", people["Employee"].id), stored("organization", places.home).get("users", [])) == (None, [])


def test_token_of_a_removed_user_opens_nothing(act_as, call, people):
    assert act_as("Manager", "removeUser", {"_id": people["Admin"].id}, {}) == ok({})
    assert call("user", "getMe", {}, {}, people["Admin"].token) == refused(401, "user not exist")


@pytest.mark.parametrize(
    ("name", "set_", "status", "message"),
    [
        ("Manager", {"_id": NOBODY}, 404, "user not found"),
        ("Manager", {}, 400, "validation error: set._id: Missing data for required field."),
        (
            "Manager",
            {"_id": {"$ne": None}},
            400,
            "validation error: set._id: Not a valid ObjectId (24 hexadecimal digits).",
        ),
        ("OrgHead", {"_id": NOBODY}, 403, "You cant do this"),
        ("Ordinary", {"_id": NOBODY}, 403, "You cant do this"),
    ],
    ids=str,
)
def test_remove_user_refuses(act_as, digest, people, name, set_, status, message):
    before = digest()
    assert act_as(name, "removeUser", set_, {}) == refused(status, message)
    assert digest() == before


def test_an_admin_does_not_remove_a_manager(act_as, people, digest):
    before = digest()
    reply = act_as("Admin", "removeUser", {"_id": people["Manager"].id}, {})
    assert (reply, digest()) == (refused(404, "user not found"), before)


@pytest.mark.parametrize("name", ["Manager", "Admin"])
def test_nobody_removes_themselves(act_as, people, digest, name):
    before = digest()
    reply = act_as(name, "removeUser", {"_id": people[name].id.upper()}, {})
    assert (reply, digest()) == (refused(403, "You cant do this"), before)


@pytest.mark.parametrize("roles", [[], [{"name": "Admin"}]], ids=["none", "another"])
def test_nobody_gives_up_being_a_manager_alone(act_as, people, digest, roles):
    before = digest()
    reply = act_as("Manager", "setUserRoles", {"_id": people["Manager"].id.upper(), "roles": roles}, {})
    assert (reply, digest()) == (refused(403, "You cant do this"), before)


def test_a_manager_may_take_more_roles(act_as, people):
    roles = [{"roleId": people["Manager"].role, "name": "Manager"}, {"name": "Admin"}]
    reply = act_as("Manager", "setUserRoles", {"_id": people["Manager"].id, "roles": roles}, {})
    assert reply == ok({"_id": people["Manager"].id})


@pytest.mark.parametrize("name", ["Manager", "ghost"])
def test_set_user_roles_replaces_them_and_makes_ids(act_as, people, places, stored, name):
    roles = [{"roleId": "a" * 24, "name": "Admin"}, {"name": "OrgHead", "scopeType": "organization"}]
    roles[1]["scopeId"] = places.away
    status, envelope = act_as(name, "setUserRoles", {"_id": people["Ordinary"].id, "roles": roles}, {"roles": 1})
    made = envelope["body"]["roles"][1]["roleId"]
    expected = [roles[0], {"roleId": made, **roles[1]}]
    assert (status, envelope) == ok({"_id": people["Ordinary"].id, "roles": expected})
    assert stored("user", people["Ordinary"].id)["roles"] == [
        {"roleId": ObjectId("a" * 24), "name": "Admin"},
        {
            "roleId": ObjectId(made),
            "name": "OrgHead",
            "scopeType": "organization",
            "scopeId": ObjectId(places.away),
        },
    ]


def test_a_new_role_counts_at_once(act_as, call, people):
    set_ = {"_id": people["Ordinary"].id, "roles": [{"roleId": "a" * 24, "name": "Manager"}]}
    assert act_as("Manager", "setUserRoles", set_, {})[0] == 200
    reply = call("user", "removeUser", {"_id": NOBODY, "activeRoleId": "A" * 24}, {}, people["Ordinary"].token)
    assert reply == refused(404, "user not found")


@pytest.mark.parametrize("name", ["Admin", "OrgHead", "UnitHead", "Employee", "Ordinary"])
def test_only_a_manager_sets_roles(act_as, people, digest, name):
    before = digest()
    set_ = {"_id": people[name].id, "roles": [{"name": "Manager"}]}
    assert act_as(name, "setUserRoles", set_, {}) == refused(403, "You cant do this")
    assert digest() == before


TOGETHER = "set.roles.0: scopeType and scopeId go together."


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ([{"name": "Boss"}], f"set.roles.0.name: Must be one of: {', '.join(ROLES)}."),
        ([{}], "set.roles.0.name: Missing data for required field."),
        ([{"name": "OrgHead", "scopeType": "organization"}], TOGETHER),
        ([{"name": "OrgHead", "scopeId": NOBODY}], TOGETHER),
        ([{"name": "Admin", "isGhost": True}], "set.roles.0.isGhost: Unknown field."),
        (
            [{"roleId": NOBODY, "name": "Admin"}, {"roleId": NOBODY.upper(), "name": "Manager"}],
            "set.roles.1.roleId: Ids may not repeat.",
        ),
        ("Manager", "set.roles: Not a valid list."),
        ([{"name": "Admin"}] * 51, "set.roles: Length must be between 0 and 50."),
    ],
    ids=["name", "no name", "no scopeId", "no scopeType", "isGhost", "repeated", "text", "many"],
)
def test_set_user_roles_refuses(act_as, people, digest, roles, message):
    before = digest()
    set_ = {"_id": people["Ordinary"].id, "roles": roles}
    assert act_as("Manager", "setUserRoles", set_, {}) == refused(400, f"validation error: {message}")
    assert digest() == before


def test_set_user_roles_of_nobody(act_as, people):
    assert act_as("Manager", "setUserRoles", {"_id": NOBODY, "roles": []}, {}) == refused(404, "user not found")


def test_users_of_before_is_active_become_active(service, database, people):
    database.user.update_one({"_id": ObjectId(people["Admin"].id)}, {"$set": {"isActive": False}})
    database.user.update_many({"isActive": {"$ne": False}}, {"$unset": {"isActive": ""}})
    (done,) = service.gw.odm.migrate()
    assert (done["name"], done["changed"], done["left"]) == ("2026-11 active users", len(people) - 1, 0)
    active = {user["email"]: user["isActive"] for user in database.user.find()}
    assert active == {email: email != "admin@example.com" for email in active}
