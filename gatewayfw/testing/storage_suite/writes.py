"""What is inserted is read as it was, what cannot be stored is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from gatewayfw.errors import DuplicateKey, StorageError, TooLarge
from gatewayfw.storage.base import Storage
from gatewayfw.storage.terms import Document
from gatewayfw.testing.storage_suite.topic import DAY, ID, LOCK, Topic, add_ids, parametrize, read_all, run_at_once

VALUES: Mapping[str, tuple[Any, Any]] = {
    "null": (None, None),
    "boolean": (True, True),
    "integer": (1, 1),
    "64 bits": (2**63 - 1, 2**63 - 1),
    "negative 64 bits": (-(2**63), -(2**63)),
    "float": (0.1, 0.1),
    "float without a fraction": (2.0, 2.0),
    "string": ("text", "text"),
    "string of any characters": ("\0 \n \x7f é € \U0001f600 $a.b", "\0 \n \x7f é € \U0001f600 $a.b"),
    "id": (ID, ID),
    "date": (DAY, DAY),
    "date before 1970": (datetime(1815, 12, 10), datetime(1815, 12, 10)),
    "microseconds are cut off": (DAY.replace(microsecond=123_999), DAY),
    "dates become UTC": (DAY.replace(tzinfo=timezone(timedelta(hours=2))), DAY - timedelta(hours=2)),
    "bytes": (b"\0\xff", b"\0\xff"),
    "empty": ({"a": {}, "b": [], "c": ""}, {"a": {}, "b": [], "c": ""}),
    "nested": ({"a": [{"b": [[1], {}]}]}, {"a": [{"b": [[1], {}]}]}),
}


class Writes(Topic):
    """What is inserted is read as it was, what cannot be stored is refused."""

    def test_inserted_documents_are_found(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}, {"_id": "x", "a": {"b": [2]}}])
        storage.insert("others", [{"_id": ID}])
        assert list(storage.find("things", {}, sort=[("_id", 1)])) == [
            {"_id": 1, "a": 1},
            {"_id": "x", "a": {"b": [2]}},
        ]
        assert list(storage.find("others", {})) == [{"_id": ID}]

    @pytest.mark.parametrize("count", [1, 40], ids=["one", "many"])
    def test_large_documents_are_found_as_they_were_stored(self, storage: Storage, count: int) -> None:
        nested = [{"a": {"b": [ID, DAY, 2**40, 1.5, None, {"c": b"x"}]}} for _ in range(4_000)]
        stored = add_ids([{"nested": nested, "day": DAY}, *[{"text": "x" * 20_000} for _ in range(count)]])
        for document in stored:
            storage.insert("things", [document])
        for _ in range(2):  # what was read is the reader's own
            reads = [
                list(storage.find("things", {}, sort=[("_id", 1)])),
                list(storage.find("things", {}, sort=[("_id", 1)], limit=len(stored))),
                list(storage.aggregate("things", [{"$sort": {"_id": 1}}])),
            ]
            assert reads == [stored] * 3
            for found in reads:
                found[0]["nested"][0]["a"]["b"].clear()

    def test_inserting_nothing_does_nothing(self, storage: Storage) -> None:
        storage.insert("things", [])
        assert read_all(storage) == []

    def test_a_taken_id_is_refused(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}])
        with pytest.raises(DuplicateKey) as caught:
            storage.insert("things", [{"_id": 1, "a": 2}])
        assert (caught.value.fields, read_all(storage)) == (("_id",), [{"_id": 1, "a": 1}])

    @pytest.mark.parametrize("taken", [1, 2], ids=["stored", "given twice"])
    def test_of_several_documents_all_are_inserted_or_none(self, storage: Storage, taken: int) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}])
        with pytest.raises(DuplicateKey) as caught:
            storage.insert("things", [{"_id": 2}, {"_id": taken}, {"_id": 3}])
        assert (caught.value.fields, read_all(storage)) == (("_id",), [{"_id": 1, "a": 1}])

    def test_a_document_and_what_is_stored_are_apart(self, storage: Storage) -> None:
        document: Document = {"_id": 1, "a": {"b": [1]}}
        storage.insert("things", [document])
        document["a"]["b"].append(2)
        next(storage.find("things", {}))["a"]["b"].append(3)
        assert read_all(storage) == [{"_id": 1, "a": {"b": [1]}}]

    @parametrize(VALUES)
    def test_values_come_back(self, storage: Storage, row: tuple[Any, Any]) -> None:
        given, expected = row
        storage.insert("things", [{"_id": 1, "a": given}])
        storage.update_many("things", {}, {"$set": {"b": given}})
        found = next(storage.find("things", {}))
        assert found == {"_id": 1, "a": expected, "b": expected}
        for value in (found["a"], found["b"]):
            # The driver's 64-bit integers are a subclass of int.
            assert isinstance(value, type(expected))
            assert isinstance(value, bool) is isinstance(expected, bool)

    def test_embedded_documents_keep_the_order_of_their_keys(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": {"z": 1, "b": {"y": 1, "x": 2}, "a": 3}}])
        found = next(storage.find("things", {}))["a"]
        assert [*found, *found["b"]] == ["z", "b", "a", "y", "x"]

    @pytest.mark.parametrize("value", [2**63, object(), {1}], ids=["beyond 64 bits", "object", "set"])
    def test_what_cannot_be_stored_is_refused(self, storage: Storage, value: Any) -> None:
        with pytest.raises(StorageError):
            storage.insert("things", [{"_id": 1, "a": value}])
        assert read_all(storage) == []

    @pytest.mark.parametrize("together", [False, True], ids=["alone", "in a transaction"])
    def test_a_document_that_would_be_too_large_is_refused(self, storage: Storage, together: bool) -> None:
        """Each write is refused by itself; its transaction undoes what went before."""
        half = "x" * (storage.most_bytes // 2)
        storage.insert("things", [{"_id": 1, "a": half}])
        run = storage.transaction if together else run_at_once
        writes: list[Callable[[], object]] = [
            lambda: storage.insert("things", [{"_id": 2, "a": half * 2}]),
            lambda: storage.update_one("things", {"_id": 1}, {"$set": {"b": half}}, []),
            lambda: storage.update_many("things", {"_id": 1}, {"$push": {"b": half}}),
            lambda: storage.update_each("things", [(1, {"$set": {"b.c": half}})]),
            lambda: storage.touch("things", {"_id": 1}, [], {"$set": {"b": half}}, lock=LOCK),
        ]
        for write in writes:
            with pytest.raises(TooLarge) as caught:
                run(write)
            assert caught.value.message == "the document would be too large"
        assert [(one["_id"], sorted(one)) for one in read_all(storage)] == [(1, ["_id", "a"])]

    def test_delete_many_deletes_what_matches_and_counts_it(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1}, {"a": 2}, {"a": 1}]))
        assert (storage.delete_many("things", {"a": 1}), read_all(storage)) == (2, [{"_id": 2, "a": 2}])
        assert (storage.delete_many("things", {"a": 1}), storage.delete_many("nowhere", {})) == (0, 0)

    def test_closing_twice_is_no_error(self, storage: Storage) -> None:
        storage.close()
        storage.close()
