"""Which relations follow their sources, and whose sources an `add_relation` copies; pure."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.writing.frozen import followers, ids_to_copy
from gatewayfw.odm.writing.relation_input import RelationInput
from gatewayfw.schemas import Relation, Schemas, string
from gatewayfw.settings import Settings

A, B = ObjectId("a" * 24), ObjectId("b" * 24)


def test_relations_follow_unless_they_are_frozen():
    schemas = Schemas(Settings())
    schemas.add("org", {"name": string()})
    org = {"schemaName": "org", "type": "single"}
    schemas.add("user", {}, {"org": org, "first": {**org, "frozen": True}})
    assert [relation.name for relation in schemas.embedders("org")] == ["org", "first"]
    assert [relation.name for relation in followers(schemas, "org")] == ["org"]


@pytest.mark.parametrize(
    ("frozen", "replace", "copied"), [(True, True, [B]), (True, False, [A, B]), (False, True, [A, B])]
)
def test_only_a_replaced_frozen_relation_keeps_copies(frozen, replace, copied):
    given = RelationInput(Relation("org", "multiple", frozen=frozen), (A, B))
    assert ids_to_copy(given, [{"_id": A}], (A, B), replace) == copied


@pytest.mark.parametrize(("frozen", "copied"), [(False, [A, B]), (True, [B])])
def test_a_copy_in_the_other_form_is_taken_anew_unless_it_is_frozen(frozen, copied):
    given = RelationInput(Relation("org", "multiple", frozen=frozen), (B,))
    assert ids_to_copy(given, {"_id": A}, (A, B), False) == copied
