"""Indexes as mongomock keeps them: gatewayfw.storage.memory_indexes."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw.storage.memory_indexes import index_of, options_of
from gatewayfw.storage.terms import Index

ONE, TWO = (("a", 1),), (("a", 1), ("b.c", -1))


@pytest.mark.parametrize(
    "index",
    [
        Index(ONE, {"unique": True}),
        Index(ONE, {"sparse": True}),
        Index(ONE, {"unique": True, "sparse": True}),
        Index(TWO, {"unique": True, "sparse": True}),
        Index(TWO, {"unique": True, "partialFilterExpression": {"a": {"$exists": True}}}),
        Index(ONE, {"expireAfterSeconds": 60}),
    ],
    ids=lambda index: " ".join(index.options),
)
def test_an_index_comes_back_as_it_was_given(index):
    collection = mongomock.MongoClient().db.things
    name = collection.create_index(list(index.keys), **options_of(index))
    assert index_of(name, collection.index_information()[name]) == Index(index.keys, {"name": name, **index.options})


def test_a_unique_sparse_index_is_a_partial_one():
    expected = {
        "unique": True,
        "partialFilterExpression": {"$or": [{"a": {"$exists": True}}, {"b.c": {"$exists": True}}]},
    }
    assert options_of(Index(TWO, {"unique": True, "sparse": True})) == expected
