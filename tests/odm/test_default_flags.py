"""A reverse relation whose flags are true unless the caller says false."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import string
from tests.odm.oracle import check

REVERSES = {
    "users": {"type": "multiple", "limit": 5, "sort": {"field": "name", "order": "asc"}, "default": True},
    "head": {"type": "single", "default": True},
    "guests": {"type": "multiple", "limit": 5},
}


@pytest.fixture
def odm(odm, request):
    """Users in organizations that list them by default; afterwards all copies and windows are right."""
    odm.new_model("org", {"name": string()})
    type_ = getattr(request, "param", "multiple")
    orgs = {"schemaName": "org", "type": type_, "optional": True, "relatedRelations": REVERSES}
    odm.new_model("user", {"name": string()}, {"orgs": orgs})
    yield odm
    assert check(odm.schemas, odm.storage) == []
    assert list(odm.integrity.check()) == []


@pytest.fixture
def org(odm):
    return odm.model("org").insert_one(doc={"name": "org"})["_id"]


def add_user(odm, org, name="x", **flags):
    related = {"orgs": {"_ids": org, "relatedRelations": flags}}
    if odm.schemas.get_relations("user")["orgs"].type == "multiple":
        related["orgs"]["_ids"] = [org]
    return odm.model("user").insert_one(doc={"name": name}, relations=related)["_id"]


def names(odm, org):
    """The names that each reverse relation of an organization lists."""
    stored = next(odm.storage.find("org", {"_id": org}))
    lists = {name: stored[name] for name in REVERSES if name in stored}
    return {
        name: [one["name"] for one in (value if isinstance(value, list) else [value])]
        for name, value in lists.items()
        if value
    }


@pytest.mark.parametrize("odm", ["single", "multiple"], indirect=True)
def test_an_omitted_flag_lists_the_member_and_claims(odm, org):
    add_user(odm, org, "b")
    add_user(odm, org, "a")
    assert names(odm, org) == {"users": ["a", "b"], "head": ["a"]}


@pytest.mark.parametrize("odm", ["single", "multiple"], indirect=True)
def test_false_keeps_the_member_out(odm, org):
    add_user(odm, org, "b")
    add_user(odm, org, "a", users=False, head=False)
    assert names(odm, org) == {"users": ["b"], "head": ["b"]}


def test_a_flag_without_default_stays_false(odm, org):
    add_user(odm, org, guests=True, head=False, users=False)
    add_user(odm, org, "y", head=False, users=False)
    assert names(odm, org) == {"guests": ["x"]}


def test_an_id_that_stays_keeps_its_membership(odm, org):
    user = add_user(odm, org, users=False, head=False)
    for replace in (False, True):
        changed = odm.model("user").add_relation(
            filters={"_id": user}, relations={"orgs": {"_ids": [org]}}, replace=replace
        )
        assert [one["name"] for one in changed["orgs"]] == ["org"]
        assert names(odm, org) == {}


def test_an_id_that_is_added_is_listed(odm, org):
    other = odm.model("org").insert_one(doc={"name": "other"})["_id"]
    user = add_user(odm, org, users=False, head=False)
    odm.model("user").add_relation(filters={"_id": user}, relations={"orgs": {"_ids": [other]}})
    assert names(odm, org) == {}
    assert names(odm, other) == {"users": ["x"], "head": ["x"]}
