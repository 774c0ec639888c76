"""One document of an operation: what it takes from sources, and what it does to their reverses."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.writing.draft import Draft
from gatewayfw.odm.writing.effects import Effects
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
def draft(schemas):
    return Draft(schemas, {"_id": ME, "name": "n", "mail": "m"}, Effects())


def test_a_flag_enters_the_reverse_with_the_copy_it_shows(draft, relation, reverses):
    draft.enrol(RelationInput(relation, (A,), {"users": True, "head": True}))
    assert draft.effects.entries == {(reverses["users"], A): [{"_id": ME, "name": "n"}]}
    assert draft.effects.claims == {(reverses["head"], A): {"_id": ME, "name": "n", "mail": "m"}}
    assert draft.hidden.document() == {}


def test_without_a_flag_a_new_member_opts_out(draft, relation):
    draft.enrol(RelationInput(relation, (A,)))
    assert (draft.effects.targets(), draft.hidden.document()) == ({}, {"out": {"orgs": {"users": [A]}}})


def test_a_default_stands_for_a_flag_left_out(draft, schemas):
    back = {"type": "multiple", "default": True}
    orgs = {"schemaName": "org", "type": "single", "relatedRelations": {"editors": back}}
    schemas.add("editor", {"name": string()}, {"org": orgs}, {})
    relation, reverse = schemas.get_relations("editor")["org"], schemas.get_related_relations("org")["editors"]
    draft.enrol(RelationInput(relation, (A,)))
    draft.enrol(RelationInput(relation, (B,), {"editors": False}))
    assert draft.effects.entries == {(reverse, A): [{"_id": ME, "name": "n"}]}
    assert draft.hidden.document() == {"out": {"org": {"editors": [B]}}}


def test_a_present_id_keeps_its_membership_where_the_flag_is_omitted(draft, relation, reverses):
    draft.enrol(RelationInput(relation, (A, B), {"users": False}), present=[A, B])
    assert draft.effects.windows == {reverses["users"]: {A, B}}
    assert draft.effects.releases == {}


def test_a_copy_is_taken_with_the_version_it_is_of(draft, relation):
    assert draft.take(relation, {"_id": A, "name": "o", "secret": "s", "_gw": {"v": 3}}) == {"_id": A, "name": "o"}
    assert draft.hidden.document() == {"at": {"orgs": {str(A): 3}}}


def test_a_dropped_copy_leaves_nothing_behind(draft, relation, reverses):
    draft.take(relation, {"_id": A, "_gw": {"v": 3}})
    draft.drop(relation, [A])
    assert draft.hidden.document() == {}
    assert (draft.effects.windows, draft.effects.releases) == (
        {reverses["users"]: {A}},
        {(reverses["head"], ME): (ME, {A})},
    )
