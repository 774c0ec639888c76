"""Random filters of the whole subset find the same on both adapters, and in `compile_filter`."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

import mongomock
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.errors import StorageError
from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.filter_operators import compile_filter, distinct_values, paths_in
from gatewayfw.storage.order import order_key
from gatewayfw.storage.subset import Rules
from gatewayfw.testing.storage_suite.reads import DISTINCT, FILTERS
from gatewayfw.testing.storage_suite.topic import add_ids, collect_ids
from tests.examples import examples
from tests.storage.searches import PATHS, documents, searches


@pytest.mark.mongo
@examples(100)
@given(searches())
@example(([{"a": [1]}, {"a": [[1]]}], [{"a": {"$in": [[1]]}}]))
def test_random_filters_find_the_same_on_both_adapters(mongo_database, search):
    found, wanted = search
    both = MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)
    for storage in both:
        storage.delete_many("things", {})
        storage.insert("things", add_ids(found))
    for filter in wanted:
        Rules().check_filter(filter)
        there, here = (collect_ids(storage.find("things", filter, [], sort=[("_id", 1)])) for storage in both)
        assert here == there, filter


@pytest.mark.mongo
@examples(50)
@given(st.lists(documents, min_size=1, max_size=6))
def test_random_fields_have_the_same_distinct_values_on_both_adapters(mongo_database, found):
    both = MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)
    for storage in both:
        storage.delete_many("things", {})
        storage.insert("things", [{"_id": number, **document} for number, document in enumerate(found)])
    for path in PATHS:
        there, here = (sorted(map(order_key, storage.distinct("things", path, {}))) for storage in both)
        assert here == there, path


NO_BSON = {"object": object(), "int": 2**63, "decimal": Decimal("1"), "uuid": UUID(int=1), "NUL": {"a\0": 1}}


@pytest.mark.parametrize("value", NO_BSON.values(), ids=NO_BSON)
@pytest.mark.parametrize("operator", ["$eq", "$gt", "$in"])
def test_a_value_that_bson_cannot_hold_is_refused(storage, operator, value):
    storage.insert("things", [{"_id": 1, "a": 1}])
    with pytest.raises(StorageError):
        list(storage.find("things", {"a": {operator: [value] if operator == "$in" else value}}))


LISTS = [{"a": [1, 5]}, {"a": [3]}, {"a": []}, {"a": 3}, {}, {"a": [[3]]}, {"a": [{"b": 3}]}]
MORE: dict[str, tuple[list, dict, list[int]]] = {
    "$gt null": ([{"a": None}, {}, {"a": 1}], {"a": {"$not": {"$gt": None}}}, [1, 2, 3]),
    "an element by its place": ([{"a": [1, 2]}, {"a": [2, 1]}, {"a": []}], {"$nor": [{"a.1": 1}]}, [1, 3]),
    "a list at a place": ([{"a": [5, [1, 2]]}, {"a": [5, 1]}, {"a": {"1": [1, 2]}}], {"a.1": 1}, [2, 3]),
    "a leading zero is a name": ([{"a": [1, 2]}, {"a": {"01": 2}}, {"a": [{"01": 2}]}], {"a.01": 2}, [2, 3]),
    "other digits are names": ([{"a": [1, 2, 2]}, {"a": {"²": 2}}], {"$or": [{"a.²": 2}, {"a.١": 2}]}, [2]),
    "a place as a name": ([{"a": {"0": 1}}, {"a": {"1": 1}}], {"$nor": [{"a.0": 1}]}, [2]),
    "nothing below a scalar element": ([{"a": [5]}, {"a": [{}]}, {"a": [None]}], {"a.0.b": {"$all": [None]}}, [2]),
    "a place in a list of lists": (LISTS, {"a": {"$elemMatch": {"0": 3, "1": {"$not": {"$gt": 1}}}}}, [6]),
    "a scalar is no object": ([{"a": [5]}, {"a": [{}]}], {"a": {"$elemMatch": {"b": {"$not": {"$gt": 1}}}}}, [2]),
}


@pytest.mark.parametrize(("documents", "filter", "found"), MORE.values(), ids=MORE)
def test_paths_through_lists_find_the_same_everywhere(storage, documents, filter, found):
    storage.insert("things", add_ids(documents))
    assert collect_ids(storage.find("things", filter, [], sort=[("_id", 1)])) == found


ROWS = {**FILTERS, **MORE}


@pytest.mark.parametrize(("documents", "filter", "found"), ROWS.values(), ids=ROWS)
def test_a_compiled_filter_finds_what_databases_find(documents, filter, found):
    selects = compile_filter(filter)
    assert collect_ids([one for one in add_ids(documents) if selects(one)]) == found


@pytest.mark.parametrize(("documents", "path", "filter", "values"), DISTINCT.values(), ids=DISTINCT)
def test_distinct_values_are_those_of_databases(documents, path, filter, values):
    selects = compile_filter(filter)
    found = distinct_values([one for one in add_ids(documents) if selects(one)], path)
    assert sorted(found, key=order_key) == values


@pytest.mark.parametrize(
    ("path", "values"), [("a.1", [2, 5]), ("a.01", [6]), ("a.1.01", []), ("a.²", [7, 8]), ("a.0.1", [3])]
)
def test_below_a_list_distinct_takes_a_number_for_a_place(storage, path, values):
    storage.insert("things", add_ids([{"a": [{"1": 3, "²": 7}, 2]}, {"a": {"1": 5, "01": 6, "²": 8}}]))
    storage.insert("things", [{"_id": 3, "a": [{"01": 9}, [4]]}] if path != "a.1" else [])
    assert sorted(storage.distinct("things", path, {})) == values


@pytest.mark.parametrize(
    ("filter", "paths"),
    [
        ({}, []),
        ({"a": 1, "b.c": {"$gt": 1}}, ["a", "b.c"]),
        ({"a": 1, "$or": [{"b": 1, "$and": [{"c": 1}]}, {"d.e": 1}], "$nor": [{"f": 1}]}, ["a", "b", "c", "d.e", "f"]),
        ({("a", "b"): 1}, [("a", "b")]),
    ],
)
def test_the_paths_in_a_filter_are_those_at_its_junctions_too(filter, paths):
    assert list(paths_in(filter)) == paths
