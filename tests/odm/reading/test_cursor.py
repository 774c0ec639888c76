"""Pages by skip and limit: every document exactly once, whatever it is sorted by."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gatewayfw.odm.reading.cursor import fixed_order
from gatewayfw.schemas import any_, integer, optional, string

SIZE = 500


@pytest.fixture
def rows(odm):
    """500 documents with few values in each field, of which some are missing or null, in no order."""
    fields = {"n": integer(), "name": optional(string()), "free": any_(), "at": any_()}
    model = odm.new_model("row", fields, options={"createIndex": {"indexSpec": {"n": 1}}})
    source = random.Random(1)
    docs = [{"n": number % 7, "free": source.choice([None, 1, "x"]), "at": number} for number in range(SIZE)]
    for doc in docs:
        if doc["at"] % 3:
            doc["name"] = "ab"[doc["at"] % 2]
    source.shuffle(docs)
    model.insert_many(docs)
    return model


sorts = st.dictionaries(st.sampled_from(["n", "name", "free"]), st.sampled_from([1, -1]), max_size=3)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sort=sorts, size=st.integers(40, SIZE))
@example(sort={"n": 1}, size=7)
@example(sort={"name": -1, "free": 1}, size=23)
@example(sort={}, size=50)
def test_every_document_is_on_exactly_one_page(rows, sort, size):
    found = []
    for skip in range(0, SIZE, size):
        cursor = rows.find(projection={"at": 1, "_id": 0})
        cursor = cursor.sort(sort) if sort else cursor
        found += [one["at"] for one in cursor.skip(skip).limit(size)]
    assert sorted(found) == list(range(SIZE))


@pytest.mark.parametrize(
    ("sort", "skip", "limit", "expected"),
    [
        ([("n", 1)], 0, 0, [("n", 1)]),
        ([], 0, 0, []),
        ([("n", 1)], 0, 5, [("n", 1), ("_id", 1)]),
        ([("n", -1)], 5, 0, [("n", -1), ("_id", -1)]),
        ([("n", 1), ("m", -1)], 5, 5, [("n", 1), ("m", -1), ("_id", -1)]),
        ([("n", 1), ("_id", -1)], 5, 5, [("n", 1), ("_id", -1)]),
        ([("_id", -1), ("n", 1)], 5, 5, [("_id", -1), ("n", 1)]),
        ([("born._id", -1)], 0, 1, [("born._id", -1), ("_id", -1)]),
        ([], 5, 0, [("_id", 1)]),
        ([], 0, 5, [("_id", 1)]),
    ],
)
def test_the_id_is_the_last_key_where_documents_are_skipped_or_limited(sort, skip, limit, expected):
    assert fixed_order(sort, skip, limit) == expected


def test_pages_are_read_from_the_index(mongo_database, odm_on):
    model = odm_on(mongo_database).new_model("row", {"n": integer()}, options={"createIndex": {"indexSpec": {"n": -1}}})
    model.insert_many([{"n": number % 3} for number in range(50)])
    mongo_database.command("profile", 2)
    try:
        assert len(model.find().sort("n").skip(10).limit(5).to_list()) == 5
    finally:
        mongo_database.command("profile", 0)
    (seen,) = mongo_database["system.profile"].find({"op": "query", "ns": f"{mongo_database.name}.row"})
    assert (seen["keysExamined"], seen.get("hasSortStage", False)) == (15, False)
