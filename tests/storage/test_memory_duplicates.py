"""Which unique index of mongomock refused a write."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw.storage.memory_duplicates import after_update, taken_fields


@pytest.fixture
def collection():
    collection = mongomock.MongoClient().db.things
    collection.create_index("a", unique=True, sparse=True)
    collection.create_index([("b.c", 1), ("d", 1)], unique=True, partialFilterExpression={"d": {"$gt": 1}})
    collection.insert_one({"_id": 1, "a": 1, "b": {"c": 1}, "d": 2})
    return collection


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ({"_id": 2, "a": 1}, ("a",)),
        ({"_id": 2, "b": {"c": 1}, "d": 2}, ("b.c", "d")),
        ({"_id": 2, "b": {"c": 1}, "d": 1}, ()),
        ({"_id": 2, "b": {"c": 2}, "d": 2}, ()),
        ({"_id": 1, "a": 1}, ()),
    ],
    ids=["one field", "two fields", "not covered", "another value", "itself"],
)
def test_the_fields_are_those_of_the_index_that_collides(collection, document, fields):
    assert taken_fields(collection, [{"_id": 9}, document]) == fields


def test_an_update_is_tried_on_documents_apart(collection):
    documents = [{"_id": 1, "n": 1}, {"_id": 2, "n": 5}]
    assert after_update(collection, documents, [({"n": {"$gt": 1}}, {"$inc": {"n": 1}})]) == [
        {"_id": 1, "n": 1},
        {"_id": 2, "n": 6},
    ]
    assert collection.count_documents({}) == 1
