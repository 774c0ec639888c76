"""What an operation changes in targets, collected before anything is written; pure."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.writing.effects import Effects
from gatewayfw.schemas import RelatedRelation, Relation

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
    assert effects.targets() == {"org": {A, B}}
    assert effects.claims == {(HEAD, A): {"_id": B}}
    effects.forget("org", {B})
    assert (effects.recomputed(), effects.releases) == ({LIST: {A}, OTHER: set()}, {(HEAD, A): set()})


def test_only_windows_are_recomputed(effects):
    effects.enter(LIST, A, {"_id": B})
    effects.enter(HEAD, A, {"_id": B})
    effects.recompute(OTHER, B)
    assert effects.recomputed() == {LIST: {A}, OTHER: {B}}


def test_what_was_written_is_settled(effects):
    effects.enter(LIST, A, {"_id": B})
    effects.enter(HEAD, A, {"_id": B})
    effects.settled([(LIST, A), (HEAD, A), (OTHER, A)])
    assert (effects.entries, effects.claims, effects.targets()) == ({}, {}, {})


def test_a_member_departs_from_all_reverses_of_a_relation(effects):
    relation = Relation("org", "multiple", name="orgs", model="user", related_relations={"u": LIST, "h": HEAD})
    effects.depart(relation, [A], B)
    assert (effects.windows, effects.releases) == ({LIST: {A}}, {(HEAD, B): {A}})


def test_a_renewed_copy_locks_the_targets_that_may_list_it_and_no_single_reverse(effects):
    effects.renewals += [(LIST, [A], {"_id": B}), (HEAD, [B], {"_id": B})]
    assert effects.targets() == {"org": {A}}
