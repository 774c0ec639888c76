"""How documents note which windows they opted out of, and how members are found: gatewayfw.odm.copies.opt_outs."""

from __future__ import annotations

from dataclasses import replace

import mongomock
from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.odm.copies.opt_outs import OptOuts, member_indexes, members, note_path
from gatewayfw.odm.copies.rules import HiddenField
from gatewayfw.schemas import RelatedRelation, Sort
from gatewayfw.storage import MockStorage

A, B, C = IDS = [ObjectId(letter * 24) for letter in "abc"]
MANY = RelatedRelation(
    type="multiple", limit=3, sort=Sort("_id", "desc"), name="users", relation="orgs", member="user", target="org"
)
ONE = replace(MANY, of_single=True)
PARTIAL = {"partialFilterExpression": {"_gw.in.orgs.users": {"$exists": True}}}


def parts_of(document, *said, forget=()):
    """Return what a document notes after it has said who lists it, and forgot targets."""
    opt_outs = OptOuts(document.get("_gw", {}), lambda relation: [one["_id"] for one in document.get(relation, [])])
    opt_outs.forget("orgs", forget)
    for id_, out in said:
        opt_outs.set_out(MANY, id_, out)
    return {part: noted for part, noted in opt_outs.parts().items() if any(noted.values())}


def embedding(*ids, **hidden):
    return {"orgs": [{"_id": id_} for id_ in ids], **({"_gw": hidden} if hidden else {})}


SOME = {"some": {"orgs": {"users": True}}}


def test_who_opts_out_of_some_targets_notes_the_others():
    assert parts_of(embedding(A, B), (A, True)) == {**SOME, "in": {"orgs": {"users": [B]}}}


def test_a_new_document_notes_what_it_says_of_all():
    assert parts_of({}, (A, False), (B, False)) == {}
    assert parts_of({}, (A, True), (B, False)) == {**SOME, "in": {"orgs": {"users": [B]}}}


def test_who_is_in_all_windows_again_notes_nothing():
    noted = {**SOME, "in": {"orgs": {"users": [B]}}}
    assert parts_of(embedding(A, B, **noted), (A, False)) == {}
    assert parts_of(embedding(A, B, **noted), forget=[A]) == {}


def test_what_is_said_of_nothing_stays_as_it_is():
    noted = {**SOME, "in": {"orgs": {"users": [B]}}}
    assert parts_of({"_gw": noted}) == noted


def test_notes_of_an_earlier_version_are_read_and_written_anew():
    before = embedding(A, B, C, out={"orgs": {"users": [A]}})
    assert parts_of(before) == {"out": {"orgs": {"users": [A]}}}
    assert parts_of(before, (C, True)) == {**SOME, "in": {"orgs": {"users": [B]}}}


def test_a_single_relation_notes_its_target_and_nothing_of_a_list():
    hidden = HiddenField(embedding(A, **SOME))
    hidden.set_out(ONE, A, True)
    assert hidden.document() == {"out": {"orgs": {"users": [A]}}}


def test_indexes_of_a_window_pass_over_those_that_opted_out():
    assert list(member_indexes(ONE)) == [((("orgs._id", 1), ("_gw.out.orgs.users", 1), ("_id", -1)), {})]
    assert list(member_indexes(MANY)) == [
        ((("orgs._id", 1), ("_gw.some.orgs.users", 1), ("_id", -1)), {}),
        ((("_gw.in.orgs.users", 1), ("_id", -1)), PARTIAL),
    ]
    assert list(member_indexes(replace(MANY, type="single", limit=None, sort=None))) == []


def test_notes_have_a_place_of_their_own_for_each_reverse():
    assert note_path("in", MANY) == "_gw.in.orgs.users"


@st.composite
def documents(draw):
    """A document as a process of either definition, or of an earlier version, has left it."""
    ids = draw(st.lists(st.sampled_from(IDS), unique=True))
    if draw(st.booleans()) and len(ids) == 1:
        hidden = {"out": {"orgs": {"users": ids}}} if draw(st.booleans()) else {}
        return {"_id": 1, "orgs": {"_id": ids[0]}, "_gw": hidden}
    listed = draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    new = {**SOME, "in": {"orgs": {"users": listed}}}
    old = {"out": {"orgs": {"users": [id_ for id_ in ids if id_ not in listed]}}} if len(listed) < len(ids) else {}
    return {"_id": 1, **embedding(*ids), "_gw": draw(st.sampled_from([new, old, {}]))}


def ids_of(document):
    value = document["orgs"]
    return [one["_id"] for one in ([value] if isinstance(value, dict) else value)]


@given(documents(), st.sampled_from([ONE, MANY]), st.lists(st.tuples(st.sampled_from(IDS), st.booleans())))
def test_the_members_that_a_filter_finds_are_those_that_did_not_opt_out(document, reverse, said):
    hidden = HiddenField(document)
    for id_, out in said:
        if reverse is MANY:
            hidden.set_out(reverse, id_, out)
    embedded = dict.fromkeys([*ids_of(document), *(id_ for id_, _ in said if reverse is MANY)])
    expected = [id_ for id_ in embedded if not hidden.is_out(reverse, id_)]
    stored = {"_id": 1, "orgs": [{"_id": id_} for id_ in embedded], "_gw": hidden.document()}
    if not said:
        stored = document
    storage = MockStorage(mongomock.MongoClient().test)
    storage.insert("user", [stored])
    assert [id_ for id_ in embedded if storage.count("user", members(reverse, id_))] == expected
