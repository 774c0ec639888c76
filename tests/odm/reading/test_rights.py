"""What the functions of policies give for a caller: gatewayfw.odm.reading.rights."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw import UsageError, gateway, optional, string
from gatewayfw.context_variables import CALLERS, Caller, Free
from gatewayfw.odm.reading.rights import NOTHING, both, limit, rights_of
from gatewayfw.odm.reading.viewer import Viewer


@pytest.fixture
def gw():
    """A gateway with one model."""
    gw = gateway(roles=["Clerk"])
    gw.odm.new_model("item", {"name": string, "secret": optional(string)}, {}, {"excludes": ["secret"]})
    return gw


@pytest.fixture
def viewer(gw):
    """A clerk."""
    return Viewer(gw.schemas, Caller("Clerk", {"name": "x"}))


def test_both_filters_hold_and_an_id_stays_in_its_place():
    one, other = {"_id": 1}, {"_id": {"$in": [2]}}
    assert (both({}, other), both(one, {})) == (other, one)
    assert both(one, other) == {"_id": 1, "$and": [other]}
    assert both({"a": 1, "$and": [{"b": 1}]}, {"$and": [{"c": 1}]}) == {
        "a": 1,
        "$and": [{"b": 1}, {"$and": [{"c": 1}]}],
    }


def test_without_a_viewer_or_a_policy_nothing_is_limited(viewer):
    wanted = {"name": "x"}
    assert limit(None, "item", wanted) is wanted
    assert limit(viewer, "item", wanted) is wanted
    assert rights_of(viewer, "item") is None


def test_rows_of_a_closed_model_are_nothing(gw):
    gw.policy("item", roles=[None])
    assert limit(Viewer(gw.schemas, Caller("Clerk", {})), "item", {}) is NOTHING


def test_rows_may_name_excluded_fields_and_are_asked_once_with_nothing_restricted(gw, viewer):
    asked = []

    def rows(context):
        asked.append(CALLERS.get()[gw.schemas])
        return {"secret": context["name"]}

    gw.policy("item", roles=["Clerk"], rows=rows)
    assert [rights_of(viewer, "item").rows, rights_of(viewer, "item").rows] == [{"secret": "x"}] * 2
    assert asked == [Free.POLICY]


def test_own_ids_are_those_that_all_policies_give(gw, viewer):
    one, two, three = (ObjectId() for _ in range(3))
    gw.policy("item", roles=["Clerk"], hide=["name"], own=lambda context: [one, str(two)])
    gw.policy("item", roles="*", hide=["name"], own=lambda context: (id_ for id_ in (two, three)))
    assert dict(rights_of(viewer, "item").owned) == {"name": {two}}


def test_a_filter_of_what_may_be_written_is_made_in_the_same_way(gw, viewer):
    gw.policy("item", roles=["Clerk"], write=lambda context: {"name": context["name"]})
    rights = rights_of(viewer, "item")
    assert (rights.rows, rights.filter_of(rights.joined.changes, "write")) == ({}, {"name": "x"})


@pytest.mark.parametrize(
    "rows",
    [
        {"name": None},
        {"name": {"$in": ["x", None]}},
        {"name": {"$not": {"$ne": None}}},
        {"$nor": [{"name": {"$ne": None}}]},
        {"$nor": [{"name": {"$nin": [None]}}]},
    ],
)
def test_rows_may_not_find_what_has_no_such_field(gw, viewer, rows):
    gw.policy("item", roles=["Clerk"], rows=lambda context: rows)
    with pytest.raises(UsageError, match="give None to show nothing"):
        limit(viewer, "item", {})


@pytest.mark.parametrize("rows", [{"name": {"$ne": None}}, {"name": {"$nin": [None, "y"]}}])
def test_rows_may_ask_for_what_has_a_field(gw, viewer, rows):
    gw.policy("item", roles=["Clerk"], rows=lambda context: rows)
    assert limit(viewer, "item", {}) == rows
