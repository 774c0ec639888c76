"""What is wrong with the copies in one document; pure."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.upkeep.judgement import Fault, Judge, same, same_copies
from gatewayfw.schemas import Relation

A, B = ObjectId("a" * 24), ObjectId("b" * 24)
ORG = {"_id": A, "name": "org"}
JOB = object()


def relation(type="multiple", **more):
    return Relation("org", type, name="orgs", model="user", **more)


def verdict(value, *, of=None, job=None, drops=False, hidden=None):
    sources = {A: {**ORG, "_gw": {"v": 2}}}
    judge = Judge(of or relation(optional=True), ("name",), ("name", "pin"), sources, lambda *_: job, drops)
    document = {"orgs": value, **({} if hidden is None else {"_gw": hidden})}
    return judge.verdict({} if value is None else document)


@pytest.mark.parametrize("value", [None, [ORG], [dict(reversed(ORG.items()))]], ids=["none", "one", "another order"])
def test_right_copies_have_no_findings(value):
    found = verdict(value)
    assert found.faults == []
    assert found.update(relation(optional=True)) == {}


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
    ("value", "reasons", "mended"),
    [
        (ORG, [], {}),
        ([ORG], ["is a list"], {"$set": {"orgs": ORG}}),
        ([ORG, ORG], ["is a list", "embeds a document twice"], {"$set": {"orgs": ORG}}),
        ([ORG, 5, {"_id": 5}], ["is a list", "holds what is no copy"], {"$set": {"orgs": ORG}}),
        (5, ["holds what is no copy"], {"$unset": {"orgs": ""}}),
        ([], ["is empty"], {"$unset": {"orgs": ""}}),
    ],
    ids=str,
)
def test_a_single_relation_holds_one_copy(value, reasons, mended):
    of = relation("single", optional=True)
    found = verdict(value, of=of)
    assert found.faults == [Fault("orgs", reason) for reason in reasons]
    assert found.update(of) == mended


@pytest.mark.parametrize(("limit", "over"), [(2, False), (1, True)])
def test_a_relation_over_its_limit_is_left_to_a_person(limit, over):
    found = verdict([ORG, {"_id": B, "name": "gone"}], of=relation(optional=True, limit=limit))
    gone = Fault(f"orgs.{B}", "its source does not exist", mendable=False)
    assert found.faults == [*([Fault("orgs", "is over its limit", mendable=False)] if over else []), gone]
    assert found.copies == [ORG, {"_id": B, "name": "gone"}]
    assert found.gone == []
    assert found.mends is False


@pytest.mark.parametrize(
    ("version", "name", "reason", "pending", "taken"),
    [
        (0, "org", None, False, {}),
        (1, "org", None, False, {}),
        (2, "org", None, False, {}),
        (2.5, "org", None, False, {}),
        (3, "org", "is newer than its source", False, {A: 2}),
        ("x", "org", None, False, {}),
        (0, "old", "differs from its source", True, {}),
        (1, "old", "differs from its source", True, {}),
        (2, "old", "differs from its source", False, {A: 2}),
        (3, "old", "differs from its source", False, {A: 2}),
    ],
)
def test_a_job_renews_copies_of_older_versions_only(version, name, reason, pending, taken):
    found = verdict([{**ORG, "name": name}], job=JOB, hidden={"at": {"orgs": {str(A): version}}})
    assert found.faults == ([Fault(f"orgs.{A}", reason, True, JOB if pending else None)] if reason else [])
    assert (found.taken, found.copies) == (taken, [ORG if taken or name == "org" else {"_id": A, "name": "old"}])
    assert found.mends is bool(taken)


@pytest.mark.parametrize("job", [None, JOB])
def test_a_dangling_copy_that_a_job_takes_away_stays(job):
    found = verdict([{"_id": B, "name": "gone"}], job=job, drops=True, of=relation(optional=False))
    assert found.faults == [Fault(f"orgs.{B}", "its source does not exist", True, job)]
    assert (found.gone, found.orphaned) == (([], False) if job else ([B], True))


@pytest.mark.parametrize(
    ("value", "of", "reason"),
    [
        (None, relation(optional=False), "is required"),
        ([ORG, {"_id": B}], relation("single", optional=True), "holds several documents"),
    ],
)
def test_what_nothing_else_says_is_left_to_a_person(value, of, reason):
    found = verdict(value, of=of)
    assert found.faults == [Fault("orgs", reason, mendable=False)]
    assert found.mends is False


FROZEN = relation(frozen=True)


@pytest.mark.parametrize("copy", [{"_id": A, "name": "old"}, {"_id": A}, {"_id": B, "name": "gone"}])
def test_a_frozen_copy_may_differ_and_outlive_its_source(copy):
    found = verdict([copy], of=FROZEN, drops=True, hidden={"at": {"orgs": {str(A): 3}}})
    assert found.faults == []
    assert found.copies == [copy]
    assert found.gone == []
    assert found.orphaned is False


def test_a_frozen_copy_loses_what_is_excluded_and_keeps_what_is_not_declared():
    found = verdict([{"_id": B, "name": "x", "pin": "1", "size": 2}], of=FROZEN)
    path = f"orgs.{B}"
    assert found.faults == [
        Fault(path, "has an excluded field"),
        Fault(path, "has a field that is not declared", mendable=False),
    ]
    assert found.update(FROZEN) == {"$set": {"orgs": [{"_id": B, "name": "x", "size": 2}]}}
    assert found.taken == {}


@pytest.mark.parametrize(
    ("value", "reason"),
    [([ORG, {"_id": "x", "name": "y"}], "holds what is no copy"), ([ORG, {"_id": A}], "embeds a document twice")],
)
def test_a_frozen_relation_loses_no_copy_to_a_repair(value, reason):
    found = verdict(value, of=FROZEN)
    assert found.faults == [Fault("orgs", reason, mendable=False)]
    assert found.mends is False


def test_a_copy_that_differs_is_taken_anew_with_its_version():
    found = verdict([{"_id": A, "name": "old"}])
    assert found.faults == [Fault(f"orgs.{A}", "differs from its source")]
    assert found.copies == [ORG]
    assert found.taken == {A: 2}


def test_a_pending_job_will_set_an_old_copy_right():
    found = verdict([{"_id": A, "name": "old"}], job=JOB)
    assert found.faults[0].job is JOB
    assert found.mends is False
    assert found.taken == {}


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
