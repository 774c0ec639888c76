"""The rules of copies; pure, but for what their filters find."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bson import ObjectId

from gatewayfw.odm.copies.rules import (
    CUT,
    LOCK,
    HiddenField,
    assign,
    copy_of,
    embedded,
    followers,
    has_form,
    holding,
    ids_in,
    merged,
    older,
    place,
    pull_copy,
    renewal_of,
    unset_relation,
    version_of,
    without,
)
from gatewayfw.odm.hidden import counter_in, cuts_of
from gatewayfw.schemas import RelatedRelation, Relation, Schemas, Sort, integer, nullable, optional, string
from gatewayfw.settings import Settings
from gatewayfw.storage import Lock

A, B, C = (ObjectId(letter * 24) for letter in "abc")
NEWEST = RelatedRelation(
    type="multiple", limit=3, sort=Sort("_id", "desc"), name="users", relation="orgs", member="user", target="org"
)
HEAD = RelatedRelation(type="single", name="head", relation="orgs", member="user", target="org")
OLDEST = RelatedRelation(type="multiple", name="oldest", relation="orgs", member="user", target="org")
LAND = RelatedRelation(type="multiple", name="cities", relation="land", member="user", target="land", of_single=True)
ORGS = Relation("org", "multiple", name="orgs", model="user", related_relations={"users": NEWEST, "head": HEAD})
ORG = Relation("org", "single", name="org", model="user")


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
    hidden = HiddenField({"_gw": {"rev": 1, "v": 2, "out": {"land": {"cities": [A]}}, "at": {"land": {str(A): 1}}}})
    hidden.set_out(LAND, B, True)
    hidden.forget("land", [A])
    assert hidden.is_out(LAND, B)
    assert hidden.update() == {"$set": {"_gw.out": {"land": {"cities": [B]}}}, "$unset": {"_gw.at": ""}}


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
    assert HiddenField({}).revised() == {"$inc": {"_gw.r": 1}}


@pytest.mark.parametrize("left", ["rev", "r", "cut"])
def test_a_hidden_field_stays_while_it_says_something_else(left):
    hidden = HiddenField({"_gw": {left: 1, "at": {"orgs": {str(A): 1}}}})
    hidden.forget("orgs", [A])
    assert hidden.update() == {"$unset": {"_gw.at": ""}}


def test_a_document_opted_out_of_one_reverse_is_in_all_others():
    hidden = HiddenField({"_gw": {"out": {"orgs": {"users": [A, 5, A]}, "land": {"cities": [A]}}}})
    assert [hidden.is_out(one, id_) for one in (NEWEST, OLDEST) for id_ in (A, B)] == [True, False, False, False]
    assert [hidden.is_out(LAND, B), HiddenField({}).is_out(LAND, B), HiddenField({}).is_out(NEWEST, A)] == [
        True,
        False,
        False,
    ]


BROKEN = [
    {"_gw": 5},
    {"_gw": {"v": "1", "rev": "1", "out": 5, "at": [], "cut": 7}},
    {"_gw": {"out": {"orgs": 5}, "at": {"orgs": [1]}, "cut": {"users": "x"}}},
    {"_gw": {"out": {"orgs": {"users": 5}}}},
    {"_gw": {"some": {"orgs": {"users": 1}}, "in": {"orgs": 5}}},
]


@pytest.mark.parametrize("document", BROKEN, ids=str)
def test_a_hidden_field_that_another_tool_broke_says_nothing(document):
    assert HiddenField(document).document() == {}
    assert version_of(document) == 0
    assert counter_in(document, "rev") == 0
    assert cuts_of(document) == {}


def test_a_hidden_field_has_a_version_a_counter_and_shares():
    document = {"_gw": {"v": 3, "rev": 7, "cut": {"users": 5, "oldest": None}}}
    assert version_of(document) == 3
    assert counter_in(document, "rev") == 7
    assert cuts_of(document) == {"users": 5}
    assert HiddenField(document).document() == {"v": 3}


def test_locks_and_cuts_are_in_the_hidden_field():
    assert Lock("_gw.rev") == LOCK
    assert CUT == "_gw.cut"


def test_a_forgotten_copy_leaves_the_notes_of_others():
    notes = {"out": {"orgs": {"users": [A, B]}, "land": {"cities": [A]}}, "at": {"orgs": {str(A): 1, str(B): 2}}}
    hidden = HiddenField({"_gw": notes})
    hidden.forget("orgs", [A])
    hidden.forget("other", [A])
    left = {"out": {"orgs": {"users": [B]}, "land": {"cities": [A]}}, "at": {"orgs": {str(B): 2}}}
    assert hidden.document() == left
    assert hidden.update() == {"$set": {f"_gw.{name}": value for name, value in left.items()}}


def test_copies_leave_a_relation():
    document = {"orgs": [{"_id": A}, {"_id": B, "name": "b"}], "org": {"_id": A}}
    assert without(ORGS, document, [A]) == {"$set": {"orgs": [{"_id": B, "name": "b"}]}}
    assert without(ORGS, document, [A, B]) == without(ORGS, {}, []) == {"$unset": {"orgs": ""}}
    assert without(ORG, document, [A]) == {"$unset": {"org": ""}}


def test_a_relation_that_copies_leave_keeps_its_form():
    several = [{"_id": A}, {"_id": B}, {"_id": C}]
    assert without(ORG, {"org": several}, [A]) == {"$set": {"org": several[1:]}}
    assert without(ORG, {"org": several}, [A, B]) == {"$set": {"org": several[2:]}}
    assert without(ORGS, {"orgs": {"_id": A}}, [B]) == {"$set": {"orgs": {"_id": A}}}
    assert without(ORGS, {"orgs": {"_id": A}}, [A]) == {"$unset": {"orgs": ""}}


def test_a_value_has_the_declared_form_or_the_other_one():
    assert [has_form(ORG.type, value) for value in ({"_id": A}, None, [{"_id": A}], [])] == [True, True, False, False]
    assert [has_form(ORGS.type, value) for value in ([{"_id": A}], [], {"_id": A}, None)] == [True, True, False, False]
    assert [has_form(reverse.type, [{"_id": A}]) for reverse in (NEWEST, HEAD)] == [True, False]


def test_a_copy_has_its_place_in_a_list_or_alone():
    assert place(ORGS, A) == ("orgs.$", holding(ORGS, A)) == ("orgs.$", {"orgs": {"$elemMatch": {"_id": A}}})
    alone = {"org._id": A, "org": {"$not": {"$elemMatch": {"_id": A}}}}
    assert place(ORG, A) == ("org", holding(ORG, A)) == ("org", alone)


@pytest.mark.parametrize(
    ("link", "found"), [(ORG, ["one", "keys"]), (replace(ORG, type="multiple"), ["list", "several"])], ids=str
)
def test_only_values_of_the_declared_form_are_found(storage, link, found):
    one = {"_id": A, "name": "n"}
    values = {"one": one, "keys": {**one, "0": 1, "1": {"_id": B}}, "list": [one], "several": [{"_id": B}, one]}
    values |= {"other": {"_id": B}, "others": [{"_id": B}], "empty": [], "null": None, "text": "x"}
    storage.insert("user", [{"_id": name, "org": value} for name, value in values.items()] + [{"_id": "none"}])
    assert {one["_id"] for one in storage.find("user", holding(link, A), [])} == set(found)


@pytest.fixture
def schemas():
    """Organizations, of which users copy neither their secrets nor what is gone."""
    schemas = Schemas(Settings())
    fields = {"name": string(), "age": nullable(integer()), "gone": optional(string()), "secret": optional(string())}
    schemas.add("org", fields, {}, {"excludes": ["secret"]})
    return schemas


def test_a_renewal_writes_a_copy_and_the_version_it_is_of(schemas):
    source = {"_id": A, "name": "n", "age": None, "secret": "s", "_gw": {"v": 3}}
    assert renewal_of(schemas, ORGS, source) == (
        {"$set": {f"_gw.at.orgs.{A}": 3, "orgs.$": {"_id": A, "name": "n", "age": None}}},
        {"orgs": {"$elemMatch": {"_id": A}}},
    )
    written = {"$set": {f"_gw.at.org.{A}": 3, "org.name": "n", "org.age": None}}
    gone = {"$unset": {"org.gone": "", "org.secret": ""}}
    assert renewal_of(schemas, ORG, source) == ({**written, **gone}, holding(ORG, A))


def test_a_renewal_of_all_fields_unsets_none(schemas):
    schemas.add("tag", {"name": string()})
    relation = replace(ORG, schema_name="tag")
    written = {"$set": {f"_gw.at.org.{A}": 0, "org.name": "n"}}
    assert renewal_of(schemas, relation, {"_id": A, "name": "n"}) == (written, holding(ORG, A))


def test_relations_follow_unless_they_are_frozen(schemas):
    org = {"schemaName": "org", "type": "single"}
    schemas.add("user", {}, {"org": org, "first": {**org, "frozen": True}})
    assert [relation.name for relation in schemas.embedders("org")] == ["org", "first"]
    assert [relation.name for relation in followers(schemas, "org")] == ["org"]


def test_what_leaves_a_holder_takes_its_notes_along():
    noted = ("at", "out", "some", "in")
    assert unset_relation(ORGS) == {"$unset": {"orgs": "", **{f"_gw.{part}.orgs": "" for part in noted}}}
    assert pull_copy(ORGS, A) == {
        "$pull": {"orgs": {"_id": A}, "_gw.out.orgs.users": A, "_gw.in.orgs.users": A},
        "$unset": {f"_gw.at.orgs.{A}": ""},
    }


def test_a_copy_without_a_version_is_older_than_any():
    at = f"_gw.at.orgs.{A}"
    assert older(ORGS, A, "$lt", 3) == {at: {"$not": {"$gte": 3, "$lte": 2**62}}}
