"""Unique indexes refuse each kind of write, and name their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gatewayfw.errors import DuplicateKey
from gatewayfw.storage.base import Storage
from gatewayfw.storage.terms import Document, Index
from gatewayfw.testing.storage_suite.topic import LOCK, Topic, add_ids, parametrize, read_all, run_at_once

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


class Uniqueness(Topic):
    """Unique indexes refuse each kind of write, and name their fields."""

    def test_a_unique_index_refuses_an_insert(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", [{"_id": 1, "a": "x"}, {"_id": 2, "a": "y"}])
        with pytest.raises(DuplicateKey) as caught:
            storage.insert("things", [{"_id": 3, "a": "z"}, {"_id": 4, "a": "x"}])
        assert (caught.value.fields, read_all(storage)) == (("a",), [{"_id": 1, "a": "x"}, {"_id": 2, "a": "y"}])

    @parametrize(UNIQUE)
    def test_a_refused_write_names_the_fields_of_the_index(self, storage: Storage, row: tuple[Any, ...]) -> None:
        indexes, stored, added, expected = row
        ensured = [Index(tuple((name, 1) for name in names), {**rest, "unique": True}) for names, rest in indexes]
        storage.ensure("things", ensured, 10)
        storage.insert("things", add_ids(stored))
        changed = len(stored) + 1
        for write in (
            lambda: storage.insert("things", [{"_id": changed, **added}]),
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
            if storage.count("things", {"_id": changed}) == 0:
                storage.insert("things", [{"_id": changed, "a": "free", "b": {"c": "free"}}])

    def test_a_unique_index_refuses_updates(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", add_ids([{"a": 1}, {"a": 2}]))
        for write in (
            lambda: storage.update_one("things", {"_id": 2}, {"$set": {"a": 1}}, None),
            lambda: storage.update_many("things", {"_id": 2}, {"$set": {"a": 1}}),
            lambda: storage.update_each("things", [(2, {"$set": {"a": 1}})]),
        ):
            with pytest.raises(DuplicateKey) as caught:
                write()
            assert caught.value.fields == ("a",)
        assert read_all(storage) == add_ids([{"a": 1}, {"a": 2}])

    def test_several_documents_that_take_one_value_are_refused(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", add_ids([{"a": 1}, {"a": 2}]))
        with pytest.raises(DuplicateKey) as caught:
            storage.transaction(lambda: storage.update_many("things", {}, {"$set": {"a": 3}}))
        assert (caught.value.fields, read_all(storage)) == (("a",), add_ids([{"a": 1}, {"a": 2}]))

    @pytest.mark.parametrize("many", [False, True], ids=["touch", "touch_many"])
    def test_a_unique_index_refuses_what_is_changed_with_a_touch(self, storage: Storage, many: bool) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", add_ids([{"a": 1}, {"a": 2}]))

        def write() -> None:
            storage.insert("things", [{"_id": 3}])
            if many:
                storage.touch_many("things", [1], [({"_id": 2}, {"$set": {"a": 1}})], lock=LOCK)
            else:
                storage.touch("things", {"_id": 2}, None, {"$set": {"a": 1}}, lock=LOCK)

        with pytest.raises(DuplicateKey):
            storage.transaction(write)
        assert read_all(storage) == add_ids([{"a": 1}, {"a": 2}])
