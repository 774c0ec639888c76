"""Random filters of the whole subset find the same on both adapters, and in `matches`."""

from __future__ import annotations

import mongomock
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.matching import AnyOf, matches, needs_matching
from gatewayfw.storage.order import order_key
from gatewayfw.storage.subset import check_filter
from gatewayfw.testing.storage_suite.topic import collect_ids
from tests.storage.filters import PATHS, documents, filters


@pytest.mark.mongo
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(documents, min_size=1, max_size=6), st.lists(filters, min_size=1, max_size=8))
def test_random_filters_find_the_same_on_both_adapters(mongo_database, found, wanted):
    stored = [{"_id": number, **document} for number, document in enumerate(found)]
    both = MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)
    for storage in both:
        storage.delete_many("things", {})
        storage.insert("things", stored)

    def found_by(filter):
        return [collect_ids(list(storage.find("things", filter, [], sort=[("_id", 1)]))) for storage in both]

    for filter in wanted:
        check_filter(filter)
        there, here = found_by(filter)
        assert [one["_id"] for one in stored if matches(filter, one)] == there, filter
        # Where mongomock differs in what it is left with, as for 2.5 and a Decimal128 of it, so does the whole.
        left = {key: value for key, value in filter.items() if not needs_matching({key: value})}
        there_left, here_left = found_by(left)
        assert here == there or not needs_matching(filter) or here_left != there_left, filter


@pytest.mark.mongo
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(documents, min_size=1, max_size=6))
def test_random_fields_have_the_same_distinct_values_on_both_adapters(mongo_database, found):
    both = MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)
    for storage in both:
        storage.delete_many("things", {})
        storage.insert("things", [{"_id": number, **document} for number, document in enumerate(found)])
    for path in PATHS:
        there, here = (sorted(map(order_key, storage.distinct("things", path, {}))) for storage in both)
        assert here == there, path


@pytest.mark.parametrize(
    ("filter", "needed"),
    [
        ({}, False),
        ({"a": 1, "$or": [{"a": {"$gt": 1}}, {"$and": [{"b": {"$nin": [1]}}]}]}, False),
        ({"a": {"$elemMatch": {"b": 1, "$or": [{"c": 1}]}}}, False),
        ({"a": {"$elemMatch": {"$gt": 1}}}, True),
        ({"a": {"$elemMatch": {"b": {"$regex": "x"}}}}, True),
        ({"$or": [{"a": 1}, {"$and": [{"b": {"$not": {"$gt": 1}}}]}]}, True),
        ({"$nor": [{"a": 1}]}, True),
    ],
    ids=str,
)
def test_only_filters_that_mongomock_treats_differently_are_matched_here(filter, needed):
    assert needs_matching(filter) == needed


def test_any_of_some_values():
    some = AnyOf([1, "a", {"b": 1}])
    assert [one == some for one in (1, "a", {"b": 1})] == [True, True, True]
    assert [one == some for one in (2, {}, [1], None)] == [False, False, False, False]
