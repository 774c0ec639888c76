"""Which indexes the memory storage builds, and what they refuse, as on MongoDB."""

from __future__ import annotations

import pytest

from gatewayfw.errors import DuplicateKey, StorageError
from gatewayfw.storage.memory_store import find_unsupported, has_collision, is_taken
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
            Index((("a", 1),), {"expireAfterSeconds": 1, "partialFilterExpression": {"b": 1}}),
            "mongomock knows no expireAfterSeconds of some documents alone",
        ),
        (
            unique("a", partialFilterExpression={"a": {"$type": 2}}),
            "partialFilterExpression: a: $type takes names of types, such as 'string' or 'objectId'",
        ),
        (
            unique("a", partialFilterExpression={"$or": [{"a": {"$ne": 1}}]}),
            "partialFilterExpression: unknown operator $ne",
        ),
        (unique("a", partialFilterExpression={"a": {"$gt": 1}}), None),
        (unique("a", partialFilterExpression={"a": {"$type": "string"}}), None),
        (unique("a", partialFilterExpression={"a": {"$eq": {"$x": 1}}}), None),
        (Index((("a", 1),), {"expireAfterSeconds": 1}), None),
    ],
    ids=lambda case: "",
)
def test_an_index_is_refused_with_the_option_that_does_nothing_here(index, reason):
    assert find_unsupported(index) == reason


def keeps(storage, index, *documents):
    """Whether a storage takes documents one by one under an index."""
    assert storage.ensure("things", [index], 100) == []
    for number, document in enumerate(documents):
        storage.insert("things", [{"_id": number, **document}])
    return True


@pytest.mark.parametrize(
    ("names", "one", "other"),
    [
        (["lo.x"], {"lo": []}, {"lo": []}),
        (["lo.x"], {"lo": [{}]}, {"lo": []}),
        (["lo.x"], {"lo": [[{"x": 1}]]}, {}),
        (["t", "lo.x"], {"t": 1, "lo": []}, {"t": 1, "lo": [5]}),
        (["lo.1"], {"lo": [5]}, {"lo": [7]}),
        (["lo.0.x"], {"lo": [{"x": [1, 2]}]}, {"lo": [{"x": [2, 3]}]}),
        (["lo.01"], {"lo": [5, 6]}, {"lo": [7, 8]}),
    ],
)
def test_below_a_list_what_is_not_there_counts_as_null(storage, names, one, other):
    with pytest.raises(DuplicateKey) as refused:
        keeps(storage, unique(*names), one, other)
    assert refused.value.fields == tuple(names)
    assert storage.count("things", {}) == 1


@pytest.mark.parametrize(
    ("index", "one", "other"),
    [
        (unique("lo.x", sparse=True), {"lo": [{}]}, {"lo": []}),
        (unique("lo.x", "lo.y"), {"lo": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]}, {"lo": {"x": 1, "y": 2}}),
        (unique("lo.0"), {"lo": [[1, 2]]}, {"lo": [[2, 3]]}),
        (unique("lo"), {"lo": []}, {}),
    ],
    ids=["sparse", "of one element", "whole", "empty"],
)
def test_entries_are_of_one_element_each(storage, index, one, other):
    assert keeps(storage, index, one, other)


@pytest.mark.parametrize("index", [unique("a", "b.c"), Index((("a", 1), ("b.c", -1)))], ids=["unique", "plain"])
def test_one_index_holds_at_most_one_list_of_a_document(storage, index):
    lists = {"a": [1], "b": [{"c": 1}]}
    assert keeps(storage, index, {"a": [1]}, {"b": []})
    with pytest.raises(StorageError):
        storage.insert("things", [{"_id": 2, **lists}])
    with pytest.raises(StorageError):
        storage.update_one("things", {"_id": 0}, {"$set": {"b": {"c": []}}}, None)
    assert list(storage.find("things", {}, sort=[("_id", 1)])) == [{"_id": 0, "a": [1]}, {"_id": 1, "b": []}]
    storage.insert("others", [{"_id": 2, **lists}])
    (problem,) = storage.ensure("others", [index], 100)
    assert problem.startswith(index.problem("others", "cannot be built: "))


def test_a_document_that_a_partial_index_does_not_cover_may_have_two_lists(storage):
    index = Index((("a", 1), ("b", 1)), {"partialFilterExpression": {"n": 1}})
    assert keeps(storage, index, {"a": [1], "b": [1]})


def test_a_number_in_the_path_of_an_index_may_not_be_place_and_field(storage):
    with pytest.raises(StorageError):
        keeps(storage, Index((("a.0", 1),)), {"a": [{"0": 1}]})
