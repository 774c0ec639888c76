"""Which documents a filter finds, and what is read of them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from bson import encode

from gatewayfw.errors import StorageError
from gatewayfw.storage.base import Storage
from gatewayfw.storage.order import order_key
from gatewayfw.storage.subset import Rules
from gatewayfw.storage.terms import MANY_VALUES, Document, Filter, Index, Paths
from gatewayfw.testing.storage_suite.topic import (
    DAY,
    ID,
    LATER_ID,
    LOCK,
    Topic,
    add_ids,
    collect_ids,
    parametrize,
    read_all,
)

#: Values of all types, which get 1, 2, 3... as ids.
VALUES: Sequence[Document] = [
    *({"a": 1}, {"a": 1.0}, {"a": 2.5}, {"a": 2**62 + 1}, {"a": "x"}, {"a": "X"}, {"a": ""}),  # 1 to 7
    *({"a": None}, {}, {"a": True}, {"a": False}, {"a": DAY}, {"a": ID}, {"a": LATER_ID}),  # 8 to 14
    *({"a": [1, 2]}, {"a": [2, 1]}, {"a": []}, {"a": [None]}, {"a": [[1, 2]]}, {"a": [1, 9]}),  # 15 to 20
    *({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {}}, {"a": {"b": [1, 5]}}),  # 21 to 25
    {"a": [{"b": 1}, {"b": 2}]},  # 26
    {"a": [{"b": 1, "c": 2}]},
    {"a": [{"b": None}, {}]},
    {"a": [{"b": [3]}, 7]},
    {"a": [{"l": [{"b": 2}]}], "d": 1},  # 30
]
#: Filters, each with the ids of the values that it finds.
FOUND: Sequence[tuple[Filter, Sequence[int]]] = [
    ({"a": 1}, [1, 2, 15, 16, 20]),
    ({"a": "X"}, [6]),
    ({"a": 2**62 + 1}, [4]),
    ({"a": None}, [8, 9, 18]),
    ({"a": DAY}, [12]),
    ({"a": ID}, [13]),
    ({"a": [1, 2]}, [15, 19]),
    ({"a": {"b": 1}}, [21, 26]),
    ({"a.b": 1}, [21, 22, 25, 26, 27]),
    ({"a.0": 2}, [16]),
    ({"a.0.b": 1}, [26, 27]),
    ({"a.l.b": 2, "d": 1}, [30]),
    ({"a": {"$eq": 1}}, [1, 2, 15, 16, 20]),
    ({"a.b": {"$ne": None}}, [15, 16, 17, 18, 19, 20, 21, 22, 25, 26, 27, 29]),
    ({"a": {"$gt": 1}}, [3, 4, 15, 16, 20, 29]),
    ({"a": {"$gte": 1}}, [1, 2, 3, 4, 15, 16, 20, 29]),
    ({"a": {"$lt": 2}}, [1, 2, 15, 16, 20]),
    ({"a": {"$lte": 1}}, [1, 2, 15, 16, 20]),
    ({"a": {"$gt": 1, "$lt": 3}}, [3, 15, 16, 20]),
    ({"a": {"$gt": 2, "$lt": 9}}, [3, 20, 29]),
    ({"a": {"$lt": "y"}}, [5, 6, 7]),
    ({"a": {"$gt": DAY - timedelta(1)}}, [12]),
    ({"a": {"$gt": ID}}, [14]),
    ({"a": {"$gt": False}}, [10]),
    ({"a": {"$in": [1, "x", 9]}}, [1, 2, 5, 15, 16, 20]),
    ({"a": {"$in": [None, ""]}}, [7, 8, 9, 18]),
    ({"a": {"$in": []}}, []),
    ({"a": {"$exists": False}}, [9]),
    ({"a.b": {"$exists": True}}, [21, 22, 23, 25, 26, 27, 28, 29]),
    ({"$and": [{"a": 1}, {"a": 2}]}, [15, 16]),
    ({"$or": [{"a": 9}, {"d": 1}]}, [20, 30]),
    ({"a.b": 1, "$or": [{"a.c": 2}, {"a.b": 5}]}, [22, 25, 27]),
    ({"$or": [{"$and": [{"a": 1}, {"a": 9}]}, {"a": "x"}]}, [5, 20]),
    ({"a": {"$elemMatch": {"b": 1, "c": 2}}}, [27]),
    ({"a": {"$elemMatch": {"b": {"$gt": 1}}}}, [26, 29]),
    ({"a.b": {"$elemMatch": {"$gt": 2, "$lt": 6}}}, [25, 29]),
    ({"a": {"$elemMatch": {"b": None}}}, [19, 28, 30]),
    ({"a": {"$elemMatch": {"$or": [{"b": 2}, {"c": 2}]}}}, [26, 27]),
    ({"a": {"$not": {"$not": {"$gt": 2}}}}, [3, 4, 20, 29]),
    ({"a": {"$not": {"$lt": 2}, "$lt": 3}}, [3]),
    ({"d": 1, "$nor": [{"a": 1}]}, [30]),
    ({"$nor": [{}]}, []),
    ({"a": {"$elemMatch": {"$nor": [{"b": 1}]}}}, [19, 26, 28, 29, 30]),
    ({"a": {"$all": [1, 2]}}, [15, 16]),
    ({"a": {"$all": [1]}}, [1, 2, 15, 16, 20]),
    ({"a": {"$all": []}}, []),
    ({"a": {"$all": [None]}}, [8, 9, 18]),
    ({"a": {"$all": [[1, 2]]}}, [15, 19]),
    ({"a.b": {"$all": [1, 2]}}, [26]),
    ({"a": {"$size": 1}}, [18, 19, 27, 30]),
    ({"a": {"$size": 0}}, [17]),
    ({"a.b": {"$size": 2}}, [25]),
    ({"a": {"$type": "array"}}, [15, 16, 17, 18, 19, 20, 26, 27, 28, 29, 30]),
    ({"a": {"$type": ["null", "object"]}}, [8, 18, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]),
    ({"a": {"$elemMatch": {"$gt": 1, "$lt": 9}}}, [15, 16, 29]),
    ({"a": {"$elemMatch": {"$in": [2, 9]}}}, [15, 16, 20]),
    ({"a": {"$elemMatch": {"$not": {"$gte": 2}}}}, [15, 16, 18, 19, 20, 26, 27, 28, 29, 30]),
    ({"a": {"$elemMatch": {"$eq": None}}}, [18]),
    ({"a": {"$elemMatch": {"$elemMatch": {"$eq": 2}}}}, [19]),
]
#: Filters, each with the ids of the values that it passes over; it finds all others.
PASSED_OVER: Sequence[tuple[Filter, Sequence[int]]] = [
    ({}, []),
    ({"a.b": None}, [15, 16, 17, 18, 19, 20, 21, 22, 25, 26, 27, 29]),
    ({"a": {"$ne": 1}}, [1, 2, 15, 16, 20]),
    ({"a": {"$ne": None}}, [8, 9, 18]),
    ({"a.b": {"$ne": 1}}, [21, 22, 25, 26, 27]),
    ({"a.b": {"$in": [2, None]}}, [15, 16, 17, 18, 19, 20, 21, 22, 25, 27, 29]),
    ({"a": {"$nin": [1, None]}}, [1, 2, 8, 9, 15, 16, 18, 20]),
    ({"a": {"$nin": []}}, []),
    ({"a": {"$exists": True}}, [9]),
    ({"a.b": {"$exists": False}}, [21, 22, 23, 25, 26, 27, 28, 29]),
    ({"a": {"$not": {"$lt": 2}}}, [1, 2, 15, 16, 20]),
    ({"a": {"$not": {"$elemMatch": {"$gt": 1}}}}, [15, 16, 20, 29]),
    ({"a": {"$not": {"$size": 1}}}, [18, 19, 27, 30]),
    ({"a.b": {"$not": {"$lt": 2}}}, [21, 22, 25, 26, 27]),
    ({"$nor": [{"a": 1}, {"a": None}]}, [1, 2, 8, 9, 15, 16, 18, 20]),
]
#: Texts, and what is none.
WORDS: Sequence[Document] = [
    {"a": "The end"},
    {"a": ["no", "THE"]},
    {"a": "\u00c9t\u00e9"},
    {"a": 5},
    {"a": None},
    {},
    {"a": {"b": "The"}},
    {"a": [["The"]]},
    {"a": "the\n"},
]
#: Filters, each with the ids of the words that it finds.
MATCHED: Sequence[tuple[Filter, Sequence[int]]] = [
    ({"a": {"$regex": "The"}}, [1]),
    ({"a": {"$regex": ""}}, [1, 2, 3, 9]),
    ({"a": {"$regex": "^the", "$options": "i"}}, [1, 2, 9]),
    ({"a": {"$regex": "^\u00e9T\u00c9$", "$options": "i"}}, [3]),
    ({"a": {"$regex": "e$"}}, [9]),
    ({"a": {"$regex": r"\bt\b|\W", "$options": "i"}}, [1, 3, 9]),
    ({"a.b": {"$regex": "^T"}}, [7]),
    ({"a": {"$regex": "^.h", "$ne": "the\n"}}, [1]),
    ({"a": {"$not": {"$regex": "^the", "$options": "i"}}}, [3, 4, 5, 6, 7, 8]),
    ({"$nor": [{"a": {"$regex": "e"}}]}, [2, 3, 4, 5, 6, 7, 8]),
    ({"a": {"$elemMatch": {"$regex": "the", "$options": "i"}}}, [2]),
]
#: name: (documents, which get 1, 2, 3... as ids; the filter; the ids it finds)
FILTERS: Mapping[str, tuple[Sequence[Document], Filter, Sequence[int]]] = {
    **{f"{filter}": (VALUES, filter, found) for filter, found in FOUND},
    **{
        f"{filter}": (VALUES, filter, [id_ for id_ in range(1, len(VALUES) + 1) if id_ not in passed])
        for filter, passed in PASSED_OVER
    },
    **{f"{filter}": (WORDS, filter, found) for filter, found in MATCHED},
}

STORED: Document = {
    "a": 1,
    "b": {"_id": 3, "c": 1, "d": 2},
    "e": {},
    "l": [{"b": 1, "c": 2}, {"c": 3}],
    "ll": [{"b": [{"c": 1, "d": 2}]}],
    "m": [],
    "n": None,
}
#: name: (the fields; what is read of `STORED` with them)
FIELDS: Mapping[str, tuple[Paths, Document]] = {
    "all": (None, STORED),
    "none": ([], {}),
    "some": (["n", "a"], {"a": 1, "n": None}),
    "id named": (["_id", "a"], {"a": 1}),
    "missing": (["x", "y.z"], {}),
    "two below one": (["b.d", "b._id"], {"b": {"_id": 3, "d": 2}}),
    "into lists": (["l.b", "ll.b.c"], {"l": [{"b": 1}, {}], "ll": [{"b": [{"c": 1}]}]}),
    "below what has none": (["a.x", "e.x", "m.x", "n.x"], {"e": {}, "m": []}),
}

#: name: (documents, which get 1, 2, 3... as ids; the sort; the ids in its order)
SORTS: Mapping[str, tuple[Sequence[Document], Sequence[tuple[str, int]], Sequence[int]]] = {
    "missing lowest": ([{"a": 2}, {}, {"a": -1}, {"a": None}], [("a", 1), ("_id", 1)], [2, 4, 3, 1]),
    "missing last": ([{"a": 2}, {}, {"a": -1}, {"a": None}], [("a", -1), ("_id", 1)], [1, 3, 2, 4]),
    "two keys": ([{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 0, "b": 0}], [("a", 1), ("b", -1)], [3, 2, 1]),
    "ties by id": ([{"a": 1}, {"a": 0}, {"a": 1}], [("a", -1), ("_id", 1)], [1, 3, 2]),
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
    "equal numbers": ([{"a": 1.0}, {"a": 1}], "a", {}, [1]),
}


class Reads(Topic):
    """Which documents a filter finds, and what is read of them."""

    @parametrize(FILTERS)
    def test_reads_and_writes_select_by_filters(
        self, storage: Storage, row: tuple[Sequence[Document], Filter, Sequence[int]]
    ) -> None:
        documents, filter, expected = row
        Rules().check_filter(filter)
        storage.insert("things", add_ids(documents))
        assert collect_ids(list(storage.find("things", filter, [], sort=[("_id", 1)]))) == expected
        assert storage.count("things", filter) == len(expected)
        first = storage.update_one("things", filter, {"$set": {"seen": 0}}, [])
        assert first in [{"_id": number} for number in expected] + [None] * (not expected)
        assert storage.update_many("things", filter, {"$set": {"seen": 1}}) == len(expected)
        assert collect_ids(list(storage.find("things", {"seen": 1}, [], sort=[("_id", 1)]))) == expected
        touched = storage.transaction(lambda: storage.touch("things", filter, [], {"$set": {"seen": 2}}, lock=LOCK))
        assert (touched is None, storage.count("things", {"seen": 2})) == (not expected, min(1, len(expected)))
        assert storage.delete_many("things", filter) == len(expected)
        assert storage.count("things", {}) == len(documents) - len(expected)

    def test_what_is_found_to_be_stored_is_stored_as_it_was(self, storage: Storage) -> None:
        """Objects may be left unread; sizes, and what is stored elsewhere, stay the same."""
        nested = {"z": {"y": [1, {"x": None}], "b": "text"}, "list": [{"a": 1.5}, [True, 2**40]], "d": DAY}
        storage.insert("things", [{"_id": 1, "n": 2, **nested}, {"_id": 2, "n": 1, **nested}, {"_id": 3}])
        fields = ["z", "list", "d"]
        found = list(storage.find("things", {"n": {"$gt": 0}}, fields, sort=[("n", 1)], limit=5, stored=True))
        assert [one["_id"] for one in found] == [2, 1]
        assert [len(encode(one)) for one in found] == [len(encode({"_id": 1, **nested}))] * 2
        storage.update_each("things", [(3, {"$set": {name: found[0][name] for name in fields}})])
        assert next(storage.find("things", {"_id": 3})) == {"_id": 3, **nested}
        assert list(storage.find("things", {"n": 9}, stored=True)) == []

    @parametrize(FIELDS)
    def test_fields(self, storage: Storage, row: tuple[Paths, Document]) -> None:
        fields, expected = row
        storage.insert("things", [{"_id": 1, **STORED}])
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
        storage.ensure("things", [Index(((field, 1),))] if indexed else [], 100)
        storage.insert("things", add_ids(documents))
        assert sorted(storage.distinct("things", field, filter), key=order_key) == expected

    def test_distinct_values_have_an_end(self, storage: Storage) -> None:
        part = storage.most_bytes // 4
        storage.insert("things", [{"_id": number, "a": f"{number}" + "x" * part} for number in range(4)])
        assert len(storage.distinct("things", "a", {"_id": {"$gt": 0}})) == 3
        with pytest.raises(StorageError) as caught:
            storage.distinct("things", "a", {})
        assert (caught.value.message, storage.distinct("nowhere", "a", {})) == (MANY_VALUES, [])

    @pytest.mark.parametrize(
        ("skip", "limit", "expected"), [(0, 0, [1, 2, 3, 4]), (1, 2, [2, 3]), (3, 2, [4]), (9, 1, [])]
    )
    def test_skip_and_limit(self, storage: Storage, skip: int, limit: int, expected: list[int]) -> None:
        storage.insert("things", add_ids([{}] * 4))
        assert collect_ids(list(storage.find("things", {}, sort=[("_id", 1)], skip=skip, limit=limit))) == expected

    def test_a_long_result_may_be_read_to_its_end_or_not(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": "x" * 100}] * 300))
        found = storage.find("things", {}, [], sort=[("_id", 1)])
        assert next(found) == {"_id": 1}
        del found
        assert collect_ids(read_all(storage)) == list(range(1, 301))

    def test_aggregate_matches_and_groups(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": "x", "n": 1}, {"a": "y", "n": 2}, {"a": "x", "n": 3}, {"a": "z"}]))
        pipeline: list[Document] = [
            {"$match": {"a": {"$ne": "z"}}},
            {"$group": {"_id": "$a", "sum": {"$sum": "$n"}}},
            {"$sort": {"_id": 1}},
        ]
        assert list(storage.aggregate("things", pipeline)) == [{"_id": "x", "sum": 4}, {"_id": "y", "sum": 2}]
