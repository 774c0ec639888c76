"""What an operation does to targets, and what one document of it takes from sources."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.copies.rules import HiddenField
from gatewayfw.odm.writing.inputs import RelationInput
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects, Member
from gatewayfw.schemas import RelatedRelation, Relation, Schemas, string
from gatewayfw.settings import Settings

A, B = ObjectId("a" * 24), ObjectId("b" * 24)


def reverse(name, type="multiple"):
    return RelatedRelation(type=type, name=name, relation="orgs", member="user", target="org")


LIST, OTHER, HEAD = reverse("users"), reverse("others"), reverse("head", "single")


@pytest.fixture
def effects():
    return Effects()


def test_effects_know_their_targets_and_forget_deleted_ones(effects):
    effects.enter(LIST, A, {"_id": B})
    effects.enter(HEAD, A, {"_id": B})
    effects.leave(HEAD, B, A)
    effects.leave(OTHER, B, A)
    effects.recompute(LIST, B)
    assert effects.targets() == {"org": {A, B}}
    assert effects.claims == {(HEAD, A): {"_id": B}}
    effects.forget({"org": {B}})
    assert (effects.to_recompute(), effects.releases) == ({LIST: {A}}, {(HEAD, A): (A, set())})
    assert effects.departures == {}


def test_targets_of_another_model_are_not_forgotten(effects):
    effects.leave(LIST, A, B)
    effects.leave(HEAD, A, B)
    effects.forget({"club": {A}})
    assert (effects.departures, effects.releases) == ({(LIST, A): [B]}, {(HEAD, B): (B, {A})})


@pytest.mark.parametrize("kind", ["windows", "departures", "entries", "claims", "releases"])
def test_each_effect_locks_its_target(effects, kind):
    changes = {
        "windows": lambda: effects.recompute(LIST, A),
        "departures": lambda: effects.leave(LIST, A, B),
        "entries": lambda: effects.enter(LIST, A, {"_id": B}),
        "claims": lambda: effects.enter(HEAD, A, {"_id": B}),
        "releases": lambda: effects.leave(HEAD, A, B),
    }
    changes[kind]()
    assert effects.targets() == {"org": {A}}


def test_only_windows_are_recomputed(effects):
    effects.enter(LIST, A, {"_id": B})
    effects.enter(HEAD, A, {"_id": B})
    effects.recompute(OTHER, B)
    assert effects.to_recompute() == {LIST: {A}, OTHER: {B}}


def test_a_window_whose_entries_are_written_is_not_recomputed(effects):
    effects.enter(LIST, A, {"_id": B})
    effects.enter(LIST, B, {"_id": A})
    effects.recompute(OTHER, A)
    effects.written.update([(LIST, A), (OTHER, A)])
    assert effects.to_recompute() == {LIST: {B}, OTHER: {A}}


def test_only_windows_that_list_a_member_which_leaves_are_recomputed(effects):
    for id_ in (A, B):
        effects.leave(LIST, id_, A)
        effects.leave(LIST, id_, B)
    assert effects.departures == {(LIST, A): [A, B], (LIST, B): [A, B]}
    effects.decide([(LIST, A), (LIST, B)], {B})
    assert (effects.to_recompute(), effects.departures) == ({LIST: {B}}, {})


def test_a_member_departs_from_the_reverses_of_a_relation_that_may_list_it(effects):
    reverses = {"users": LIST, "others": OTHER, "head": HEAD}
    relation = Relation("org", "multiple", name="orgs", model="user", related_relations=reverses)
    effects.depart(relation, [A], B, HiddenField({"_gw": {"out": {"orgs": {"others": [A], "head": [A]}}}}))
    assert (effects.departures, effects.releases) == ({(LIST, A): [B]}, {(HEAD, B): (B, {A})})


def test_a_renewed_copy_locks_the_targets_that_may_list_it_and_no_single_reverse(effects):
    effects.renewals += [(LIST, [A], {"_id": B}), (HEAD, [B], {"_id": B})]
    assert effects.targets() == {"org": {A}}


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
    assert (member.effects.targets(), member.hidden.document()) == ({}, {"some": {"orgs": {"users": True}}})


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
    assert member.effects.departures == {(reverses["users"], A): [ME], (reverses["users"], B): [ME]}
    assert member.effects.releases == {}


def test_a_copy_is_taken_with_the_version_it_is_of(member, relation):
    assert member.take(relation, {"_id": A, "name": "o", "secret": "s", "_gw": {"v": 3}}) == {"_id": A, "name": "o"}
    assert member.hidden.document() == {"at": {"orgs": {str(A): 3}}}


def test_a_copy_that_leaves_leaves_nothing_behind(member, relation, reverses):
    member.take(relation, {"_id": A, "_gw": {"v": 3}})
    member.leave(relation, [A])
    assert member.hidden.document() == {}
    assert (member.effects.departures, member.effects.releases) == (
        {(reverses["users"], A): [ME]},
        {(reverses["head"], ME): (ME, {A})},
    )
