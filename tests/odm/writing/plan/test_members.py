"""One document of an operation: what it takes from sources, and what it does to their reverses."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.members import Member
from gatewayfw.odm.writing.relation_input import RelationInput
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings

A, B, ME = (ObjectId(letter * 24) for letter in "abc")


@pytest.fixture
def schemas():
    """Users in organizations that list them."""
    schemas = Schemas(Settings())
    schemas.add("org", {"name": string(), "secret": string()}, {}, {"excludes": ["secret"]})
    orgs = {
        "schemaName": "org",
        "type": "multiple",
        "optional": True,
        "relatedRelations": {"users": {"type": "multiple", "excludes": ["mail"]}, "head": {"type": "single"}},
    }
    schemas.add("user", {"name": string(), "mail": string()}, {"orgs": orgs}, {})
    return schemas


@pytest.fixture
def relation(schemas):
    return schemas.get_relations("user")["orgs"]


@pytest.fixture
def reverses(schemas):
    return schemas.get_related_relations("org")


@pytest.fixture
def member(schemas):
    return Member(Attempt(schemas, None), {"_id": ME, "name": "n", "mail": "m"}, Effects())


def test_a_flag_enters_the_reverse_with_the_copy_it_shows(member, relation, reverses):
    member.enter(RelationInput(relation, (A,), {"users": True, "head": True}))
    assert member.effects.entries == {(reverses["users"], A): [{"_id": ME, "name": "n"}]}
    assert member.effects.claims == {(reverses["head"], A): {"_id": ME, "name": "n", "mail": "m"}}
    assert member.hidden.document() == {}


def test_without_a_flag_a_new_member_opts_out(member, relation):
    member.enter(RelationInput(relation, (A,)))
    assert (member.effects.targets(), member.hidden.document()) == ({}, {"out": {"orgs": {"users": [A]}}})


def test_a_default_stands_for_a_flag_left_out(member, schemas):
    back = {"type": "multiple", "default": True}
    orgs = {"schemaName": "org", "type": "single", "relatedRelations": {"editors": back}}
    schemas.add("editor", {"name": string()}, {"org": orgs}, {})
    relation, reverse = schemas.get_relations("editor")["org"], schemas.get_related_relations("org")["editors"]
    member.enter(RelationInput(relation, (A,)))
    member.enter(RelationInput(relation, (B,), {"editors": False}))
    assert member.effects.entries == {(reverse, A): [{"_id": ME, "name": "n"}]}
    assert member.hidden.document() == {"out": {"org": {"editors": [B]}}}


def test_a_present_id_keeps_its_membership_where_the_flag_is_omitted(member, relation, reverses):
    member.enter(RelationInput(relation, (A, B), {"users": False}), present=[A, B])
    assert member.effects.windows == {reverses["users"]: {A, B}}
    assert member.effects.releases == {}


def test_a_copy_is_taken_with_the_version_it_is_of(member, relation):
    assert member.take(relation, {"_id": A, "name": "o", "secret": "s", "_gw": {"v": 3}}) == {"_id": A, "name": "o"}
    assert member.hidden.document() == {"at": {"orgs": {str(A): 3}}}


def test_a_copy_that_leaves_leaves_nothing_behind(member, relation, reverses):
    member.take(relation, {"_id": A, "_gw": {"v": 3}})
    member.leave(relation, [A])
    assert member.hidden.document() == {}
    assert (member.effects.windows, member.effects.releases) == (
        {reverses["users"]: {A}},
        {(reverses["head"], ME): (ME, {A})},
    )
