"""Random filters of the whole subset find the same on both adapters, and in `matches`."""

from __future__ import annotations

import mongomock
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.matching import AnyOf, distinct_values, matches, needs_matching
from gatewayfw.storage.order import order_key
from gatewayfw.storage.subset import check_filter
from gatewayfw.testing.storage_suite.filters import FILTERS, LISTS, NEWER_FILTERS
from gatewayfw.testing.storage_suite.reads import DISTINCT
from gatewayfw.testing.storage_suite.topic import add_ids, collect_ids
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
        ({"a": {"$all": [1]}}, True),
        ({"a": {"$size": 1}}, True),
        ({"a": None, "b": {"$exists": False, "$ne": None, "$nin": [None]}}, False),
        ({"a.b": {"$gt": 1, "$in": [1], "$eq": 1}, "a.c": 1}, False),
        *(
            ({"a.b": condition}, True)
            for condition in (None, {"$exists": True}, {"$ne": 1}, {"$nin": [1]}, {"$in": [1, None]}, {"$gte": None})
        ),
    ],
    ids=str,
)
def test_only_filters_that_mongomock_treats_differently_are_matched_here(filter, needed):
    assert needs_matching(filter) == needed


MORE: dict[str, tuple[list, dict, list[int]]] = {
    "$gt null": ([{"a": None}, {}, {"a": 1}], {"a": {"$not": {"$gt": None}}}, [1, 2, 3]),
    "an element by its place": ([{"a": [1, 2]}, {"a": [2, 1]}, {"a": []}], {"$nor": [{"a.1": 1}]}, [1, 3]),
    "a place as a name": ([{"a": {"0": 1}}, {"a": {"1": 1}}], {"$nor": [{"a.0": 1}]}, [2]),
    "nothing below a scalar element": ([{"a": [5]}, {"a": [{}]}, {"a": [None]}], {"a.0.b": {"$all": [None]}}, [2]),
    "a place in a list of lists": (LISTS, {"a": {"$elemMatch": {"0": 3, "1": {"$not": {"$gt": 1}}}}}, [6]),
    "a scalar is no object": ([{"a": [5]}, {"a": [{}]}], {"a": {"$elemMatch": {"b": {"$not": {"$gt": 1}}}}}, [2]),
}


@pytest.mark.parametrize(("documents", "filter", "found"), MORE.values(), ids=MORE)
def test_paths_through_lists_find_the_same_everywhere(storage, documents, filter, found):
    storage.insert("things", add_ids(documents))
    assert collect_ids(storage.find("things", filter, [], sort=[("_id", 1)])) == found


ROWS = {**FILTERS, **NEWER_FILTERS, **MORE}


@pytest.mark.parametrize(("documents", "filter", "found"), ROWS.values(), ids=ROWS)
def test_the_function_matches_finds_what_databases_find(documents, filter, found):
    assert collect_ids([one for one in add_ids(documents) if matches(filter, one)]) == found


@pytest.mark.parametrize(("documents", "path", "filter", "values"), DISTINCT.values(), ids=DISTINCT)
def test_distinct_values_are_those_of_databases(documents, path, filter, values):
    found = distinct_values([one for one in add_ids(documents) if matches(filter, one)], path)
    assert sorted(found, key=order_key) == values


def test_any_of_some_values():
    assert hash(AnyOf([1])) == hash(AnyOf([1])) != hash(AnyOf([2]))
    some = AnyOf([1, "a", {"b": 1}])
    assert [one == some for one in (1, "a", {"b": 1})] == [True, True, True]
    assert [one == some for one in (2, {}, [1], None)] == [False, False, False, False]
