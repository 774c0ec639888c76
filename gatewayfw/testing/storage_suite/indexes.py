"""Indexes are built, listed, and reported; unique ones refuse each kind of write."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gatewayfw.errors import DuplicateKey, Timeout
from gatewayfw.storage.base import Storage
from gatewayfw.storage.terms import Document, Index
from gatewayfw.testing.storage_suite.topic import (
    LOCK,
    Topic,
    add_ids,
    parametrize,
    read_all,
    run_at_once,
    wait_for_the_end,
)

#: name: (the unique indexes: fields and further options; the documents; one that is refused; the fields it names)
UNIQUE: Mapping[str, tuple[Sequence[tuple[Sequence[str], Document]], Sequence[Document], Document, tuple[str, ...]]] = {
    "one of two": ([("a", {}), (["b.c"], {})], [{"a": 1, "b": {"c": 1}}], {"a": 2, "b": {"c": 1}}, ("b.c",)),
    "on two fields": ([("ab", {})], [{"a": 1, "b": 2}, {"a": 2, "b": 1}], {"a": 1, "b": 2}, ("a", "b")),
    "null": ([("a", {}), ("b", {})], [{"a": None, "b": 1}], {"a": None, "b": 2}, ("a",)),
    "a list": ([("a", {})], [{"a": [1, 2]}], {"a": [1, 2]}, ("a",)),
    "an element of a list": ([("a", {})], [{"a": [1, 2]}, {"a": 4}], {"a": [2.0, 3]}, ("a",)),
    "a value that is an element": ([("a", {})], [{"a": [1, 2]}], {"a": 2}, ("a",)),
    "a list with a value": ([("a", {})], [{"a": 1}], {"a": [3, 1]}, ("a",)),
    "an empty list": ([("a", {})], [{"a": []}, {"a": None}], {"a": []}, ("a",)),
    "in objects of a list": ([(["b.c"], {})], [{"b": [{"c": 1}, {"c": 2}]}], {"b": [{"c": 2}]}, ("b.c",)),
    "an element beside a value": ([("ab", {})], [{"a": [1, 2], "b": 1}], {"a": [2, 3], "b": 1}, ("a", "b")),
    "sparse": ([("d", {"sparse": True}), ("a", {})], [{"a": 1}], {"a": 1}, ("a",)),
    "sparse null": ([("d", {"sparse": True})], [{"a": 1}, {"d": None}], {"d": None}, ("d",)),
    "sparse list": ([("d", {"sparse": True})], [{"a": 1}, {"d": [1, 2]}], {"d": [2]}, ("d",)),
    "a list that is covered": (
        [("b", {"partialFilterExpression": {"a": {"$gt": 1}}}), ("a", {})],
        [{"a": 1, "b": [1]}, {"a": 3, "b": [1, 2]}],
        {"a": 2, "b": [2]},
        ("b",),
    ),
    "partial": (
        [("b", {"partialFilterExpression": {"a": {"$gt": 1}}}), ("a", {})],
        [{"a": 1, "b": 1}, {"a": 2, "b": 1}],
        {"a": 1, "b": 1},
        ("a",),
    ),
}


class Indexes(Topic):
    """Indexes are built, listed, and reported where they cannot be."""

    def test_ensure_may_be_repeated(self, storage: Storage) -> None:
        indexes = [Index((("a", 1), ("_id", -1))), Index((("b", 1),), {"unique": True, "sparse": True})]
        assert [storage.ensure("things", indexes, 10) for _ in range(2)] == [[], []]
        storage.insert("things", add_ids([{"a": 1}, {"a": 1}, {"b": 1}]))
        assert storage.ensure("things", indexes, 10) == []

    def test_an_index_that_exists_is_left_as_it_is(self, storage: Storage) -> None:
        plain, unique = Index((("a", 1),)), Index((("a", 1),), {"unique": True})
        storage.ensure("things", [unique], 10)
        assert storage.ensure("things", [plain], 10) == []
        storage.insert("things", [{"_id": 1, "a": 1}])
        with pytest.raises(DuplicateKey):
            storage.insert("things", [{"_id": 2, "a": 1}])
        storage.ensure("others", [plain], 10)
        assert storage.ensure("others", [unique], 10) == ["others: index {'a': 1} exists, but is not unique"]

    def test_an_index_that_will_do_is_not_built_again(self, storage: Storage) -> None:
        wanted = Index((("a", 1), ("_id", 1)), instead=(("a", 1),))
        storage.ensure("things", [Index((("a", 1),))], 10)
        assert storage.ensure("things", [wanted], 10) == []
        assert storage.ensure("others", [wanted], 10) == []
        found = [index.keys for name in ("things", "others") for index in storage.indexes(name)]
        assert found == [wanted.instead, wanted.keys]

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

    def test_a_new_collection_has_no_indexes_and_is_not_sharded(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        for name in ("things", "others"):
            assert (storage.indexes(name), storage.is_sharded(name)) == ([], False)

    def test_a_collection_keeps_its_identity(self, storage: Storage) -> None:
        known = []
        for number in range(2):
            storage.ensure("things", [Index((("a", 1),))], 10)
            storage.insert("things", [{"_id": number}])
            known.append(storage.identities().get("things"))
            storage.delete_many("things", {})
        assert known[0] == known[1]

    def test_ensure_does_not_start_after_the_deadline(self, storage: Storage) -> None:
        with storage.deadline(0.05) as scope:
            wait_for_the_end(scope)
            with pytest.raises(Timeout):
                storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", add_ids([{"a": 1}, {"a": 1}]))

    @parametrize(UNIQUE)
    def test_a_refused_write_names_the_fields_of_the_index(self, storage: Storage, row: tuple[Any, ...]) -> None:
        indexes, stored, added, expected = row
        ensured = [Index(tuple((name, 1) for name in names), {**rest, "unique": True}) for names, rest in indexes]
        storage.ensure("things", ensured, 10)
        storage.insert("things", add_ids(stored))
        before = read_all(storage)
        changed = len(stored) + 1
        for write in (
            lambda: storage.insert("things", [{"_id": 99}, {"_id": changed, **added}]),
            lambda: storage.update_one("things", {"_id": changed}, {"$set": added}, None),
            lambda: storage.update_many("things", {"_id": changed}, {"$set": added}),
            lambda: storage.update_each("things", [(changed, {"$set": added})]),
            lambda: storage.touch("things", {"_id": changed}, None, {"$set": added}, lock=LOCK),
            lambda: storage.touch_many("things", [changed], [({"_id": changed}, {"$set": added})], lock=LOCK),
        ):
            for run in (run_at_once, storage.transaction):
                with pytest.raises(DuplicateKey) as caught:
                    run(write)
                assert caught.value.fields == expected
            assert read_all(storage) == before
            if len(before) < changed:  # the document that the next writes would change
                before.append({"_id": changed, "a": "free", "b": {"c": "free"}})
                storage.insert("things", before[-1:])

    def test_several_documents_that_take_one_value_are_refused(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", add_ids([{"a": 1}, {"a": 2}]))
        with pytest.raises(DuplicateKey) as caught:
            storage.transaction(lambda: storage.update_many("things", {}, {"$set": {"a": 3}}))
        assert (caught.value.fields, read_all(storage)) == (("a",), add_ids([{"a": 1}, {"a": 2}]))
