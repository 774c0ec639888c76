"""What is wrong with the copies in one document; pure."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.upkeep.judgement import Fault, Judge, same, same_copies
from gatewayfw.schemas import Relation

A, B = ObjectId("a" * 24), ObjectId("b" * 24)
ORG = {"_id": A, "name": "org"}


def relation(type="multiple", **more):
    return Relation("org", type, name="orgs", model="user", **more)


def verdict(value, *, of=None, covered=False, drops=False, hidden=None):
    sources = {A: {**ORG, "_gw": {"v": 2}}}
    judge = Judge(of or relation(optional=True), ("name",), ("name", "pin"), sources, lambda *_: covered, drops)
    document = {"orgs": value, **({} if hidden is None else {"_gw": hidden})}
    return judge.verdict({} if value is None else document)


@pytest.mark.parametrize("value", [None, [ORG], [dict(reversed(ORG.items()))]], ids=["none", "one", "another order"])
def test_right_copies_have_no_findings(value):
    found = verdict(value)
    assert (found.faults, found.update(relation(optional=True))) == ([], {})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([], "is empty"),
        (ORG, "is no list"),
        ([ORG, "x"], "holds what is no copy"),
        ([ORG, ORG], "embeds a document twice"),
    ],
)
def test_a_wrong_form_is_mended(value, reason):
    of = relation(optional=True)
    found = verdict(value, of=of)
    assert found.faults == [Fault("orgs", reason)]
    assert found.update(of) == ({"$set": {"orgs": [ORG]}} if value else {"$unset": {"orgs": ""}})


@pytest.mark.parametrize(
    ("value", "of", "reason"),
    [
        (None, relation(optional=False), "is required"),
        ([ORG, {"_id": B}], relation("single", optional=True), "holds several documents"),
    ],
)
def test_what_nothing_else_says_is_left_to_a_person(value, of, reason):
    found = verdict(value, of=of)
    assert (found.faults, found.mends) == ([Fault("orgs", reason, mendable=False)], False)


FROZEN = relation(frozen=True)


@pytest.mark.parametrize("copy", [{"_id": A, "name": "old"}, {"_id": A}, {"_id": B, "name": "gone"}])
def test_a_frozen_copy_may_differ_and_outlive_its_source(copy):
    found = verdict([copy], of=FROZEN, drops=True, hidden={"at": {"orgs": {str(A): 3}}})
    assert (found.faults, found.copies, found.gone, found.orphaned) == ([], [copy], [], False)


def test_a_frozen_copy_loses_what_is_excluded_and_keeps_what_is_not_declared():
    found = verdict([{"_id": B, "name": "x", "pin": "1", "size": 2}], of=FROZEN)
    path = f"orgs.{B}"
    assert found.faults == [
        Fault(path, "has an excluded field"),
        Fault(path, "has a field that is not declared", mendable=False),
    ]
    assert (found.update(FROZEN), found.taken) == ({"$set": {"orgs": [{"_id": B, "name": "x", "size": 2}]}}, {})


@pytest.mark.parametrize(
    ("value", "reason"),
    [([ORG, {"_id": "x", "name": "y"}], "holds what is no copy"), ([ORG, {"_id": A}], "embeds a document twice")],
)
def test_a_frozen_relation_loses_no_copy_to_a_repair(value, reason):
    found = verdict(value, of=FROZEN)
    assert (found.faults, found.mends) == ([Fault("orgs", reason, mendable=False)], False)


def test_a_copy_that_differs_is_taken_anew_with_its_version():
    found = verdict([{"_id": A, "name": "old"}])
    assert (found.faults, found.copies, found.taken) == (
        [Fault(f"orgs.{A}", "differs from its source")],
        [ORG],
        {A: 2},
    )


def test_a_pending_job_will_set_an_old_copy_right():
    found = verdict([{"_id": A, "name": "old"}], covered=True)
    assert (found.faults[0].pending, found.mends, found.taken) == (True, False, {})


def test_a_copy_that_says_it_is_newer_is_told():
    found = verdict([ORG], hidden={"at": {"orgs": {str(A): 3}}})
    assert found.faults == [Fault(f"orgs.{A}", "is newer than its source")]


@pytest.mark.parametrize("drops", [False, True])
def test_a_dangling_copy_is_dropped_only_where_it_may_be(drops):
    found = verdict([{"_id": B, "name": "gone"}], drops=drops)
    assert found.faults == [Fault(f"orgs.{B}", "its source does not exist", mendable=drops)]
    assert (found.gone, len(found.copies)) == (([B], 0) if drops else ([], 1))


def test_a_required_relation_whose_sources_are_all_gone_is_orphaned():
    of = relation(optional=False)
    assert [verdict(value, of=of).orphaned for value in ([{"_id": B}], [{"_id": B}, ORG])] == [True, False]


@pytest.mark.parametrize(
    ("found", "expected"),
    [({"_id": A, "n": 1.0}, False), ({"_id": A, "n": True}, False), ({"n": 1, "_id": A}, True), ([], False)],
)
def test_copies_are_the_same_as_they_are_stored(found, expected):
    assert same(found, {"_id": A, "n": 1}) is expected
    assert same_copies([found], [{"_id": A, "n": 1}]) is expected
