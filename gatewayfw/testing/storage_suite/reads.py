"""Fields, order, pages, and how long a result may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from bson import encode

from gatewayfw.errors import StorageError
from gatewayfw.storage.base import Storage
from gatewayfw.storage.order import order_key
from gatewayfw.storage.terms import MANY_VALUES, Document, Index
from gatewayfw.testing.storage_suite.topic import DAY, ID, Topic, add_ids, collect_ids, parametrize, read_all

#: name: (the document but its id; the fields; what is read but the id)
FIELDS: Mapping[str, tuple[Document, Sequence[str] | None, Document]] = {
    "all": ({"a": 1, "b": {"c": 2}}, None, {"a": 1, "b": {"c": 2}}),
    "none": ({"a": 1}, [], {}),
    "some": ({"a": 1, "b": 2, "c": 3}, ["c", "a"], {"a": 1, "c": 3}),
    "id named": ({"a": 1, "b": 2}, ["_id", "a"], {"a": 1}),
    "missing": ({"a": 1}, ["x", "y.z"], {}),
    "dotted": ({"a": {"b": 1, "c": 2}, "d": 3}, ["a.b"], {"a": {"b": 1}}),
    "two below one": ({"a": {"b": 1, "c": 2, "d": 3}}, ["a.d", "a.b"], {"a": {"b": 1, "d": 3}}),
    "embedded id": ({"a": {"_id": 3, "b": 1}}, ["a._id"], {"a": {"_id": 3}}),
    "into a list": ({"a": [{"b": 1, "c": 2}, {"c": 3}]}, ["a.b"], {"a": [{"b": 1}, {}]}),
    "into lists": ({"a": [{"b": [{"c": 1, "d": 2}]}]}, ["a.b.c"], {"a": [{"b": [{"c": 1}]}]}),
    "below an empty object": ({"a": {}}, ["a.b"], {"a": {}}),
    "below an empty list": ({"a": []}, ["a.b"], {"a": []}),
    "below a scalar": ({"a": 1}, ["a.b"], {}),
    "below null": ({"a": None}, ["a.b"], {}),
}

#: name: (documents, which get 1, 2, 3... as ids; the sort; the ids in its order)
SORTS: Mapping[str, tuple[Sequence[Document], Sequence[tuple[str, int]], Sequence[int]]] = {
    "ascending": ([{"a": 2}, {"a": 3}, {"a": 1}], [("a", 1)], [3, 1, 2]),
    "descending": ([{"a": 2}, {"a": 3}, {"a": 1}], [("a", -1)], [2, 1, 3]),
    "missing lowest": ([{"a": 2}, {}, {"a": -1}, {"a": None}], [("a", 1), ("_id", 1)], [2, 4, 3, 1]),
    "missing last": ([{"a": 2}, {}, {"a": -1}, {"a": None}], [("a", -1), ("_id", 1)], [1, 3, 2, 4]),
    "two keys": ([{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 0, "b": 0}], [("a", 1), ("b", -1)], [3, 2, 1]),
    "ties by id": ([{"a": 1}, {"a": 0}, {"a": 1}], [("a", -1), ("_id", 1)], [1, 3, 2]),
    "ties by id descending": ([{"a": 1}, {"a": 0}, {"a": 1}], [("a", -1), ("_id", -1)], [3, 1, 2]),
    "dotted": ([{"a": {"b": 2}}, {"a": {"b": 1}}, {}], [("a.b", 1)], [3, 2, 1]),
    "strings by code point": ([{"a": "b"}, {"a": "é"}, {"a": "B"}], [("a", 1)], [3, 1, 2]),
    "kinds": (
        [{"a": DAY}, {"a": True}, {"a": ID}, {"a": {}}, {"a": "x"}, {"a": 1.5}, {"a": 1}, {}],
        [("a", 1)],
        [8, 7, 6, 5, 4, 3, 2, 1],
    ),
}

#: name: (documents; the field; the filter; its values, sorted)
DISTINCT: Mapping[str, tuple[Sequence[Document], str, Document, Sequence[Any]]] = {
    "once each": ([{"a": 2}, {"a": 1}, {"a": 2}], "a", {}, [1, 2]),
    "of the matches": ([{"a": 2, "b": 1}, {"a": 1}, {"a": 3, "b": 2}], "a", {"b": {"$gt": 0}}, [2, 3]),
    "by newer operators": ([{"a": "x"}, {"a": "y"}, {"a": "xy"}], "a", {"a": {"$regex": "^x"}}, ["x", "xy"]),
    "of nothing": ([{"a": 1}], "a", {"a": 2}, []),
    "null": ([{"a": None}, {}, {"a": [None, 1]}], "a", {}, [1]),
    "of types": ([{"a": DAY}, {"a": True}, {"a": ID}, {"a": "x"}, {"a": 0}], "a", {}, [0, "x", ID, True, DAY]),
    "elements": ([{"a": [2, 1]}, {"a": []}, {"a": 1}, {"a": [3, 2]}], "a", {}, [1, 2, 3]),
    "objects": ([{"a": {"b": 1}}, {"a": [{"b": 1}, {"b": 2}]}], "a", {}, [{"b": 1}, {"b": 2}]),
    "below objects": ([{"a": {"b": 1}}, {"a": 5}, {"a": {"c": 2}}, {}], "a.b", {}, [1]),
    "below lists": ([{"a": [{"b": 1}, {"b": [2, 3]}, {}, 4]}], "a.b", {}, [1, 2, 3]),
    "of an element": ([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 3}]}], "a.0.b", {}, [1, 3]),
    "ids": ([{}, {}], "_id", {}, [1, 2]),
    "equal numbers": ([{"a": 1.0}, {"a": 1}], "a", {}, [1]),
}


class Reads(Topic):
    """Fields, order, pages, and how long a result may be."""

    def test_what_is_found_to_be_stored_is_stored_as_it_was(self, storage: Storage) -> None:
        """Objects may be left unread; sizes stay the same.

        So does what is stored elsewhere.
        """
        nested = {"z": {"y": [1, {"x": None}], "b": "text"}, "list": [{"a": 1.5}, [True, 2**40]], "d": DAY}
        storage.insert("things", [{"_id": 1, "n": 2, **nested}, {"_id": 2, "n": 1, **nested}, {"_id": 3}])
        fields = ["z", "list", "d"]
        found = list(storage.find_stored("things", {"n": {"$gt": 0}}, fields, sort=[("n", 1)], limit=5))
        assert [one["_id"] for one in found] == [2, 1]
        assert [len(encode(one)) for one in found] == [len(encode({"_id": 1, **nested}))] * 2
        storage.update_each("things", [(3, {"$set": {name: found[0][name] for name in fields}})])
        assert next(storage.find("things", {"_id": 3})) == {"_id": 3, **nested}
        assert list(storage.find_stored("things", {"n": 9})) == []

    def test_nothing_is_in_a_collection_that_does_not_exist(self, storage: Storage) -> None:
        assert (list(storage.find("nowhere", {})), storage.count("nowhere", {})) == ([], 0)

    @parametrize(FIELDS)
    def test_fields(self, storage: Storage, row: tuple[Document, Sequence[str] | None, Document]) -> None:
        document, fields, expected = row
        storage.insert("things", [{"_id": 1, **document}])
        assert list(storage.find("things", {}, fields)) == [{"_id": 1, **expected}]
        assert storage.update_one("things", {}, {"$set": {"new": 1}}, fields) in (
            {"_id": 1, **expected},
            {"_id": 1, **expected, "new": 1} if fields is None else None,
        )

    @parametrize(SORTS)
    def test_sorting(
        self, storage: Storage, row: tuple[Sequence[Document], Sequence[tuple[str, int]], Sequence[int]]
    ) -> None:
        documents, sort, expected = row
        storage.insert("things", add_ids(documents))
        assert collect_ids(list(storage.find("things", {}, sort=sort))) == expected

    @pytest.mark.parametrize("indexed", [False, True])
    @parametrize(DISTINCT)
    def test_distinct_values(
        self, storage: Storage, row: tuple[Sequence[Document], str, Document, Sequence[Any]], indexed: bool
    ) -> None:
        documents, field, filter, expected = row
        storage.ensure("things", [Index(((field, 1),))] if indexed and field != "_id" else [], 100)
        storage.insert("things", add_ids(documents))
        assert sorted(storage.distinct("things", field, filter), key=order_key) == expected

    def test_distinct_sees_its_own_transaction(self, storage: Storage) -> None:
        def work() -> list[Any]:
            storage.insert("things", add_ids([{"a": 1}]))
            return storage.distinct("things", "a", {})

        assert storage.transaction(work) == [1]
        assert storage.distinct("nowhere", "a", {}) == []

    def test_distinct_values_have_an_end(self, storage: Storage) -> None:
        part = storage.most_bytes // 4
        storage.insert("things", [{"_id": number, "a": f"{number}" + "x" * part} for number in range(4)])
        assert len(storage.distinct("things", "a", {"_id": {"$gt": 0}})) == 3
        with pytest.raises(StorageError) as caught:
            storage.distinct("things", "a", {})
        assert caught.value.message == MANY_VALUES

    @pytest.mark.parametrize(
        ("skip", "limit", "expected"),
        [
            (0, 0, [1, 2, 3, 4]),
            (0, 2, [1, 2]),
            (1, 2, [2, 3]),
            (3, 2, [4]),
            (3, 0, [4]),
            (9, 1, []),
            (0, 9, [1, 2, 3, 4]),
        ],
    )
    def test_skip_and_limit(self, storage: Storage, skip: int, limit: int, expected: list[int]) -> None:
        storage.insert("things", add_ids([{}] * 4))
        assert collect_ids(list(storage.find("things", {}, sort=[("_id", 1)], skip=skip, limit=limit))) == expected

    def test_a_long_result_is_read_to_its_end(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": "x" * 100}] * 300))
        assert collect_ids(read_all(storage)) == list(range(1, 301))

    def test_a_result_need_not_be_read_to_its_end(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{}] * 300))
        found = storage.find("things", {}, sort=[("_id", 1)])
        assert next(found) == {"_id": 1}
        del found
        assert storage.count("things", {}) == 300

    def test_aggregate_matches_and_groups(self, storage: Storage) -> None:
        storage.insert(
            "things", add_ids([{"a": "x", "n": 1}, {"a": "y", "n": 2}, {"a": "x", "n": 3}, {"a": "z", "n": 4}])
        )
        pipeline: list[Document] = [
            {"$match": {"a": {"$ne": "z"}}},
            {"$group": {"_id": "$a", "sum": {"$sum": "$n"}}},
            {"$sort": {"_id": 1}},
        ]
        assert list(storage.aggregate("things", pipeline)) == [{"_id": "x", "sum": 4}, {"_id": "y", "sum": 2}]
