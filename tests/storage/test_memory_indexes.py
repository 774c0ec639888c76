"""Which indexes the memory storage builds, and what a unique one refuses."""

from __future__ import annotations

import pytest

from gatewayfw.storage.memory_indexes import find_unsupported, has_collision, is_taken
from gatewayfw.storage.terms import Index


def unique(*names, **options):
    return Index(tuple((name, 1) for name in names), {"unique": True, **options})


STORED = {"_id": 1, "a": 1, "b": {"c": 1}, "d": 2}


@pytest.mark.parametrize(
    ("index", "document"),
    [
        (unique("a"), {"a": 1.0}),
        (unique("a"), {"a": [5, 1]}),
        (unique("b.c", "d"), {"b": [{"c": 2}, {"c": 1}], "d": 2}),
        (unique("x"), {}),
        (unique("d", partialFilterExpression={"a": {"$gt": 1}}), {"a": 2, "d": [3, 2]}),
    ],
    ids=str,
)
def test_a_unique_index_refuses_what_has_an_entry_of_another_document(index, document):
    kept = {**STORED, "a": 2} if "partialFilterExpression" in index.options else STORED
    assert is_taken(index, [kept], {"_id": 2, **document}, None) is True
    assert has_collision([kept, {"_id": 2, **document}], index) is True


@pytest.mark.parametrize(
    ("index", "document"),
    [
        (unique("a"), {"a": True}),
        (unique("a"), {"a": [[1]]}),
        (unique("b.c", "d"), {"b": {"c": 1}}),
        (unique("x", sparse=True), {}),
        (unique("d", partialFilterExpression={"a": {"$gt": 1}}), {"a": 2, "d": 2}),
    ],
    ids=str,
)
def test_a_unique_index_takes_other_values(index, document):
    assert is_taken(index, [STORED], {"_id": 2, **document}, None) is False
    assert has_collision([STORED, {"_id": 2, **document}], index) is False


@pytest.mark.parametrize(("number", "taken"), [(1, False), (3, False), (4, True)])
def test_a_document_takes_entries_that_it_had_or_nobody_has(number, taken):
    before = {"_id": 1, "a": [1, 2]}
    assert is_taken(unique("a"), [before, {"_id": 2, "a": 4}], {"_id": 1, "a": [2, number]}, before) is taken


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (unique("a", collation={"locale": "en", "strength": 2}), "mongomock knows no collation"),
        (Index((("a.b", 1),), {"expireAfterSeconds": 1}), "mongomock knows no expireAfterSeconds below the top level"),
        (
            unique("a", partialFilterExpression={"a": {"$type": "string"}}),
            "partialFilterExpression: unknown operator $type",
        ),
        (
            unique("a", partialFilterExpression={"$or": [{"a": {"$ne": 1}}]}),
            "partialFilterExpression: unknown operator $ne",
        ),
        (unique("a", partialFilterExpression={"a": {"$gt": 1}}), None),
        (unique("a", partialFilterExpression={"a": {"$eq": {"$x": 1}}}), None),
        (Index((("a", 1),), {"expireAfterSeconds": 1}), None),
    ],
    ids=lambda case: "",
)
def test_an_index_is_refused_with_the_option_that_does_nothing_here(index, reason):
    assert find_unsupported(index) == reason
