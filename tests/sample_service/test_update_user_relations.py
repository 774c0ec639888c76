"""user.updateUserRelations: adding, replacing, and every refusal."""

from __future__ import annotations

import pytest
from bson import ObjectId

from tests.sample_service.conftest import NOBODY, ok, refused

GET = {"avatar": {"name": 1}, "organizations": {"name": 1}, "units": {"name": 1}}


@pytest.fixture
def target(service, places):
    """The id of a user in the organization home."""
    doc = {"first_name": "A", "last_name": "B", "email": "target@example.com", "password": "0" * 64}
    relations = {"organizations": {"_ids": [places.home], "relatedRelations": {"users": True}}}
    return str(service.users.insert_one(doc=doc, relations=relations)["_id"])


def members(stored, places):
    """Who the two organizations and the unit list, by id."""
    lists = (
        stored("organization", places.home).get("users", []),
        stored("organization", places.away).get("users", []),
        stored("unit", places.unit).get("members", []),
    )
    return tuple([str(one["_id"]) for one in listed] for listed in lists)


def test_adds_to_what_is_there(act_as, target, places, stored):
    set_ = {"_id": target, "organizations": [places.away], "units": [places.unit]}
    assert act_as("Admin", "updateUserRelations", set_, GET) == ok(
        {"_id": target, "organizations": [{"name": "Home"}, {"name": "Away"}], "units": [{"name": "Unit"}]}
    )
    assert members(stored, places) == ([target], [target], [target])


def test_replaces_all_of_a_relation(act_as, target, places, stored):
    set_ = {"_id": target, "organizations": [places.away], "replace": True}
    assert act_as("Manager", "updateUserRelations", set_, GET) == ok(
        {"_id": target, "organizations": [{"name": "Away"}], "units": []}
    )
    assert members(stored, places) == ([], [target], [])


def test_an_empty_list_that_replaces_ends_the_relation(act_as, target, places, stored):
    set_ = {"_id": target, "organizations": [], "replace": True}
    assert act_as("Manager", "updateUserRelations", set_, GET) == ok({"_id": target, "organizations": [], "units": []})
    assert members(stored, places) == ([], [], [])
    assert "organizations" not in stored("user", target)


def test_avatar_is_set_and_changed_only_with_replace(service, act_as, target, stored):
    first, second = service.files.insert_many(
        docs=[{"name": name, "type": "image/png", "size": 1} for name in ("one", "two")]
    )
    set_ = {"_id": target, "avatar": str(first["_id"])}
    assert act_as("Manager", "updateUserRelations", set_, {"avatar": 1})[0] == 200
    again = {"_id": target, "avatar": str(second["_id"])}
    assert act_as("Manager", "updateUserRelations", again, {"avatar": 1})[0] == 409
    assert act_as("Manager", "updateUserRelations", {**again, "replace": True}, {"avatar": {"name": 1}}) == ok(
        {"_id": target, "avatar": {"name": "two"}}
    )
    assert stored("user", target)["avatar"] == second


@pytest.mark.parametrize("name", ["OrgHead", "UnitHead", "Employee", "Ordinary"])
def test_other_roles_may_not(act_as, target, places, digest, name):
    before = digest()
    set_ = {"_id": target, "organizations": [places.home], "replace": True}
    assert act_as(name, "updateUserRelations", set_, {}) == refused(403, "You cant do this")
    assert digest() == before


@pytest.mark.parametrize(
    ("set_", "status", "message"),
    [
        ({"_id": NOBODY, "units": []}, 404, "user not found"),
        ({"units": [NOBODY]}, 404, f"unit not found: {NOBODY}"),
        ({"avatar": NOBODY}, 404, f"file not found: {NOBODY}"),
        ({}, 400, "validation error: relations: Name at least one relation."),
        ({"units": [NOBODY, NOBODY]}, 400, "validation error: relations.units._ids: Ids may not repeat."),
        ({"avatar": [NOBODY]}, 400, "validation error: set.avatar: Not a valid ObjectId (24 hexadecimal digits)."),
        ({"first_name": "X"}, 400, "validation error: set.first_name: Unknown field."),
        ({"units": [], "replace": "maybe"}, 400, "validation error: set.replace: Not a valid boolean."),
    ],
    ids=str,
)
def test_refuses(act_as, target, digest, set_, status, message):
    before = digest()
    assert act_as("Manager", "updateUserRelations", {"_id": target, **set_}, {}) == refused(status, message)
    assert digest() == before


def test_copies_hold_no_rights(service, act_as, people, places, stored):
    ids = {"organizations": [places.away], "units": [places.unit]}
    assert act_as("ghost", "updateUserRelations", {"_id": people["ghost"].id, **ids}, {})[0] == 200
    copy = {
        "_id": ObjectId(people["ghost"].id),
        "first_name": "ghost",
        "last_name": "Example",
        "email": "ghost@example.com",
        "isActive": True,
    }
    assert (stored("organization", places.away)["users"], stored("unit", places.unit)["members"]) == ([copy], [copy])
