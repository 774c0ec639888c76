"""Changes of relations of one document."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.errors import Conflict
from gatewayfw.odm.writing.inputs import RelationInput
from gatewayfw.odm.writing.plan.relate import ids_to_copy
from gatewayfw.schemas import Relation
from tests.odm.tags import TAGS
from tests.odm.towns import (
    ANN,
    ANN_COPY,
    BONN,
    BONN_COPY,
    related,
)

A, B = ObjectId("a" * 24), ObjectId("b" * 24)


def test_nothing_more_may_come_to_a_required_relation(blog):
    required = {"tags": {"schemaName": "tag", "type": "multiple", "optional": False}}
    note = blog.new_model("note", {}, required)
    made = note.insert_one({}, relations={"tags": {"_ids": TAGS[:1]}})
    assert note.add_relation({"_id": made["_id"]}, relations={"tags": {"_ids": []}}) == made
    with pytest.raises(Conflict, match="tags is required"):
        note.add_relation({"_id": made["_id"]}, relations={"tags": {"_ids": []}}, replace=True)
    assert note.find_one({}) == made


@pytest.mark.mongo
def test_one_write_empties_one_relation_and_fills_another(towns):
    """Only windows of the first model are locked, and the second is read."""
    towns = towns()
    relations = {**related("visited", []), **related("home", BONN)}
    shown = towns.guest.add_relation({"_id": ANN}, relations=relations, replace=True)
    assert shown == {**ANN_COPY, "visited": [], "home": BONN_COPY}


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
