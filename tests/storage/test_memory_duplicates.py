"""Which unique index of mongomock refused a write."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw.errors import DuplicateKey
from gatewayfw.storage.memory_duplicates import after_update, is_storable, refuse_shared, taken_fields


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


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ({"_id": 2, "a": [5, 1.0]}, ("a",)),
        ({"_id": 2, "a": [5], "b": {"c": [1, 2]}, "d": 2}, ("b.c", "d")),
        ({"_id": 2, "b": [{"c": 2}, {"c": 1}], "d": 2}, ("b.c", "d")),
        ({"_id": 2, "b": {"c": [1, 2]}, "d": 1}, None),
        ({"_id": 2, "a": [5]}, None),
        ({"_id": 2, "a": 1}, None),
        ({"_id": 1, "a": [1, 1]}, None),
    ],
    ids=["an element", "a list in an object", "objects in a list", "not covered", "other values", "no list", "itself"],
)
def test_an_element_of_a_list_is_refused_if_another_document_has_it(collection, document, fields):
    def refuse():
        try:
            refuse_shared(collection, [{"_id": 9}, document])
        except DuplicateKey as error:
            return error.fields

    assert refuse() == fields


@pytest.mark.parametrize(
    ("document", "storable"),
    [({"_id": 1, "a": 1}, True), ({"_id": 2, "a": {"$in": 3}}, True), ({"_id": 2, "a": object()}, False)],
    ids=["taken", "not comparable", "not BSON"],
)
def test_what_only_an_index_refuses_is_storable(collection, document, storable):
    assert is_storable(collection, document) is storable
    assert collection.count_documents({}) == 1
