"""The rules of copies; pure."""

from __future__ import annotations

from bson import ObjectId

from gatewayfw.odm.copies.rules import HiddenField, assign, copy_of, embedded, ids_in, merged
from gatewayfw.odm.writing.relation_input import object_id
from gatewayfw.schemas import RelatedRelation, Relation, Sort

A, B = ObjectId("a" * 24), ObjectId("b" * 24)
NEWEST = RelatedRelation(
    type="multiple", limit=3, sort=Sort("_id", "desc"), name="users", relation="orgs", member="user", target="org"
)
HEAD = RelatedRelation(type="single", name="head", relation="orgs", member="user", target="org")


def test_a_copy_has_the_id_and_the_fields_that_are_present():
    assert copy_of({"_id": A, "name": "n", "age": None, "x": 1}, ("name", "age", "gone")) == {
        "_id": A,
        "name": "n",
        "age": None,
    }


def test_ids_are_read_from_any_form_of_a_relation():
    assert ids_in(None) == ids_in([]) == ids_in("x") == ids_in({"_id": 5}) == []
    assert ids_in({"_id": A}) == [A]
    assert ids_in([{"_id": B}, None, {"_id": A}, {}]) == [B, A]


def test_only_real_ids_are_ids():
    assert (object_id(A), object_id("A" * 24)) == (A, A)
    given = ["a" * 23, "g" * 24, "a" * 24 + "\n", b"a" * 24, 5, None, ["a" * 24], "\uff11" * 24]
    assert [object_id(one) for one in given] == [None] * len(given)


def test_nothing_is_stored_as_absence():
    relation = Relation("org", "multiple")
    assert embedded(relation, []) is None
    assert embedded(relation, [{"_id": A}]) == [{"_id": A}]
    assert embedded(Relation("org", "single"), [{"_id": A}]) == {"_id": A}
    assert assign("orgs", None) == assign("orgs", []) == {"$unset": {"orgs": ""}}
    assert assign("orgs", [1]) == {"$set": {"orgs": [1]}}


def test_updates_are_merged_by_operator():
    assert merged({"$set": {"a": 1}}, {}, {"$set": {"b": 2}, "$unset": {"c": ""}}) == {
        "$set": {"a": 1, "b": 2},
        "$unset": {"c": ""},
    }


def test_a_hidden_field_that_says_nothing_is_empty_and_not_written():
    hidden = HiddenField({"_id": A, "_gw": {"rev": 5}})
    hidden.set_out(NEWEST, A, True)
    hidden.set_out(NEWEST, A, False)
    hidden.set_at("orgs", A, 0)
    assert (hidden.document(), hidden.update()) == ({}, {})


def test_hidden_changes_become_the_smallest_update():
    hidden = HiddenField({"_gw": {"rev": 1, "v": 2, "out": {"orgs": {"users": [A]}}, "at": {"orgs": {str(A): 1}}}})
    hidden.set_out(NEWEST, B, True)
    hidden.forget("orgs", [A])
    assert hidden.is_out(NEWEST, B)
    assert not hidden.is_out(NEWEST, A)
    assert hidden.update() == {"$set": {"_gw.out": {"orgs": {"users": [B]}}}, "$unset": {"_gw.at": ""}}


def test_a_hidden_field_without_counter_vanishes_with_its_last_word():
    hidden = HiddenField({"_gw": {"out": {"orgs": {"users": [A]}}}})
    hidden.set_out(NEWEST, A, False)
    assert hidden.update() == {"$unset": {"_gw": ""}}


def test_reading_does_not_share_lists_with_the_document():
    document = {"_gw": {"out": {"orgs": {"users": [A]}}}}
    HiddenField(document).set_out(NEWEST, B, True)
    assert document == {"_gw": {"out": {"orgs": {"users": [A]}}}}


def test_a_change_of_the_document_raises_its_revision_and_keeps_the_field():
    hidden = HiddenField({"_gw": {"r": 1, "out": {"orgs": {"users": [A]}}}})
    hidden.forget("orgs", [A])
    assert hidden.update() == {"$unset": {"_gw.out": ""}}
    assert hidden.revised() == {"$unset": {"_gw.out": ""}, "$inc": {"_gw.r": 1}}
    assert HiddenField().revised() == {"$inc": {"_gw.r": 1}}
