"""user.addUser: what is stored and returned, who may, and every refusal of the contract."""

from __future__ import annotations

import jwt
import pytest
from bson import ObjectId

from tests.sample_service.conftest import HASH, KEY, NEW_HASH, NEW_PASSWORD, NOBODY, ok, refused

NEW = {"first_name": "Nina", "last_name": "New", "email": "nina@example.com", "password": NEW_PASSWORD}


def new_id(reply):
    return reply[1]["body"]["_id"]


def test_stores_the_hash_and_defaults_and_returns_what_get_names(act_as, stored):
    reply = act_as("Manager", "addUser", NEW, {"email": 1, "isActive": 1, "password": 1})
    assert reply == ok({"_id": new_id(reply), "email": "nina@example.com", "isActive": True})
    assert stored("user", new_id(reply)) == {
        **NEW,
        "_id": ObjectId(new_id(reply)),
        "password": NEW_HASH,
        "isActive": True,
    }


def test_stores_optional_fields_as_given(act_as, stored):
    more = {"position": "cook", "isActive": False, "features": [{"feature": "reports"}]}
    reply = act_as("Admin", "addUser", {**NEW, **more}, {"position": 1, "isActive": 1, "features": 1})
    assert reply == ok({"_id": new_id(reply), **more})
    assert stored("user", new_id(reply)) == {**NEW, **more, "_id": ObjectId(new_id(reply)), "password": NEW_HASH}


def test_embeds_relations_and_keeps_the_reverse_ones_in_step(service, act_as, places, stored):
    file = service.files.insert_one(doc={"name": "me.png", "type": "image/png", "size": 9})
    ids = {"avatar": str(file["_id"]), "organizations": [places.away, places.home], "units": [places.unit]}
    get = {"avatar": {"name": 1}, "organizations": {"name": 1}, "units": {"name": 1}}
    reply = act_as("Manager", "addUser", {**NEW, **ids}, get)
    assert reply == ok(
        {
            "_id": new_id(reply),
            "avatar": {"name": "me.png"},
            "organizations": [{"name": "Away"}, {"name": "Home"}],
            "units": [{"name": "Unit"}],
        }
    )
    user = {**NEW, "_id": ObjectId(new_id(reply)), "isActive": True}
    del user["password"]
    assert stored("user", new_id(reply)) == {
        **user,
        "password": NEW_HASH,
        "avatar": file,
        "organizations": [
            {"_id": ObjectId(places.away), "name": "Away"},
            {"_id": ObjectId(places.home), "name": "Home"},
        ],
        "units": [{"_id": ObjectId(places.unit), "name": "Unit"}],
    }
    listed = (stored("organization", places.home)["users"], stored("unit", places.unit)["members"])
    assert listed == ([user], [user])


def test_empty_lists_of_ids_relate_nothing(act_as, stored):
    reply = act_as("Manager", "addUser", {**NEW, "organizations": [], "units": []}, {"organizations": {"name": 1}})
    assert reply == ok({"_id": new_id(reply), "organizations": []})
    assert stored("user", new_id(reply)) == {
        **NEW,
        "_id": ObjectId(new_id(reply)),
        "password": NEW_HASH,
        "isActive": True,
    }


def test_create_mode_coerces(act_as, stored):
    reply = act_as("Manager", "addUser", {**NEW, "isActive": "false"}, {"isActive": 1})
    assert reply == ok({"_id": new_id(reply), "isActive": False})


@pytest.mark.parametrize("name", ["Manager", "Admin", "ghost"])
def test_allowed_anywhere(act_as, places, name):
    reply = act_as(name, "addUser", {**NEW, "organizations": [places.away]}, {"email": 1})
    assert reply == ok({"_id": new_id(reply), "email": "nina@example.com"})


def test_org_head_may_add_to_the_own_organization(act_as, places):
    reply = act_as("OrgHead", "addUser", {**NEW, "organizations": [places.home.upper(), places.away]}, {"email": 1})
    assert reply == ok({"_id": new_id(reply), "email": "nina@example.com"})


def test_org_head_may_add_to_units_of_the_own_organization(act_as, places):
    ids = {"organizations": [places.home], "units": [places.unit.upper()]}
    reply = act_as("OrgHead", "addUser", {**NEW, **ids}, {"units": {"name": 1}})
    assert reply == ok({"_id": new_id(reply), "units": [{"name": "Unit"}]})


@pytest.mark.parametrize("more", [["away"], ["unit", "away"], [NOBODY]], ids=repr)
def test_org_head_may_not_add_to_units_elsewhere(service, act_as, places, digest, more):
    relation = {"_ids": places.away, "relatedRelations": {"units": True}}
    away = service.units.insert_one(doc={"name": "Far"}, relations={"organization": relation})["_id"]
    units = [{"away": str(away), "unit": places.unit}.get(one, one) for one in more]
    before = digest()
    reply = act_as("OrgHead", "addUser", {**NEW, "organizations": [places.home], "units": units}, {})
    assert (reply, digest()) == (refused(403, "You cant do this"), before)


@pytest.mark.parametrize("organizations", [None, [], ["away"], ["away", "home"]], ids=repr)
def test_org_head_may_not_add_elsewhere(act_as, places, digest, organizations):
    ids = {} if organizations is None else {"organizations": [getattr(places, one) for one in organizations]}
    before = digest()
    assert act_as("OrgHead", "addUser", {**NEW, **ids}, {}) == refused(403, "You cant do this")
    assert digest() == before


