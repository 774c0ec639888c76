"""The lists of the sample service: who may read them, which rows, and what filters cannot find out."""

from __future__ import annotations

import pytest

from tests.sample_service.conftest import HASH, NOBODY, ROLES, ok, refused

NAME = {"first_name": 1, "_id": 0}
LIMIT = "set.limit: Must be greater than or equal to 1 and less than or equal to 100."
#: Whom each role may read in getMyUsers.
SCOPES = {
    "Manager": [*ROLES, "ghost"],
    "Admin": [*ROLES, "ghost"],
    "ghost": [*ROLES, "ghost"],
    "OrgHead": ["OrgHead", "Employee"],
    "UnitHead": ["Employee"],
}


@pytest.fixture
def members(act_as, places):
    """The OrgHead and the Employee are in the organization home, the Employee in its unit, Ordinary away."""

    def join(name, people, **places_of):
        reply = act_as("Manager", "updateUserRelations", {"_id": people[name].id, **places_of}, {})
        assert reply[0] == 200

    def make(people):
        join("OrgHead", people, organizations=[places.home])
        join("Employee", people, organizations=[places.home], units=[places.unit])
        join("Ordinary", people, organizations=[places.away])

    return make


@pytest.fixture
def mine(act_as, people, members):
    """Names that a caller finds with getMyUsers: ``mine(name, filter)``, in the order of the people."""
    members(people)

    def mine(name, filter=None, **more):
        set_ = {**({} if filter is None else {"filter": filter}), **more}
        status, envelope = act_as(name, "getMyUsers", set_, NAME)
        assert status == 200, envelope
        assert envelope["body"]["next"] is None
        return [row["first_name"] for row in envelope["body"]["rows"]]

    return mine


def names_of(reply):
    status, envelope = reply
    assert (status, envelope["body"]["next"]) == (200, None)
    return [row["first_name"] for row in envelope["body"]["rows"]]


def test_get_users_gives_the_oldest_first_and_page_by_page(call, people):
    rows, after, token = [], {}, people["Ordinary"].token
    while after is not None:
        _, envelope = call("user", "getUsers", {"limit": 3, **after}, {"first_name": 1}, token)
        assert len(envelope["body"]["rows"]) <= 3
        rows += envelope["body"]["rows"]
        after = envelope["body"]["next"] and {"after": envelope["body"]["next"]}
    assert rows == [{"_id": people[name].id, "first_name": name} for name in (*ROLES, "ghost")]


@pytest.mark.parametrize("name", [*ROLES, "ghost"])
def test_get_users_is_for_all_who_signed_in(call, people, name):
    assert names_of(call("user", "getUsers", {"sort": "-_id"}, NAME, people[name].token)) == ["ghost", *ROLES[::-1]]


def test_get_users_by_organization_unit_and_the_beginning_of_an_email(call, people, places, members):
    members(people)
    for filter, found in [
        ({"organizations": places.home}, ["OrgHead", "Employee"]),
        ({"organizations": {"in": [places.home, places.away]}}, ["OrgHead", "Employee", "Ordinary"]),
        ({"units": places.unit.upper()}, ["Employee"]),
        ({"organizations": places.away, "units": places.unit}, []),
        ({"email": {"prefix": "or"}}, ["OrgHead", "Ordinary"]),
    ]:
        assert names_of(call("user", "getUsers", {"filter": filter}, NAME, people["Ordinary"].token)) == found


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"limit": 0}, LIMIT),
        ({"limit": 101}, LIMIT),
        ({"limit": None}, "set.limit: Field may not be null."),
        ({"skip": 1}, "set.skip: Unknown field."),
        ({"email": "x"}, "set.email: Unknown field."),
        ({"sort": "password"}, "set.sort: Must be one of: _id, -_id, last_name, -last_name."),
        ({"filter": {"password": HASH}}, "set.filter.password: Unknown field."),
        ({"filter": {"$where": "1"}}, "set.filter.$where: Unknown field."),
        ({"filter": {"email": {"$gt": ""}}}, "set.filter.email.$gt: Must be one of: prefix."),
        ({"after": "x"}, "set.after: Not a token of this list: begin again without it."),
    ],
    ids=str,
)
@pytest.mark.parametrize("act", ["getUsers", "getMyUsers"])
def test_lists_of_users_refuse(call, people, act, bad, message):
    if act == "getMyUsers":
        message = message.replace("of: prefix.", "of: prefix, contains.")
    role = {"activeRoleId": people["Manager"].role} if act == "getMyUsers" else {}
    reply = call("user", act, {**role, **bad}, {}, people["Manager"].token)
    assert reply == refused(400, f"validation error: {message}")


