"""What a plan shows, and what it keeps to itself."""

from __future__ import annotations

from itertools import count

import pytest

from gatewayfw.odm.migrations.plans import UNSHOWN
from gatewayfw.schemas import optional, string

OLD = {"name": string(), "mail": optional(string()), "fax": optional(string()), "hash": optional(string())}
NEW = {"name": string(), "email": optional(string()), "secret": optional(string()), "open": optional(string())}


@pytest.fixture
def planned(deploy):
    """A function that gives the plan of a migration of an owner that has all old fields."""

    def plan(**keys):
        deploy(OLD).add({"name": "n", "mail": "m", "fax": "f", "hash": "h"})
        new = deploy(NEW, options={"excludes": ["secret"]})
        declare = new.odm.migration("m", "owner", **keys)
        if declare is not None:
            declare(lambda doc: {"$set": {"secret": doc["hash"], "open": "o"}, "$unset": {"hash": ""}})
        (migration,) = new.odm.migrations.chosen()
        return new.odm.migrations.plan(migration)

    return plan


SHOWN = [
    ({"rename": {"mail": "email"}}, {"mail": "m"}, {"email": "m"}),
    ({"rename": {"hash": "secret"}}, {"hash": UNSHOWN}, {"secret": UNSHOWN}),
    ({"default": {"open": "o", "secret": "s"}}, {}, {"open": "o", "secret": UNSHOWN}),
    ({"copy": {"name": "secret"}}, {}, {"secret": UNSHOWN}),
    ({"drop": ["fax"]}, {"fax": UNSHOWN}, {}),
    ({"where": {"hash": "h"}}, {"hash": UNSHOWN}, {"secret": UNSHOWN, "open": "o"}),
]


@pytest.mark.parametrize(("keys", "before", "after"), SHOWN)
def test_examples_show_no_excluded_value_and_none_that_may_have_been(planned, keys, before, after):
    (example,) = planned(**keys).examples
    assert (example["before"], example["after"]) == (before, after)


def test_a_plan_says_about_how_long_it_would_take(planned):
    plan = planned(rename={"mail": "email"})
    assert plan.outcome.left == 3
    assert 0 < plan.seconds < 60


def test_frozen_copies_are_tried_for_themselves_and_documents_that_stay_do_not_count(database, deploy, monkeypatch):
    """Each trial takes a second of this clock: that of the owners, and those of two frozen relations."""
    for n in range(4):
        deploy(OLD).add({"name": str(n), "mail": "m"})
    database.owner.insert_one({"mail": "m", "email": "e"})
    monkeypatch.setattr("gatewayfw.odm.migrations.plans.monotonic", count().__next__)
    new = deploy(NEW)
    new.odm.migration("m", "owner", rename={"mail": "email"})
    (plan,) = map(new.odm.migrations.plan, new.odm.migrations.chosen())
    assert (plan.outcome.left, plan.seconds) == (13, 6.0)


def test_a_plan_of_nothing_takes_no_time(planned):
    plan = planned(rename={"post": "email"})
    assert (plan.outcome.left, plan.examples, plan.seconds) == (0, [], None)


def test_at_most_three_examples_are_shown(deploy):
    old = deploy(OLD)
    for n in range(5):
        old.owner.insert_one({"name": str(n), "mail": "m"})
    new = deploy(NEW)
    new.odm.migration("m", "owner", rename={"mail": "email"})
    assert len(new.odm.migrations.plan(*new.odm.migrations.chosen()).examples) == 3