@pytest.mark.parametrize("name", ["UnitHead", "Employee", "Ordinary"])
def test_other_roles_may_not(act_as, places, digest, name):
    before = digest()
    assert act_as(name, "addUser", {**NEW, "organizations": [places.home]}, {}) == refused(403, "You cant do this")
    assert digest() == before


TOKENS = {
    "missing": (None, "you should send your id with token key in req header"),
    "empty": ("", "Invalid or expired token"),
    "another key": (jwt.encode({"_id": NOBODY}, "x" * 32), "Invalid or expired token"),
    "expired": (jwt.encode({"_id": NOBODY, "exp": 1}, KEY), "Invalid or expired token"),
    "without _id": (jwt.encode({}, KEY), "Invalid or missing token data"),
    "_id an operator": (jwt.encode({"_id": {"$ne": None}}, KEY), "Invalid or missing token data"),
    "of nobody": (jwt.encode({"_id": NOBODY}, KEY), "user not exist"),
}


@pytest.mark.parametrize(("token", "message"), TOKENS.values(), ids=TOKENS)
def test_refuses_the_token(call, people, digest, token, message):
    before = digest()
    assert call("user", "addUser", {**NEW, "activeRoleId": people["Manager"].role}, {}, token) == refused(401, message)
    assert digest() == before


@pytest.mark.parametrize(
    ("role", "status", "message"),
    [
        ({}, 400, "activeRoleId is required"),
        ({"activeRoleId": NOBODY}, 403, "Active role not found"),
        ({"activeRoleId": "Manager"}, 403, "Active role not found"),
    ],
    ids=["missing", "unknown", "a name"],
)
def test_refuses_the_active_role(call, people, digest, role, status, message):
    before = digest()
    assert call("user", "addUser", {**NEW, **role}, {}, people["Manager"].token) == refused(status, message)
    assert digest() == before


def test_someone_elses_role_is_not_the_callers(call, people):
    reply = call("user", "addUser", {**NEW, "activeRoleId": people["Manager"].role}, {}, people["Ordinary"].token)
    assert reply == refused(403, "Active role not found")


def test_refuses_an_email_that_is_taken(act_as, digest, places):
    before = digest()
    taken = {**NEW, "email": "admin@example.com", "organizations": [places.home]}
    assert act_as("Manager", "addUser", taken, {}) == refused(409, "Duplicate key error")
    assert digest() == before


def test_refuses_related_documents_that_do_not_exist(act_as, digest, places):
    before = digest()
    reply = act_as("Manager", "addUser", {**NEW, "organizations": [places.home, NOBODY]}, {})
    assert reply == refused(404, f"organization not found: {NOBODY}")
    assert digest() == before


INVALID = {
    "first_name": ({"first_name": 5}, "set.first_name: Not a valid string."),
    "email": ({"email": {"$ne": None}}, "set.email: Not a valid string."),
    "isActive": ({"isActive": "maybe"}, "set.isActive: Not a valid boolean."),
    "feature": (
        {"features": [{"feature": "none"}]},
        "set.features.0.feature: Must be one of: reports, exports, invitations.",
    ),
    "features item": ({"features": ["reports"]}, "set.features.0: Not a valid mapping type."),
    "avatar": ({"avatar": "x"}, "set.avatar: Not a valid ObjectId (24 hexadecimal digits)."),
    "organization": (
        {"organizations": ["0" * 24 + "\n"]},
        "set.organizations.0: Not a valid ObjectId (24 hexadecimal digits).",
    ),
    "units": ({"units": NOBODY}, "set.units: Not a valid list."),
    "roles": ({"roles": []}, "set.roles: Unknown field."),
    "isGhost": ({"isGhost": True}, "set.isGhost: Unknown field."),
    "_id": ({"_id": NOBODY}, "set._id: Unknown field."),
    "operator": ({"$set": {}}, "set.$set: Unknown field."),
    "password": ({"password": "x" * 201}, "set.password: Longer than maximum length 200."),
    "long name": ({"first_name": "x" * 201}, "set.first_name: Longer than maximum length 200."),
    "long e-mail": ({"email": "x" * 255}, "set.email: Longer than maximum length 254."),
    "many features": ({"features": [{"feature": "reports"}] * 21}, "set.features: Longer than maximum length 20."),
}


@pytest.mark.parametrize(("bad", "message"), INVALID.values(), ids=INVALID)
def test_refuses_invalid_input(act_as, digest, bad, message):
    before = digest()
    assert act_as("Manager", "addUser", {**NEW, **bad}, {}) == refused(400, f"validation error: {message}")
    assert digest() == before


def test_names_every_missing_field(act_as, digest):
    before = digest()
    names = ("first_name", "last_name", "email", "password")
    listed = "; ".join(f"set.{name}: Missing data for required field." for name in names)
    assert act_as("Manager", "addUser", {}, {}) == refused(400, f"validation error: {listed}")
    assert digest() == before


@pytest.mark.parametrize("value", ["$password", "$$ROOT", {"$concat": ["$password"]}, 1.5, "1", None, [1], True])
def test_refuses_a_get_that_is_no_projection(act_as, digest, value):
    before = digest()
    assert act_as("Manager", "addUser", NEW, {"first_name": value}) == refused(
        400, "validation error: get.first_name: Must be 1 or 0."
    )
    assert digest() == before


def test_validation_comes_before_the_token(call):
    assert call("user", "addUser", {**NEW, "email": 1}, {}) == refused(
        400, "validation error: set.email: Not a valid string."
    )


def test_hash_is_that_of_the_contract(service, people):
    found = service.users.find_one(filters={"_id": people["Admin"].id}, projection={}, reveal=["password"])
    assert found == {"_id": ObjectId(people["Admin"].id), "password": HASH}
