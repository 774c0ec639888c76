"""Which copies of a document need not be counted."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.writing.plan.attempt import CopyCounts
from gatewayfw.schemas import Relation

LAND, CITIES = ObjectId(), Relation("country", "single", name="country", model="city")
TOWNS = Relation("country", "single", name="country", model="town")


def source(rev, id_=LAND):
    return {"_id": id_, "_gw": {"rev": rev}}


@pytest.fixture
def known():
    known = CopyCounts()
    known.note(CITIES, source(7), 3)
    return known


@pytest.mark.parametrize(("rev", "most"), [(7, 3), (8, 4), (12, 8)])
def test_a_bound_is_what_was_met_and_the_locks_since(known, rev, most):
    assert known.take(CITIES, source(rev)) == most


def test_a_bound_is_used_once(known):
    assert [known.take(CITIES, source(7)) for _ in range(2)] == [3, None]


def test_nothing_is_known_of_others(known):
    assert [known.take(CITIES, source(7, ObjectId())), known.take(TOWNS, source(7))] == [None, None]


OTHERS = {"less": source(6), "text": source("7"), "number": {"_id": LAND, "_gw": 7}, "none": {"_id": LAND}}
UNLOCKED = {"zero": source(0), "none": {"_id": LAND}}


@pytest.mark.parametrize("document", OTHERS.values(), ids=OTHERS)
def test_a_counter_that_is_lower_belongs_to_another_document(known, document):
    assert known.take(CITIES, document) is None


@pytest.mark.parametrize("document", UNLOCKED.values(), ids=UNLOCKED)
def test_a_document_that_was_never_locked_has_a_counter_of_zero(document):
    known = CopyCounts()
    known.note(CITIES, document, 3)
    assert known.take(CITIES, source(2)) == 5


def test_the_number_of_bounds_is_limited():
    known = CopyCounts(most=2)
    known.note(CITIES, source(1), 3)
    others = [ObjectId(), ObjectId()]
    for id_ in others:
        known.note(CITIES, source(1, id_), 1)
    assert [known.take(CITIES, source(7, id_)) for id_ in (LAND, *others)] == [None, None, 7]