@pytest.mark.parametrize("name", SCOPES)
def test_my_users_are_those_of_the_callers_scope(mine, name):
    assert sorted(mine(name)) == sorted(SCOPES[name])


@pytest.mark.parametrize("name", ["Employee", "Ordinary"])
def test_my_users_are_for_managers_and_heads(act_as, people, members, name):
    members(people)
    assert act_as(name, "getMyUsers", {}, NAME) == refused(403, "You cant do this")


def test_my_users_need_an_active_role_of_the_caller(call, people):
    token = people["OrgHead"].token
    assert call("user", "getMyUsers", {}, NAME, token) == refused(400, "activeRoleId is required")
    foreign = {"activeRoleId": people["Manager"].role}
    assert call("user", "getMyUsers", foreign, NAME, token) == refused(403, "Active role not found")


@pytest.mark.parametrize("scope", [{}, {"scopeType": "unit", "scopeId": NOBODY}], ids=["of nothing", "of another kind"])
def test_a_head_whose_role_names_nothing_to_lead_is_refused(act_as, people, scope):
    role = {"roleId": people["OrgHead"].role, "name": "OrgHead", **scope}
    assert act_as("Manager", "setUserRoles", {"_id": people["OrgHead"].id, "roles": [role]}, {})[0] == 200
    assert act_as("OrgHead", "getMyUsers", {}, NAME) == refused(403, "You cant do this")


@pytest.mark.parametrize("name", ["OrgHead", "UnitHead"])
def test_no_filter_reveals_users_outside_the_scope(mine, places, name):
    for filter in [
        {"organizations": places.away},
        {"organizations": {"ne": places.home}},
        {"email": {"prefix": "manager"}},
        {"email": {"contains": "ordinary"}},
        {"roles.name": {"in": ["Manager", "Admin", "Ordinary"]}},
        {"roles.name": {"nin": ["OrgHead", "Employee"]}},
        {"units": {"ne": places.unit}, "organizations": {"ne": places.home}},
    ]:
        assert mine(name, filter) == []


def test_the_total_counts_only_the_scope(act_as, people, members):
    members(people)
    page = {"rows": [{"first_name": "Employee"}], "next": None, "total": 1}
    assert act_as("UnitHead", "getMyUsers", {}, NAME) == ok(page)


def test_a_token_of_someone_else_opens_nothing_more(act_as, people, members):
    members(people)
    _, envelope = act_as("Manager", "getMyUsers", {"limit": 1, "sort": "_id"}, NAME)
    reply = act_as("UnitHead", "getMyUsers", {"limit": 100, "sort": "_id", "after": envelope["body"]["next"]}, NAME)
    assert reply == ok({"rows": [{"first_name": "Employee"}], "next": None})


def test_lists_of_users_never_show_a_password(call, people):
    token, get = people["Manager"].token, {**NAME, "password": 1}
    page = {"rows": [{"first_name": "Manager"}], "next": None}
    set_ = {"filter": {"email": {"prefix": "manager@"}}}
    assert call("user", "getUsers", set_, get, token) == ok(page)
    own = {**set_, "activeRoleId": people["Manager"].role}
    assert call("user", "getMyUsers", own, get, token) == ok({**page, "total": 1})


def test_organizations_by_page_and_name(call, people, places):
    token = people["Ordinary"].token
    page = call("organization", "getOrganizations", {"limit": 1}, {"name": 1}, token)
    after = page[1]["body"]["next"]
    assert page == ok({"rows": [{"_id": places.home, "name": "Home"}], "next": after})
    rest = call("organization", "getOrganizations", {"limit": 1, "after": after}, {"name": 1}, token)
    away = {"rows": [{"_id": places.away, "name": "Away"}], "next": None}
    assert rest == ok(away)
    found = call("organization", "getOrganizations", {"filter": {"name": {"contains": "WAY"}}}, {"name": 1}, token)
    assert found == ok(away)


def test_units_by_organization(call, people, places):
    token, unit = people["Ordinary"].token, {"_id": places.unit, "name": "Unit"}
    for set_, rows in [
        ({}, [unit]),
        ({"filter": {"organization": places.home}}, [unit]),
        ({"filter": {"organization": places.away}}, []),
    ]:
        assert call("unit", "getUnits", set_, {"name": 1}, token) == ok({"rows": rows, "next": None})


@pytest.mark.parametrize(
    ("model", "act", "name"),
    [("organization", "getOrganizations", "users.email"), ("unit", "getUnits", "members.password")],
    ids=["organization", "unit"],
)
def test_lists_of_places_refuse_undeclared_filters(call, people, model, act, name):
    reply = call(model, act, {"filter": {name: "x"}}, {}, people["Manager"].token)
    assert reply == refused(400, f"validation error: set.filter.{name}: Unknown field.")
