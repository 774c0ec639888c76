"""What an operation changes in targets, collected before anything is written; pure."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.writing.plan.effects import Effects
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
    effects.forget({"org": {B}})
    assert (effects.to_recompute(), effects.releases) == ({LIST: {A}, OTHER: set()}, {(HEAD, A): (A, set())})


def test_targets_of_another_model_are_not_forgotten(effects):
    effects.leave(LIST, A, B)
    effects.leave(HEAD, A, B)
    effects.forget({"club": {A}})
    assert (effects.windows, effects.releases) == ({LIST: {A}}, {(HEAD, B): (B, {A})})


@pytest.mark.parametrize("kind", ["windows", "entries", "claims", "releases"])
def test_each_effect_locks_its_target(effects, kind):
    changes = {
        "windows": lambda: effects.recompute(LIST, A),
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


def test_a_member_departs_from_all_reverses_of_a_relation(effects):
    relation = Relation("org", "multiple", name="orgs", model="user", related_relations={"u": LIST, "h": HEAD})
    effects.depart(relation, [A], B)
    assert (effects.windows, effects.releases) == ({LIST: {A}}, {(HEAD, B): (B, {A})})


def test_a_renewed_copy_locks_the_targets_that_may_list_it_and_no_single_reverse(effects):
    effects.renewals += [(LIST, [A], {"_id": B}), (HEAD, [B], {"_id": B})]
    assert effects.targets() == {"org": {A}}
