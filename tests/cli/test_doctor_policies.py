"""What ``doctor`` says of policies."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway, integer, string
from gatewayfw.cli.doctor_configuration import compared_by, policy_findings


@pytest.fixture
def gw():
    """A gateway with items of tenants, without policies."""
    gw = gateway(roles=["Clerk", "Guest"])
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("tenant", {"name": string})
    gw.odm.new_model("item", {"name": string, "place": string}, {"tenant": {"schemaName": "tenant", "type": "single"}})
    return gw


def texts(gw, kind):
    return [text for one, text in policy_findings(gw.schemas, ["Clerk", "Guest"]) if one == kind]


def warnings(gw):
    return texts(gw, "warning")


def test_nothing_is_said_without_policies(gw):
    assert list(policy_findings(gw.schemas, ["Clerk", "Guest"])) == []


def test_roles_without_a_policy_and_open_models_are_named(gw):
    gw.policy("item", roles=["Clerk"])
    assert warnings(gw) == [
        "no policy names the roles Guest: what has a policy is closed to them",
        "models without a policy are open to all callers: tenant (require_policy closes them)",
    ]
    gw.policy("tenant", roles=["Guest"])
    assert warnings(gw) == []


def test_rows_that_no_index_serves_are_named(gw):
    gw.policy("item", roles=["Clerk"], rows=lambda context: {"tenant._id": context["user"]["tenant"]["_id"]})
    gw.policy("item", roles=["Guest"], rows=lambda context: {"place": context.user["place"]})
    assert texts(gw, "hint") == [
        "policy of item for Guest, model item: no index begins with place; every read reads all documents"
    ]


@pytest.mark.parametrize(
    ("rows", "paths"),
    [
        (None, set()),
        (lambda context: None, set()),
        (lambda context: {"a": 1, "$or": [{"b": 1}, {"c.d": 1}], ("e", "f"): 1}, {"a", "b", "c.d", "e.f"}),
        (lambda context: 1 / 0, set()),
        (lambda context: [], set()),
    ],
)
def test_the_paths_of_a_filter_are_those_at_its_junctions_too(rows, paths):
    assert compared_by(rows) == paths


def test_names_in_rows_that_a_model_does_not_have_are_problems(gw):
    gw.policy("item", roles=["Clerk"], rows=lambda context: {"tenat._id": context["user"]["_id"]})
    gw.policy("item", roles=["Guest"], rows=lambda context: {"_id": context["user"]["_id"]})
    assert texts(gw, "problem") == ["policy of item for Clerk: rows: model item has no tenat._id"]
    assert "Guest" not in "".join(texts(gw, "hint"))


def test_lists_whose_order_is_hidden_are_named(gw):
    best = {"type": "multiple", "limit": 3, "sort": {"field": "price", "order": "desc"}}
    link = {"schemaName": "tenant", "type": "single", "relatedRelations": {"best": best}}
    gw.odm.new_model("bid", {"price": integer()}, {"tenant": link})
    gw.policy(["bid", "tenant", "item"], roles=["Clerk"])
    gw.policy("bid", roles=["Guest"], hide=["price"])
    assert warnings(gw) == [
        "tenant.best: which bid are in the list tells of price, which a policy hides; "
        "sort it by another field, or hide it, too"
    ]
