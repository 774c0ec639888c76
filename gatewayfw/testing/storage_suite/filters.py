"""Which documents each filter finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from gatewayfw.storage.base import Storage
from gatewayfw.storage.subset import check_filter
from gatewayfw.storage.terms import Document
from gatewayfw.testing.storage_suite.topic import DAY, ID, LATER_ID, LOCK, Topic, add_ids, collect_ids, parametrize

#: name: (documents, which get 1, 2, 3... as ids; the filter; the ids it finds)
FILTERS: Mapping[str, tuple[Sequence[Document], Document, Sequence[int]]] = {
    "empty": ([{"a": 1}, {}], {}, [1, 2]),
    "equality": ([{"a": 1}, {"a": 2}, {"a": "1"}, {}], {"a": 1}, [1]),
    "int and float": ([{"a": 1}, {"a": 1.0}, {"a": 1.5}], {"a": 1}, [1, 2]),
    "case": ([{"a": "x"}, {"a": "X"}], {"a": "X"}, [2]),
    "empty string": ([{"a": ""}, {"a": None}, {}], {"a": ""}, [1]),
    "two keys": ([{"a": 1, "b": 1}, {"a": 1, "b": 2}], {"a": 1, "b": 2}, [2]),
    "null matches missing": ([{"a": None}, {"a": 1}, {}, {"a": 0}], {"a": None}, [1, 3]),
    "null in a list": ([{"a": []}, {"a": [None]}, {"a": [1]}], {"a": None}, [2]),
    "null in embedded": ([{"a": {"b": None}}, {"a": {"b": 1}}, {"a": {}}, {}], {"a.b": None}, [1, 3, 4]),
    "list contains": ([{"a": [1, 2]}, {"a": [3]}, {"a": 2}], {"a": 2}, [1, 3]),
    "list as a whole": ([{"a": [1, 2]}, {"a": [2, 1]}, {"a": [[1, 2]]}], {"a": [1, 2]}, [1, 3]),
    "embedded as a whole": ([{"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {"a": [{"b": 1}]}], {"a": {"b": 1}}, [1, 3]),
    "dotted": ([{"a": {"b": 1}}, {"a": {"b": 2}}, {"a": 1}, {}], {"a.b": 1}, [1]),
    "dotted into a list": ([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 3}]}, {"a": {"b": 2}}], {"a.b": 2}, [1, 3]),
    "dotted into two lists": ([{"a": [{"b": [{"c": 1}]}]}, {"a": [{"b": [{"c": 2}]}]}], {"a.b.c": 2}, [2]),
    "dotted number": ([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 2}]}], {"a.0.b": 2}, [2]),
    "id": ([{"a": ID}, {"a": LATER_ID}, {"a": str(ID)}], {"a": ID}, [1]),
    "date": ([{"a": DAY}, {"a": DAY + timedelta(milliseconds=1)}], {"a": DAY}, [1]),
    "64 bits": ([{"a": 2**62}, {"a": 2**62 + 1}], {"a": 2**62 + 1}, [2]),
    "$eq": ([{"a": 1}, {"a": [1]}, {"a": 2}, {}], {"a": {"$eq": 1}}, [1, 2]),
    "$ne": ([{"a": 1}, {"a": 2}, {}], {"a": {"$ne": 1}}, [2, 3]),
    "$ne on lists": ([{"a": [1, 2]}, {"a": [2]}, {"a": []}], {"a": {"$ne": 1}}, [2, 3]),
    "$ne null": ([{"a": None}, {"a": 1}, {}, {"a": []}, {"a": [None]}], {"a": {"$ne": None}}, [2, 4]),
    "$ne in embedded lists": ([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 2}]}, {}], {"a.b": {"$ne": 1}}, [2, 3]),
    "$gt": ([{"a": 1}, {"a": 2}, {"a": 2.5}, {}], {"a": {"$gt": 1}}, [2, 3]),
    "$gte": ([{"a": 1}, {"a": 2}, {"a": 3}, {}], {"a": {"$gte": 2}}, [2, 3]),
    "$lt": ([{"a": 1}, {"a": 2}, {}], {"a": {"$lt": 2}}, [1]),
    "$lte": ([{"a": 1}, {"a": 2}, {"a": 3}, {}], {"a": {"$lte": 2}}, [1, 2]),
    "range": ([{"a": 1}, {"a": 2}, {"a": 3}], {"a": {"$gt": 1, "$lt": 3}}, [2]),
    "range over elements": ([{"a": [1, 5]}, {"a": [3]}, {"a": [9]}], {"a": {"$gt": 2, "$lt": 4}}, [1, 2]),
    "numbers only": ([{"a": 1}, {"a": "1"}, {"a": None}, {"a": []}, {"a": {}}, {}], {"a": {"$gt": 0}}, [1]),
    "strings only": ([{"a": 1}, {"a": "b"}, {"a": True}, {"a": None}, {}], {"a": {"$lt": "c"}}, [2]),
    "dates only": ([{"a": DAY}, {"a": 1}, {"a": "2030"}, {}], {"a": {"$gt": DAY - timedelta(1)}}, [1]),
    "ids only": ([{"a": ID}, {"a": LATER_ID}, {"a": "x"}, {"a": 1}], {"a": {"$gt": ID}}, [2]),
    "booleans only": ([{"a": True}, {"a": 5}, {"a": False}, {}], {"a": {"$gt": False}}, [1]),
    "$in": ([{"a": 1}, {"a": 2}, {"a": 3}, {}], {"a": {"$in": [1, 3, 9]}}, [1, 3]),
    "$in on lists": ([{"a": [1, 2]}, {"a": [3]}, {}], {"a": {"$in": [2, 9]}}, [1]),
    "$in embedded lists": ([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 3}]}], {"a.b": {"$in": [2]}}, [1]),
    "$in with null": ([{"a": None}, {"a": 1}, {}, {"a": 2}], {"a": {"$in": [None, 1]}}, [1, 2, 3]),
    "$in nothing": ([{"a": 1}, {}], {"a": {"$in": []}}, []),
    "$nin": ([{"a": 1}, {"a": 2}, {}], {"a": {"$nin": [1]}}, [2, 3]),
    "$nin on lists": ([{"a": [1, 2]}, {"a": [3]}, {"a": []}], {"a": {"$nin": [1]}}, [2, 3]),
    "$nin with null": ([{"a": 1}, {"a": None}, {}], {"a": {"$nin": [None]}}, [1]),
    "$nin nothing": ([{"a": 1}, {}], {"a": {"$nin": []}}, [1, 2]),
    "$exists": ([{"a": None}, {"a": 1}, {}], {"a": {"$exists": True}}, [1, 2]),
    "not $exists": ([{"a": None}, {"a": 1}, {}], {"a": {"$exists": False}}, [3]),
    "$exists in embedded": (
        [{"a": {"b": 1}}, {"a": [{"b": 1}]}, {"a": {}}, {"a": 1}],
        {"a.b": {"$exists": True}},
        [1, 2],
    ),
    "below null": ([{"a": None}, {"a": {"b": 1}}, {}], {"a.b": None}, [1, 3]),
    "in below null": ([{"a": None}, {"a": {"b": 1}}, {}], {"a.b": {"$in": [None]}}, [1, 3]),
    "not null below null": ([{"a": None}, {"a": {"b": 1}}, {}], {"a.b": {"$ne": None}}, [2]),
    "$nin null below null": ([{"a": None}, {"a": {"b": 1}}, {}], {"a.b": {"$nin": [None]}}, [2]),
    "not $exists in embedded lists": (
        [{"a": [{"b": 1}, {}]}, {"a": [{}]}, {"a": []}],
        {"a.b": {"$exists": False}},
        [2, 3],
    ),
    "$exists and $ne": ([{"a": 1}, {"a": 2}, {}], {"a": {"$ne": 2, "$exists": True}}, [1]),
    "$elemMatch": (
        [{"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 1}, {"b": 2, "c": 2}]}, {"a": {"b": 1, "c": 2}}, {}],
        {"a": {"$elemMatch": {"b": 1, "c": 2}}},
        [1],
    ),
    "$elemMatch compares": ([{"a": [{"b": 1}]}, {"a": [{"b": 5}]}], {"a": {"$elemMatch": {"b": {"$gt": 2}}}}, [2]),
    "$elemMatch below": ([{"a": {"l": [{"b": 1}]}}, {"a": {"l": [{"b": 2}]}}], {"a.l": {"$elemMatch": {"b": 2}}}, [2]),
    "$elemMatch null": ([{"a": [{"b": None}]}, {"a": [{}]}, {"a": []}], {"a": {"$elemMatch": {"b": None}}}, [1, 2]),
    "$elemMatch $or": (
        [{"a": [{"b": 1}]}, {"a": [{"b": 2}]}, {"a": [{"b": 3}]}],
        {"a": {"$elemMatch": {"$or": [{"b": 1}, {"b": 3}]}}},
        [1, 3],
    ),
    "$elemMatch twice": (
        [{"a": [{"l": [{"b": 1}]}]}, {"a": [{"l": [{"b": 2}]}]}],
        {"a": {"$elemMatch": {"l": {"$elemMatch": {"b": 2}}}}},
        [2],
    ),
    "$and": ([{"a": 1}, {"a": 1, "b": 2}, {"b": 2}], {"$and": [{"a": 1}, {"b": 2}]}, [2]),
    "$and on one key": ([{"a": [1, 2]}, {"a": [1]}], {"$and": [{"a": 1}, {"a": 2}]}, [1]),
    "$or": ([{"a": 1}, {"b": 2}, {}], {"$or": [{"a": 1}, {"b": 2}]}, [1, 2]),
    "$or beside a key": ([{"a": 1, "c": 1}, {"b": 2, "c": 2}, {"c": 1}], {"c": 1, "$or": [{"a": 1}, {"b": 2}]}, [1]),
    "$and in $or": (
        [{"a": 1}, {"a": 2, "b": 1}, {"a": 2}],
        {"$or": [{"$and": [{"a": 2}, {"b": 1}]}, {"a": 1}]},
        [1, 2],
    ),
}

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
LISTS: Sequence[Document] = [{"a": [1, 5]}, {"a": [3]}, {"a": []}, {"a": 3}, {}, {"a": [[3]]}, {"a": [{"b": 3}]}]

#: The same, for filters that version 2 added.
NEWER_FILTERS: Mapping[str, tuple[Sequence[Document], Document, Sequence[int]]] = {
    "$not": ([{"a": 1}, {"a": 2}, {}, {"a": "x"}, {"a": [1, 9]}], {"a": {"$not": {"$lt": 2}}}, [2, 3, 4]),
    "$not twice": (LISTS, {"a": {"$not": {"$not": {"$gt": 3}}}}, [1]),
    "$not of two": ([{"a": 1}, {"a": 2}, {"a": 3}, {}], {"a": {"$not": {"$gt": 1, "$lt": 3}}}, [1, 3, 4]),
    "$not beside": ([{"a": 1}, {"a": 2}, {"a": 3}, {}], {"a": {"$not": {"$lt": 2}, "$lt": 3}}, [2]),
    "$not $exists": ([{"a": None}, {"a": 1}, {}], {"a": {"$not": {"$exists": True}}}, [3]),
    "$not $elemMatch": (LISTS, {"a": {"$not": {"$elemMatch": {"$gt": 2}}}}, [3, 4, 5, 6, 7]),
    "$not $size": (LISTS, {"a": {"$not": {"$size": 1}}}, [1, 3, 4, 5]),
    "$not below": ([{"a": [{"b": 1}, {"b": 2}]}, {"a": []}, {"a": [{"b": 2}]}], {"a.b": {"$not": {"$lt": 2}}}, [2, 3]),
    "$nor": ([{"a": 1}, {"b": 2}, {}, {"a": 1, "b": 2}], {"$nor": [{"a": 1}, {"b": 2}]}, [3]),
    "$nor beside a key": ([{"a": 1, "c": 1}, {"c": 1}, {}], {"c": 1, "$nor": [{"a": 1}]}, [2]),
    "$nor of $nor": ([{"a": 1}, {}], {"$nor": [{"$nor": [{"a": 1}]}]}, [1]),
    "$nor nothing": ([{"a": 1}, {}], {"$nor": [{}]}, []),
    "$nor in $elemMatch": (
        [{"a": [{"b": 1}]}, {"a": [{"b": 1}, {"c": 1}]}, {"a": [5]}, {"a": []}],
        {"a": {"$elemMatch": {"$nor": [{"b": 1}]}}},
        [2],
    ),
    "$all": ([{"a": [1, 2, 3]}, {"a": [1]}, {"a": 1}, {}], {"a": {"$all": [1, 2]}}, [1]),
    "$all of one": ([{"a": [1, 2]}, {"a": 1}, {"a": [2]}, {}], {"a": {"$all": [1]}}, [1, 2]),
    "$all of none": ([{"a": [1]}, {"a": []}, {}], {"a": {"$all": []}}, []),
    "$all null": ([{"a": None}, {}, {"a": [None, 1]}, {"a": []}], {"a": {"$all": [None]}}, [1, 2, 3]),
    "$all lists": ([{"a": [[1, 2]]}, {"a": [1, 2]}, {"a": [[1], 2]}], {"a": {"$all": [[1, 2]]}}, [1, 2]),
    "$all below lists": (
        [{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}]}, {"a": [{"b": [1, 2]}]}],
        {"a.b": {"$all": [1, 2]}},
        [1, 3],
    ),
    "$size": (LISTS, {"a": {"$size": 1}}, [2, 6, 7]),
    "$size of none": (LISTS, {"a": {"$size": 0}}, [3]),
    "$size below": ([{"a": [{"b": [1, 2]}, {"b": []}]}, {"a": {"b": [1]}}, {}], {"a.b": {"$size": 2}}, [1]),
    "$size of objects": ([{"a": {"b": 1}}, {"a": "x"}, {"a": [1]}], {"a": {"$size": 1}}, [3]),
    "$elemMatch on values": (LISTS, {"a": {"$elemMatch": {"$gt": 2, "$lt": 4}}}, [2]),
    "$elemMatch on equal values": (LISTS, {"a": {"$elemMatch": {"$in": [3, 5]}}}, [1, 2]),
    "$elemMatch on other values": (LISTS, {"a": {"$elemMatch": {"$not": {"$gte": 3}}}}, [1, 6, 7]),
    "$elemMatch on null": ([{"a": [None]}, {"a": []}, {"a": None}, {}], {"a": {"$elemMatch": {"$eq": None}}}, [1]),
    "$elemMatch on lists of lists": (LISTS, {"a": {"$elemMatch": {"$elemMatch": {"$eq": 3}}}}, [6]),
    "$elemMatch on text": (WORDS, {"a": {"$elemMatch": {"$regex": "the", "$options": "i"}}}, [2]),
    "$elemMatch below values": (
        [{"a": [{"b": [1, 5]}]}, {"a": [{"b": [3]}]}, {"a": {"b": 3}}],
        {"a.b": {"$elemMatch": {"$gt": 2, "$lt": 4}}},
        [2],
    ),
    "$regex": (WORDS, {"a": {"$regex": "The"}}, [1]),
    "$regex of all": (WORDS, {"a": {"$regex": ""}}, [1, 2, 3, 9]),
    "$regex i": (WORDS, {"a": {"$regex": "^the", "$options": "i"}}, [1, 2, 9]),
    "$regex i beyond ASCII": (WORDS, {"a": {"$regex": "^\u00e9T\u00c9$", "$options": "i"}}, [3]),
    "$regex beyond ASCII": (WORDS, {"a": {"$regex": "^\u00e9"}}, []),
    "$regex at the end": (WORDS, {"a": {"$regex": "e$"}}, [9]),
    "$regex with a dot": (WORDS, {"a": {"$regex": "^...$"}}, [2, 3, 9]),
    "$regex on words": (WORDS, {"a": {"$regex": r"\bt\b|\W", "$options": "i"}}, [1, 3, 9]),
    "$regex on classes": (WORDS, {"a": {"$regex": r"^[\w\s]+$"}}, [1, 2, 9]),
    "$regex below": (WORDS, {"a.b": {"$regex": "^T"}}, [7]),
    "$regex and $ne": (WORDS, {"a": {"$regex": "^.h", "$ne": "the\n"}}, [1]),
    "$not $regex": (WORDS, {"a": {"$not": {"$regex": "^the", "$options": "i"}}}, [3, 4, 5, 6, 7, 8]),
    "$nor $regex": (WORDS, {"$nor": [{"a": {"$regex": "e"}}]}, [2, 3, 4, 5, 6, 7, 8]),
}


class Filters(Topic):
    """Which documents each filter finds."""

    @parametrize({**FILTERS, **NEWER_FILTERS})
    def test_filters(self, storage: Storage, row: tuple[Sequence[Document], Document, Sequence[int]]) -> None:
        documents, filter, expected = row
        check_filter(filter)
        storage.insert("things", add_ids(documents))
        assert collect_ids(list(storage.find("things", filter, [], sort=[("_id", 1)]))) == expected
        assert storage.count("things", filter) == len(expected)

    @parametrize(NEWER_FILTERS)
    def test_writes_select_as_reads_do(
        self, storage: Storage, row: tuple[Sequence[Document], Document, Sequence[int]]
    ) -> None:
        documents, filter, expected = row
        storage.insert("things", add_ids(documents))
        first = storage.update_one("things", filter, {"$set": {"seen": 0}}, [])
        assert first in [{"_id": number} for number in expected] + [None] * (not expected)
        assert storage.update_many("things", filter, {"$set": {"seen": 1}}) == len(expected)
        assert collect_ids(list(storage.find("things", {"seen": 1}, [], sort=[("_id", 1)]))) == expected
        touched = storage.transaction(lambda: storage.touch("things", filter, [], {"$set": {"seen": 2}}, lock=LOCK))
        assert (touched is None, storage.count("things", {"seen": 2})) == (not expected, min(1, len(expected)))
        assert storage.delete_many("things", filter) == len(expected)
        assert storage.count("things", {}) == len(documents) - len(expected)
