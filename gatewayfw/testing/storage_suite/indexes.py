"""Indexes are built, listed, and reported where they cannot be."""

from __future__ import annotations

import pytest

from gatewayfw.errors import DuplicateKey, Timeout
from gatewayfw.storage.base import Storage
from gatewayfw.storage.terms import Index
from gatewayfw.testing.storage_suite.topic import Topic, add_ids, wait_for_the_end


class Indexes(Topic):
    """Indexes are built, listed, and reported where they cannot be."""

    def test_ensure_may_be_repeated(self, storage: Storage) -> None:
        indexes = [Index((("a", 1), ("_id", -1))), Index((("b", 1),), {"unique": True, "sparse": True})]
        assert [storage.ensure("things", indexes, 10) for _ in range(2)] == [[], []]
        storage.insert("things", add_ids([{"a": 1}, {"a": 1}, {"b": 1}]))
        assert storage.ensure("things", indexes, 10) == []

    def test_an_index_that_exists_is_left_as_it_is(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        assert storage.ensure("things", [Index((("a", 1),))], 10) == []
        storage.insert("things", [{"_id": 1, "a": 1}])
        with pytest.raises(DuplicateKey):
            storage.insert("things", [{"_id": 2, "a": 1}])

    def test_an_index_that_will_do_is_not_built_again(self, storage: Storage) -> None:
        wanted = Index((("a", 1), ("_id", 1)), instead=(("a", 1),))
        storage.ensure("things", [Index((("a", 1),))], 10)
        assert storage.ensure("things", [wanted], 10) == []
        assert storage.ensure("others", [wanted], 10) == []
        found = [index.keys for name in ("things", "others") for index in storage.indexes(name)]
        assert found == [wanted.instead, wanted.keys]

    def test_an_index_that_exists_but_is_not_unique_is_reported(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),))], 10)
        (problem,) = storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        assert problem == "things: index {'a': 1} exists, but is not unique"

    def test_a_unique_index_that_cannot_be_built_is_reported_and_the_others_are_built(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1, "b": 1}, {"a": 1, "b": 2}]))
        unique = [Index(((field, 1),), {"unique": True}) for field in "ab"]
        (problem,) = storage.ensure("things", unique, 10)
        assert problem == "things: index {'a': 1} cannot be built: two documents share a value"
        with pytest.raises(DuplicateKey):
            storage.insert("things", [{"_id": 3, "b": 2}])

    def test_of_a_large_collection_only_unique_indexes_are_built(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1}, {"a": 2}, {"a": 3}]))
        indexes = [Index((("b", -1), ("_id", 1))), Index((("a", 1),), {"unique": True})]
        large = ["things: index {'b': -1, '_id': 1} is missing; the collection is large"]
        assert [storage.ensure("things", indexes, limit) for limit in (2, 2, 3, 2)] == [large, large, [], []]
        with pytest.raises(DuplicateKey):
            storage.insert("things", [{"_id": 4, "a": 1}])

    def test_indexes_are_listed_with_keys_and_options(self, storage: Storage) -> None:
        partial = {"b": {"$gt": 1}}
        made = [
            Index((("a", 1), ("b", -1)), {"name": "both", "unique": True, "sparse": True}),
            Index((("c", -1),), {"expireAfterSeconds": 60}),
            Index((("d", 1),), {"partialFilterExpression": partial}),
        ]
        assert storage.ensure("things", made, 10) == []
        found = sorted(storage.indexes("things"), key=lambda index: index.keys)
        assert found == [
            Index((("a", 1), ("b", -1)), {"name": "both", "unique": True, "sparse": True}),
            Index((("c", -1),), {"name": "c_-1", "expireAfterSeconds": 60}),
            Index((("d", 1),), {"name": "d_1", "partialFilterExpression": partial}),
        ]

    def test_a_collection_without_indexes_has_none(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        assert [storage.indexes("things"), storage.indexes("others")] == [[], []]

    def test_a_collection_is_not_sharded(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        assert [storage.is_sharded("things"), storage.is_sharded("others")] == [False, False]

    def test_ensure_does_not_start_after_the_deadline(self, storage: Storage) -> None:
        with storage.deadline(0.05) as scope:
            wait_for_the_end(scope)
            with pytest.raises(Timeout):
                storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", add_ids([{"a": 1}, {"a": 1}]))
