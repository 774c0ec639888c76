"""The tests that every storage adapter must pass; run them on your own.

Needs nothing but pytest::

    import pytest
    from gatewayfw.testing.storage_suite import StorageContract

    class TestMyStorage(StorageContract):
        @pytest.fixture
        def storage(self):
            with my_empty_database() as database:
                yield MyStorage(database)

What they hold an adapter to is written in `gatewayfw.storage.base` and `gatewayfw.storage.subset`.
An adapter without transactions fails some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from threading import Event
from typing import Any, TypeVar

import pytest
from bson import ObjectId, encode

from gatewayfw.errors import DuplicateKey, GatewayError, StorageError, Timeout, TooLarge, ValidationError
from gatewayfw.storage.base import Document, Filter, Index, Marked, Scope, Storage, Update
from gatewayfw.storage.subset import check_filter, check_update

T = TypeVar("T")
_DAY = datetime(2024, 2, 29, 12, 30, 15, 123_000)
_ID = ObjectId("65a000000000000000000001")
_LATER_ID = ObjectId("65a000000000000000000002")
#: A deadline that no test reaches unless it waits for it.
_LONG = 20.0

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
    "id": ([{"a": _ID}, {"a": _LATER_ID}, {"a": str(_ID)}], {"a": _ID}, [1]),
    "date": ([{"a": _DAY}, {"a": _DAY + timedelta(milliseconds=1)}], {"a": _DAY}, [1]),
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
    "dates only": ([{"a": _DAY}, {"a": 1}, {"a": "2030"}, {}], {"a": {"$gt": _DAY - timedelta(1)}}, [1]),
    "ids only": ([{"a": _ID}, {"a": _LATER_ID}, {"a": "x"}, {"a": 1}], {"a": {"$gt": _ID}}, [2]),
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
        [{"a": _DAY}, {"a": True}, {"a": _ID}, {"a": {}}, {"a": "x"}, {"a": 1.5}, {"a": 1}, {}],
        [("a", 1)],
        [8, 7, 6, 5, 4, 3, 2, 1],
    ),
}

#: name: (the document but its id; the update; the document afterwards)
UPDATES: Mapping[str, tuple[Document, Document, Document]] = {
    "$set": ({"a": 1, "b": 2}, {"$set": {"a": 5}}, {"a": 5, "b": 2}),
    "$set adds": ({"a": 1}, {"$set": {"b": 2}}, {"a": 1, "b": 2}),
    "$set null": ({"a": 1}, {"$set": {"a": None}}, {"a": None}),
    "$set replaces": ({"a": {"b": 1}}, {"$set": {"a": {"c": [1]}}}, {"a": {"c": [1]}}),
    "$set dotted": ({"a": {"b": 1, "c": 2}}, {"$set": {"a.b": 5}}, {"a": {"b": 5, "c": 2}}),
    "$set makes objects": ({}, {"$set": {"a.b.c": 5}}, {"a": {"b": {"c": 5}}}),
    "$set in a list": ({"a": [1, 2]}, {"$set": {"a.1": 5}}, {"a": [1, 5]}),
    "$set nothing": ({"a": 1}, {"$set": {}}, {"a": 1}),
    "$unset": ({"a": 1, "b": 2}, {"$unset": {"a": ""}}, {"b": 2}),
    "$unset dotted": ({"a": {"b": 1, "c": 2}}, {"$unset": {"a.b": ""}}, {"a": {"c": 2}}),
    "$unset the last": ({"a": {"b": 1}}, {"$unset": {"a.b": ""}}, {"a": {}}),
    "$unset missing": ({"a": 1}, {"$unset": {"b": "", "c.d": ""}}, {"a": 1}),
    "$inc": ({"a": 1}, {"$inc": {"a": 2}}, {"a": 3}),
    "$inc missing": ({}, {"$inc": {"a": 2, "b.c": -1}}, {"a": 2, "b": {"c": -1}}),
    "$inc a float": ({"a": 1}, {"$inc": {"a": 0.5}}, {"a": 1.5}),
    "$inc beyond 32 bits": ({"a": 2**31 - 1}, {"$inc": {"a": 1}}, {"a": 2**31}),
    "$push": ({"a": [1]}, {"$push": {"a": 1}}, {"a": [1, 1]}),
    "$push missing": ({}, {"$push": {"a": 1, "b.c": {"d": 2}}}, {"a": [1], "b": {"c": [{"d": 2}]}}),
    "$push a list": ({"a": [1]}, {"$push": {"a": [2]}}, {"a": [1, [2]]}),
    "$push $each": ({"a": [1]}, {"$push": {"a": {"$each": [2, 3]}}}, {"a": [1, 2, 3]}),
    "$push $each missing": ({}, {"$push": {"a": {"$each": [2, 3]}}}, {"a": [2, 3]}),
    "$push $each nothing": ({"a": [1]}, {"$push": {"a": {"$each": []}}}, {"a": [1]}),
    "$pull": ({"a": [1, 2, 1]}, {"$pull": {"a": 1}}, {"a": [2]}),
    "$pull missing": ({"b": 1}, {"$pull": {"a": 1}}, {"b": 1}),
    "$pull dotted": ({"a": {"b": [1, 2]}}, {"$pull": {"a.b": 1}}, {"a": {"b": [2]}}),
    "$pull $in": ({"a": [1, 2, 3]}, {"$pull": {"a": {"$in": [1, 3]}}}, {"a": [2]}),
    "$pull compares": ({"a": [1, 2, 3]}, {"$pull": {"a": {"$gt": 1, "$ne": 3}}}, {"a": [1, 3]}),
    "$pull by field": ({"a": [{"b": 1, "c": 2}, {"b": 2}]}, {"$pull": {"a": {"b": 1}}}, {"a": [{"b": 2}]}),
    "$pull by ids": ({"a": [{"_id": 1}, {"_id": 2}]}, {"$pull": {"a": {"_id": {"$in": [1, 9]}}}}, {"a": [{"_id": 2}]}),
    "$pull by two fields": (
        {"a": [{"b": 1, "c": 2}, {"b": 1, "c": 3}]},
        {"$pull": {"a": {"b": 1, "c": 3}}},
        {"a": [{"b": 1, "c": 2}]},
    ),
    "$addToSet": ({"a": [1]}, {"$addToSet": {"a": 2}}, {"a": [1, 2]}),
    "$addToSet present": ({"a": [1, {"b": 1}]}, {"$addToSet": {"a": {"b": 1}}}, {"a": [1, {"b": 1}]}),
    "$addToSet missing": ({}, {"$addToSet": {"a": 1}}, {"a": [1]}),
    "$addToSet $each": ({"a": [1]}, {"$addToSet": {"a": {"$each": [1, 2, 2]}}}, {"a": [1, 2]}),
    "$addToSet $each missing": ({}, {"$addToSet": {"a": {"$each": [1, 1]}}}, {"a": [1]}),
    "all operators": (
        {"a": 1, "b": 1, "c": 1, "d": [], "e": [1], "f": [1]},
        {
            "$set": {"a": 2},
            "$unset": {"b": ""},
            "$inc": {"c": 1},
            "$push": {"d": 1},
            "$pull": {"e": 1},
            "$addToSet": {"f": 2},
        },
        {"a": 2, "c": 2, "d": [1], "e": [], "f": [1, 2]},
    ),
}

#: name: (the document but its id; an update that it does not fit)
MISFITS: Mapping[str, tuple[Document, Document]] = {
    "$inc of a string": ({"a": "x"}, {"$inc": {"a": 1}}),
    "$inc of null": ({"a": None}, {"$inc": {"a": 1}}),
    "$push to a scalar": ({"a": 1}, {"$push": {"a": 1}}),
    "$push to null": ({"a": None}, {"$push": {"a": 1}}),
    "$addToSet to a scalar": ({"a": 1}, {"$addToSet": {"a": 1}}),
    "$set of a name in a list": ({"a": [1]}, {"$set": {"a.b": 1}}),
    "another id": ({"a": 1}, {"$set": {"_id": 2}}),
}

#: name: (a value; how it is read again)
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
    "id": (_ID, _ID),
    "date": (_DAY, _DAY),
    "date before 1970": (datetime(1815, 12, 10), datetime(1815, 12, 10)),
    "microseconds are cut off": (_DAY.replace(microsecond=123_999), _DAY),
    "dates become UTC": (_DAY.replace(tzinfo=timezone(timedelta(hours=2))), _DAY - timedelta(hours=2)),
    "bytes": (b"\0\xff", b"\0\xff"),
    "empty": ({"a": {}, "b": [], "c": ""}, {"a": {}, "b": [], "c": ""}),
    "nested": ({"a": [{"b": [[1], {}]}]}, {"a": [{"b": [[1], {}]}]}),
}

#: name: (the unique indexes: fields and further options; the documents; one that is refused; the fields it names)
UNIQUE: Mapping[str, tuple[Sequence[tuple[Sequence[str], Document]], Sequence[Document], Document, tuple[str, ...]]] = {
    "one of two": ([("a", {}), (["b.c"], {})], [{"a": 1, "b": {"c": 1}}], {"a": 2, "b": {"c": 1}}, ("b.c",)),
    "on two fields": ([("ab", {})], [{"a": 1, "b": 2}, {"a": 2, "b": 1}], {"a": 1, "b": 2}, ("a", "b")),
    "null": ([("a", {}), ("b", {})], [{"a": None, "b": 1}], {"a": None, "b": 2}, ("a",)),
    "a list": ([("a", {})], [{"a": [1, 2]}], {"a": [1, 2]}, ("a",)),
    "sparse": ([("d", {"sparse": True}), ("a", {})], [{"a": 1}], {"a": 1}, ("a",)),
    "partial": (
        [("b", {"partialFilterExpression": {"a": {"$gt": 1}}}), ("a", {})],
        [{"a": 1, "b": 1}, {"a": 2, "b": 1}],
        {"a": 1, "b": 1},
        ("a",),
    ),
}

_Row = TypeVar("_Row")


def _each(table: Mapping[str, _Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", table.values(), ids=table)


def _numbered(documents: Sequence[Document]) -> list[Document]:
    return [{"_id": number, **document} for number, document in enumerate(documents, start=1)]


def _all(storage: Storage, collection: str = "things") -> list[Document]:
    """Return what a collection holds, ordered by id, without the counter of locks."""
    return [_unlocked(document) for document in storage.find(collection, {}, sort=[("_id", 1)])]


def _unlocked(document: Document) -> Document:
    hidden = {key: value for key, value in document.pop("_gw", {}).items() if key != "rev"}
    return {**document, "_gw": hidden} if hidden else document


def _ids(documents: Sequence[Document]) -> list[Any]:
    return [document["_id"] for document in documents]


def _at_once(fn: Callable[[], T]) -> T:
    """Run something outside of transactions."""
    return fn()


def _elsewhere(fn: Callable[[], T]) -> T:
    """Run in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fn).result()


def _expire(scope: Scope) -> None:
    while scope.remaining():
        Event().wait(scope.remaining())


class StorageContract:
    """Subclass it in your tests and override the fixture `storage`."""

    @pytest.fixture
    def storage(self) -> Storage:
        """An empty storage that has transactions; one of its own for each test."""
        raise NotImplementedError("override the fixture `storage`: return an empty storage")

    # -- insert

    def test_inserted_documents_are_found(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}, {"_id": "x", "a": {"b": [2]}}])
        storage.insert("others", [{"_id": _ID}])
        assert list(storage.find("things", {}, sort=[("_id", 1)])) == [
            {"_id": 1, "a": 1},
            {"_id": "x", "a": {"b": [2]}},
        ]
        assert list(storage.find("others", {})) == [{"_id": _ID}]

    @pytest.mark.parametrize("count", [1, 40], ids=["one", "many"])
    def test_large_documents_are_found_as_they_were_stored(self, storage: Storage, count: int) -> None:
        nested = [{"a": {"b": [_ID, _DAY, 2**40, 1.5, None, {"c": b"x"}]}} for _ in range(4_000)]
        stored = _numbered([{"nested": nested, "day": _DAY}, *[{"text": "x" * 20_000} for _ in range(count)]])
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
        assert _all(storage) == []

    def test_a_taken_id_is_refused(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}])
        with pytest.raises(DuplicateKey) as caught:
            storage.insert("things", [{"_id": 1, "a": 2}])
        assert (caught.value.fields, _all(storage)) == (("_id",), [{"_id": 1, "a": 1}])

    @pytest.mark.parametrize("taken", [1, 2], ids=["stored", "given twice"])
    def test_of_several_documents_all_are_inserted_or_none(self, storage: Storage, taken: int) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}])
        with pytest.raises(DuplicateKey) as caught:
            storage.insert("things", [{"_id": 2}, {"_id": taken}, {"_id": 3}])
        assert (caught.value.fields, _all(storage)) == (("_id",), [{"_id": 1, "a": 1}])

    def test_a_unique_index_refuses_an_insert(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", [{"_id": 1, "a": "x"}, {"_id": 2, "a": "y"}])
        with pytest.raises(DuplicateKey) as caught:
            storage.insert("things", [{"_id": 3, "a": "z"}, {"_id": 4, "a": "x"}])
        assert (caught.value.fields, _all(storage)) == (("a",), [{"_id": 1, "a": "x"}, {"_id": 2, "a": "y"}])

    @_each(UNIQUE)
    def test_a_refused_write_names_the_fields_of_the_index(self, storage: Storage, row: tuple[Any, ...]) -> None:
        indexes, stored, added, expected = row
        ensured = [Index(tuple((name, 1) for name in names), {**rest, "unique": True}) for names, rest in indexes]
        storage.ensure("things", ensured, 10)
        storage.insert("things", _numbered(stored))
        changed = len(stored) + 1
        for write in (
            lambda: storage.insert("things", [{"_id": changed, **added}]),
            lambda: storage.update_one("things", {"_id": changed}, {"$set": added}, None),
            lambda: storage.update_many("things", {"_id": changed}, {"$set": added}),
            lambda: storage.update_each("things", [(changed, {"$set": added})]),
            lambda: storage.touch("things", {"_id": changed}, None, {"$set": added}),
            lambda: storage.touch_many("things", [changed], [({"_id": changed}, {"$set": added})]),
        ):
            for run in (_at_once, storage.transaction):
                with pytest.raises(DuplicateKey) as caught:
                    run(write)
                assert caught.value.fields == expected
            if storage.count("things", {"_id": changed}) == 0:
                storage.insert("things", [{"_id": changed, "a": "free", "b": {"c": "free"}}])

    def test_a_document_and_what_is_stored_are_apart(self, storage: Storage) -> None:
        document: Document = {"_id": 1, "a": {"b": [1]}}
        storage.insert("things", [document])
        document["a"]["b"].append(2)
        next(storage.find("things", {}))["a"]["b"].append(3)
        assert _all(storage) == [{"_id": 1, "a": {"b": [1]}}]

    @_each(VALUES)
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
        assert _all(storage) == []

    # -- find and count

    def test_what_is_found_to_be_stored_is_stored_as_it_was(self, storage: Storage) -> None:
        """Objects may be left unread; sizes stay the same.

        So does what is stored elsewhere.
        """
        nested = {"z": {"y": [1, {"x": None}], "b": "text"}, "list": [{"a": 1.5}, [True, 2**40]], "d": _DAY}
        storage.insert("things", [{"_id": 1, "n": 2, **nested}, {"_id": 2, "n": 1, **nested}, {"_id": 3}])
        fields = ["z", "list", "d"]
        found = list(storage.find_stored("things", {"n": {"$gt": 0}}, fields, sort=[("n", 1)], limit=5))
        assert [one["_id"] for one in found] == [2, 1]
        assert [len(encode(one)) for one in found] == [len(encode({"_id": 1, **nested}))] * 2
        storage.update_each("things", [(3, {"$set": {name: found[0][name] for name in fields}})])
        assert next(storage.find("things", {"_id": 3})) == {"_id": 3, **nested}
        assert list(storage.find_stored("things", {"n": 9})) == []

    @_each(FILTERS)
    def test_filters(self, storage: Storage, row: tuple[Sequence[Document], Document, Sequence[int]]) -> None:
        documents, filter, expected = row
        check_filter(filter)
        storage.insert("things", _numbered(documents))
        assert _ids(list(storage.find("things", filter, [], sort=[("_id", 1)]))) == expected
        assert storage.count("things", filter) == len(expected)

    def test_nothing_is_in_a_collection_that_does_not_exist(self, storage: Storage) -> None:
        assert (list(storage.find("nowhere", {})), storage.count("nowhere", {})) == ([], 0)

    @_each(FIELDS)
    def test_fields(self, storage: Storage, row: tuple[Document, Sequence[str] | None, Document]) -> None:
        document, fields, expected = row
        storage.insert("things", [{"_id": 1, **document}])
        assert list(storage.find("things", {}, fields)) == [{"_id": 1, **expected}]
        assert storage.update_one("things", {}, {"$set": {"new": 1}}, fields) in (
            {"_id": 1, **expected},
            {"_id": 1, **expected, "new": 1} if fields is None else None,
        )

    @_each(SORTS)
    def test_sorting(
        self, storage: Storage, row: tuple[Sequence[Document], Sequence[tuple[str, int]], Sequence[int]]
    ) -> None:
        documents, sort, expected = row
        storage.insert("things", _numbered(documents))
        assert _ids(list(storage.find("things", {}, sort=sort))) == expected

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
        storage.insert("things", _numbered([{}] * 4))
        assert _ids(list(storage.find("things", {}, sort=[("_id", 1)], skip=skip, limit=limit))) == expected

    def test_a_long_result_is_read_to_its_end(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": "x" * 100}] * 300))
        assert _ids(_all(storage)) == list(range(1, 301))

    def test_a_result_need_not_be_read_to_its_end(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{}] * 300))
        found = storage.find("things", {}, sort=[("_id", 1)])
        assert next(found) == {"_id": 1}
        del found
        assert storage.count("things", {}) == 300

    # -- update

    @pytest.mark.parametrize("step", [1, -1])
    def test_an_increment_beyond_64_bits_is_refused_or_stored_as_it_is(self, storage: Storage, step: int) -> None:
        end = 2**63 - 1 if step > 0 else -(2**63)
        storage.insert("things", [{"_id": 1, "a": {"b": end}, "c": 1}])
        text = ["The number would leave 64 bits."]
        errors: Mapping[str, Any] = {}
        try:
            storage.update_one("things", {}, {"$inc": {"a.b": step, "c": step}}, None)
        except ValidationError as error:
            errors = error.errors
        by = 0 if errors else step
        assert errors in ({}, {"update.a.b": text, "update.c": text})
        assert _all(storage) == [{"_id": 1, "a": {"b": end + by}, "c": 1 + by}]

    @_each(UPDATES)
    def test_updates(self, storage: Storage, row: tuple[Document, Document, Document]) -> None:
        document, update, expected = row
        check_update(update)
        storage.insert("things", [{"_id": 1, **document}, {"_id": 2, **document}, {"_id": 3, **document}, {"_id": 4}])
        assert storage.update_one("things", {"_id": 1}, update, None) == {"_id": 1, **expected}
        assert storage.update_many("things", {"_id": 2}, update) == 1
        storage.update_each("things", [(3, update)])
        assert _all(storage) == [*({"_id": number, **expected} for number in (1, 2, 3)), {"_id": 4}]

    @_each(MISFITS)
    def test_an_update_that_does_not_fit_is_refused(self, storage: Storage, row: tuple[Document, Document]) -> None:
        document, update = row
        storage.insert("things", [{"_id": 1, **document}])
        for write in (
            lambda: storage.update_one("things", {}, update, None),
            lambda: storage.update_many("things", {}, update),
            lambda: storage.update_each("things", [(1, update)]),
        ):
            with pytest.raises(StorageError):
                write()
        assert _all(storage) == [{"_id": 1, **document}]

    def test_update_one_changes_one_and_returns_the_state_afterwards(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": 1, "b": 1}, {"a": 1, "b": 1}]))
        after = storage.update_one("things", {"a": 1}, {"$set": {"a": 2}}, ["a"])
        assert after in ({"_id": 1, "a": 2}, {"_id": 2, "a": 2})
        assert storage.count("things", {"a": 2}) == 1

    def test_update_one_of_nothing_returns_none_and_adds_nothing(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        assert storage.update_one("things", {"_id": 2}, {"$set": {"a": 1}}, None) is None
        assert _all(storage) == [{"_id": 1}]

    def test_update_many_changes_all_that_match_and_counts_them(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": 1}, {"a": 2}, {"a": 2, "b": 1}]))
        matched = storage.update_many("things", {"a": 2}, {"$set": {"b": 1}})
        assert (matched, _all(storage)) == (2, _numbered([{"a": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 1}]))

    def test_update_many_passes_over_documents_of_more_bytes(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": "x" * 100}, {"_id": 2, "a": "x" * 200}, {"_id": 3, "a": "x" * 300}])
        most = len(encode({"_id": 2, "a": "x" * 200}))
        wanted = {"_id": {"$in": [2, 3]}}
        matched = [
            storage.update_many("things", wanted, {"$set": {"b": 1}}, most_bytes=most + more) for more in (-1, 0)
        ]
        assert (matched, [one["_id"] for one in _all(storage) if "b" in one]) == ([0, 1], [2])

    def test_update_many_of_nothing_counts_none(self, storage: Storage) -> None:
        assert storage.update_many("things", {"a": 1}, {"$set": {"b": 1}}) == 0
        assert _all(storage) == []

    @pytest.mark.parametrize("first", ["users.$", "_gw.at.x"])
    def test_a_positional_path_stands_with_other_keys(self, storage: Storage, first: str) -> None:
        storage.insert(
            "things", _numbered([{"users": [{"_id": 1, "n": "a"}, {"_id": 2, "n": "b"}]}, {"users": [{"_id": 1}]}])
        )
        new = {"_id": 2, "n": "z"}
        values = {"users.$": new, "_gw.at.x": 1, "other": 3}
        update: Document = {"$set": {first: values.pop(first), **values}, "$inc": {"n": 1}, "$unset": {"_gw.at.y": ""}}
        assert storage.update_many("things", {"_id": {"$in": [1, 2]}, "users._id": 2}, update) == 1
        assert _all(storage) == [
            {"_id": 1, "users": [{"_id": 1, "n": "a"}, new], "_gw": {"at": {"x": 1}}, "other": 3, "n": 1},
            {"_id": 2, "users": [{"_id": 1}]},
        ]

    def test_a_positional_path_may_go_below_the_element(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"users": [{"_id": 1}, {"_id": 2}]}] * 2))
        assert storage.update_many("things", {"users._id": 2}, {"$set": {"users.$.n": "z"}}) == 2
        assert _all(storage) == _numbered([{"users": [{"_id": 1}, {"_id": 2, "n": "z"}]}] * 2)

    def test_update_each_passes_over_missing_documents(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{}, {}]))
        storage.update_each("things", [(2, {"$set": {"a": 2}}), (9, {"$set": {"a": 9}}), (1, {"$inc": {"a": 1}})])
        assert _all(storage) == [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}]

    def test_update_each_of_nothing_does_nothing(self, storage: Storage) -> None:
        storage.update_each("things", iter(()))
        assert _all(storage) == []

    def test_a_unique_index_refuses_updates(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", _numbered([{"a": 1}, {"a": 2}]))
        for write in (
            lambda: storage.update_one("things", {"_id": 2}, {"$set": {"a": 1}}, None),
            lambda: storage.update_many("things", {"_id": 2}, {"$set": {"a": 1}}),
            lambda: storage.update_each("things", [(2, {"$set": {"a": 1}})]),
        ):
            with pytest.raises(DuplicateKey) as caught:
                write()
            assert caught.value.fields == ("a",)
        assert _all(storage) == _numbered([{"a": 1}, {"a": 2}])

    def test_several_documents_that_take_one_value_are_refused(self, storage: Storage) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", _numbered([{"a": 1}, {"a": 2}]))
        with pytest.raises(DuplicateKey) as caught:
            storage.transaction(lambda: storage.update_many("things", {}, {"$set": {"a": 3}}))
        assert (caught.value.fields, _all(storage)) == (("a",), _numbered([{"a": 1}, {"a": 2}]))

    @pytest.mark.parametrize("together", [False, True], ids=["alone", "in a transaction"])
    def test_a_document_that_would_be_too_large_is_refused(self, storage: Storage, together: bool) -> None:
        """Each write is refused by itself; its transaction undoes what went before."""
        half = "x" * (storage.most_bytes // 2)
        storage.insert("things", [{"_id": 1, "a": half}])
        run = storage.transaction if together else _at_once
        writes: list[Callable[[], object]] = [
            lambda: storage.insert("things", [{"_id": 2, "a": half * 2}]),
            lambda: storage.update_one("things", {"_id": 1}, {"$set": {"b": half}}, []),
            lambda: storage.update_many("things", {"_id": 1}, {"$push": {"b": half}}),
            lambda: storage.update_each("things", [(1, {"$set": {"b.c": half}})]),
            lambda: storage.touch("things", {"_id": 1}, [], {"$set": {"b": half}}),
        ]
        for write in writes:
            with pytest.raises(TooLarge) as caught:
                run(write)
            assert caught.value.message == "the document would be too large"
        assert [(one["_id"], sorted(one)) for one in _all(storage)] == [(1, ["_id", "a"])]

    # -- delete

    def test_delete_many_deletes_what_matches_and_counts_it(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": 1}, {"a": 2}, {"a": 1}]))
        assert (storage.delete_many("things", {"a": 1}), _all(storage)) == (2, [{"_id": 2, "a": 2}])
        assert (storage.delete_many("things", {"a": 1}), storage.delete_many("nowhere", {})) == (0, 0)

    # -- touch

    def test_touch_reads_a_document(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}]))
        assert storage.touch("things", {"a.b": 1}, ["a.b"]) == {"_id": 1, "a": {"b": 1}}
        whole = storage.transaction(lambda: storage.touch("things", {"_id": 2}, None))
        assert _unlocked(whole or {}) == {"_id": 2, "a": {"b": 3}}
        assert _all(storage) == _numbered([{"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}])

    def test_touch_of_nothing_is_none(self, storage: Storage) -> None:
        assert storage.touch("things", {"_id": 1}, None) is None
        assert _all(storage) == []

    def test_touch_many_changes_nothing_that_shows(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": 1}, {"a": 2}]))
        storage.touch_many("things", [])
        storage.touch_many("things", [2, 9, 1])
        assert _all(storage) == _numbered([{"a": 1}, {"a": 2}])

    @pytest.mark.parametrize("together", [False, True], ids=["alone", "in a transaction"])
    def test_touch_changes_what_it_returns(self, storage: Storage, together: bool) -> None:
        storage.insert("things", _numbered([{"a": 1, "list": [1]}, {"a": 2}]))
        run = storage.transaction if together else _at_once
        update: Update = {"$set": {"b.c": 5}, "$push": {"list": 2}, "$unset": {"a": ""}}
        assert run(lambda: storage.touch("things", {"a": 1}, ["b", "list"], update)) == {
            "_id": 1,
            "b": {"c": 5},
            "list": [1, 2],
        }
        assert run(lambda: storage.touch("things", {"a": 1}, None, update)) is None
        assert _all(storage) == [{"_id": 1, "b": {"c": 5}, "list": [1, 2]}, {"_id": 2, "a": 2}]

    @pytest.mark.parametrize("together", [False, True], ids=["alone", "in a transaction"])
    def test_touch_many_does_changes_in_order(self, storage: Storage, together: bool) -> None:
        storage.insert("things", _numbered([{"a": 1, "list": [{"b": 1}, {"b": 2}]}, {"a": 1}, {"a": 3}]))
        run = storage.transaction if together else _at_once
        changes: list[tuple[Filter, Update]] = [
            ({"_id": 1, "list": {"$elemMatch": {"b": 2}}}, {"$set": {"list.$": {"b": 5}}}),
            ({"a": 1}, {"$inc": {"a": 1}}),
            ({"a": 2}, {"$set": {"c": True}}),
        ]
        run(lambda: storage.touch_many("things", [3, 9], changes))
        run(lambda: storage.touch_many("things", [], changes[1:2]))
        assert _all(storage) == _numbered(
            [{"a": 2, "list": [{"b": 1}, {"b": 5}], "c": True}, {"a": 2, "c": True}, {"a": 3}]
        )

    def test_touch_keeps_a_list_sorted_and_short(self, storage: Storage) -> None:
        """Equal and missing values are ordered by ``_id``; a failure leaves nothing.

        A storage that sorts no pushes is given the whole list instead, as the core does.
        """
        storage.insert("things", [{"_id": 1, "list": [{"_id": 5}, {"_id": 3, "a": 1}]}])
        kept = [{"_id": 2}, {"_id": 5}, {"_id": 3, "a": 1}]
        sorting = {"$each": [{"_id": 4, "a": 1}, {"_id": 2}], "$sort": {"a": 1, "_id": 1}, "$slice": 3}
        update: Update = {"$push": {"list": sorting}} if storage.sorts_pushes() else {"$set": {"list": kept}}

        def push() -> Document | None:
            return storage.touch("things", {"_id": 1}, ["list"], update)

        def fail() -> None:
            push()
            raise KeyError

        with pytest.raises(KeyError):
            storage.transaction(fail)
        assert storage.transaction(push) == {"_id": 1, "list": kept}

    def test_touches_count_the_copies_where_they_say_so(self, storage: Storage) -> None:
        """The counter goes back when the transaction fails."""
        storage.insert("things", [{"_id": 1}, {"_id": 2}])

        def touch() -> None:
            storage.touch("things", {"_id": 1}, ["a"], copies=3)
            storage.touch("things", {"_id": 1}, None)
            storage.touch_many("things", [1, 2], [({"_id": 2}, {"$set": {"a": 1}})], copies=2)

        def fail() -> None:
            touch()
            raise KeyError

        with pytest.raises(KeyError):
            storage.transaction(fail)
        storage.transaction(touch)
        found = [document.get("_gw", {}).get("rev") for document in storage.find("things", {}, sort=[("_id", 1)])]
        assert not storage.counts_copies() or found == [6, 2]

    @pytest.mark.parametrize("many", [False, True], ids=["touch", "touch_many"])
    def test_a_document_with_a_mark_is_not_touched(self, storage: Storage, many: bool) -> None:
        """Nor is anything done with it. Without transactions nobody looks."""
        if not storage.has_transactions():
            return
        marked = {"_id": 2, "_gw": {"cut": {"users": 5}}}
        storage.insert("things", [{"_id": 1}, marked, {"_id": 3, "_gw": {"v": 1}}])

        def write(*ids: int) -> None:
            storage.insert("things", [{"_id": 9}])
            update = {"$set": {"a": 1}}
            if many:
                storage.touch_many("things", ids, [({"_id": ids[0]}, update)], unmarked="_gw.cut")
            else:
                for id_ in ids:
                    storage.touch("things", {"_id": id_}, None, update, unmarked="_gw.cut")

        with pytest.raises(Marked):
            storage.transaction(lambda: write(1, 2))
        assert _all(storage) == [{"_id": 1}, marked, {"_id": 3, "_gw": {"v": 1}}]
        storage.transaction(lambda: write(3, 1))
        storage.transaction(lambda: storage.touch("things", {"_id": 2}, None))
        storage.transaction(lambda: storage.touch_many("things", [2]))
        assert _all(storage)[1:3] == [marked, {"_id": 3, "a": 1, "_gw": {"v": 1}}]

    @pytest.mark.parametrize("many", [False, True], ids=["touch", "touch_many"])
    def test_a_unique_index_refuses_what_is_changed_with_a_touch(self, storage: Storage, many: bool) -> None:
        storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", _numbered([{"a": 1}, {"a": 2}]))

        def write() -> None:
            storage.insert("things", [{"_id": 3}])
            if many:
                storage.touch_many("things", [1], [({"_id": 2}, {"$set": {"a": 1}})])
            else:
                storage.touch("things", {"_id": 2}, None, {"$set": {"a": 1}})

        with pytest.raises(DuplicateKey):
            storage.transaction(write)
        assert _all(storage) == _numbered([{"a": 1}, {"a": 2}])

    @pytest.mark.parametrize("many", [False, True], ids=["touch", "touch_many"])
    def test_transactions_that_touch_first_do_not_lose_writes(self, storage: Storage, many: bool) -> None:
        """Each reads a value after the touch and writes what it makes of it elsewhere."""
        storage.insert("things", [{"_id": 1}])

        def copy_count() -> None:
            if many:
                storage.touch_many("things", [1])
            else:
                storage.touch("things", {"_id": 1}, [])
            storage.insert("others", [{"_id": storage.count("others", {})}])

        def work() -> None:
            for _ in range(5):
                storage.transaction(copy_count)

        storage.ensure("others", [], 10)
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work) for _ in range(4)]:
                done.result()
        assert _ids(_all(storage, "others")) == list(range(20))

    # -- transactions

    def test_a_storage_says_that_it_has_transactions(self, storage: Storage) -> None:
        assert storage.has_transactions() is True

    def test_a_transaction_commits_all_writes_and_returns_the_result(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{}, {}, {}]))
        assert storage.transaction(lambda: self._write_all(storage)) == "result"
        assert _all(storage) == [{"_id": 1, "a": 1}, {"_id": 2, "b": 1}, {"_id": 4}]
        assert _all(storage, "others") == [{"_id": 1}]

    @pytest.mark.parametrize("error", [RuntimeError, GatewayError, KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_any_exception_undoes_all_writes(self, storage: Storage, error: type[BaseException]) -> None:
        storage.insert("things", _numbered([{"a": 0, "c": [1]}, {}, {"a": 3}]))
        raised = error("mine")

        def fail() -> None:
            self._write_all(storage)
            raise raised

        with pytest.raises(error) as caught:
            storage.transaction(fail)
        assert caught.value is raised
        assert (_all(storage), _all(storage, "others")) == (_numbered([{"a": 0, "c": [1]}, {}, {"a": 3}]), [])

    @staticmethod
    def _write_all(storage: Storage) -> str:
        storage.touch("things", {"_id": 1}, None)
        storage.touch_many("things", [1, 2])
        storage.update_one("things", {"_id": 1}, {"$set": {"a": 1}}, None)
        storage.update_each("things", [(1, {"$unset": {"c": ""}}), (2, {"$inc": {"b": 1}})])
        storage.insert("things", [{"_id": 4}, {"_id": 5}])
        storage.update_many("things", {"_id": {"$gte": 4}}, {"$set": {"new": True}})
        storage.update_many("things", {}, {"$unset": {"new": ""}})
        storage.delete_many("things", {"_id": {"$in": [3, 5]}})
        storage.insert("others", [{"_id": 1}])
        return "result"

    def test_a_transaction_sees_its_own_writes(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": 1}]))

        def work() -> tuple[list[Document], int]:
            storage.update_many("things", {}, {"$set": {"a": 2}})
            storage.insert("things", [{"_id": 2, "a": 2}])
            return _all(storage), storage.count("things", {"a": 2})

        assert storage.transaction(work) == (_numbered([{"a": 2}, {"a": 2}]), 2)

    def test_nested_transactions_join(self, storage: Storage) -> None:
        def outer() -> str:
            storage.insert("things", [{"_id": 1}])
            result = storage.transaction(lambda: storage.insert("things", [{"_id": 2}]) or "inner")
            storage.insert("things", [{"_id": 3}])
            return result

        assert (storage.transaction(outer), _ids(_all(storage))) == ("inner", [1, 2, 3])

    def test_what_a_nested_transaction_did_is_undone_with_the_outer_one(self, storage: Storage) -> None:
        def outer() -> None:
            storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))
            raise RuntimeError

        with pytest.raises(RuntimeError):
            storage.transaction(outer)
        assert _all(storage) == []

    def test_a_nested_failure_dooms_the_outer_one_although_it_was_caught(self, storage: Storage) -> None:
        error = RuntimeError("inner")

        def inner() -> None:
            storage.insert("things", [{"_id": 2}])
            raise error

        def outer() -> None:
            storage.insert("things", [{"_id": 1}])
            with pytest.raises(RuntimeError):
                storage.transaction(inner)

        with pytest.raises(RuntimeError) as caught:
            storage.transaction(outer)
        assert (caught.value is error, _all(storage)) == (True, [])

    def test_a_failed_write_dooms_the_transaction_although_it_was_caught(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])

        def work() -> None:
            storage.insert("things", [{"_id": 2}])
            with pytest.raises(DuplicateKey):
                storage.insert("things", [{"_id": 1}])

        with pytest.raises(DuplicateKey):
            storage.transaction(work)
        assert _all(storage) == [{"_id": 1}]

    def test_a_failed_read_dooms_the_transaction_although_it_was_caught(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)

        def work() -> None:
            storage.insert("things", [{"_id": 1}])
            with storage.deadline(0), pytest.raises(Timeout):
                list(storage.find("things", {}))

        with pytest.raises(Timeout):
            storage.transaction(work)
        assert _all(storage) == []

    def test_every_later_call_in_a_doomed_transaction_raises_its_error(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        raised = []

        def work() -> None:
            for call in (
                lambda: storage.insert("things", [{"_id": 1}]),
                lambda: storage.insert("things", [{"_id": 2}]),
                lambda: list(storage.find("things", {})),
                lambda: storage.transaction(lambda: None),
            ):
                with pytest.raises(DuplicateKey) as caught:
                    call()
                raised.append(caught.value)

        with pytest.raises(DuplicateKey) as caught:
            storage.transaction(work)
        assert {id(error) for error in raised} == {id(caught.value)}
        assert _all(storage) == [{"_id": 1}]

    def test_after_a_failure_the_next_transaction_works(self, storage: Storage) -> None:
        def fail() -> None:
            storage.insert("things", [{"_id": 1}])
            storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))

        with pytest.raises(DuplicateKey):
            storage.transaction(fail)
        storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))
        storage.insert("things", [{"_id": 2}])
        assert _ids(_all(storage)) == [1, 2]

    def test_other_threads_see_all_of_a_transaction_or_nothing(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)
        with ThreadPoolExecutor(1) as pool:

            def work() -> list[Any]:
                storage.insert("things", [{"_id": 1}])
                seen = pool.submit(lambda: _ids(_all(storage)))
                # An adapter may let readers wait for the end of the transaction.
                Event().wait(0.1)
                storage.insert("things", [{"_id": 2}])
                return [seen]

            seen = storage.transaction(work)[0].result()
        assert seen in ([], [1, 2])
        assert _elsewhere(lambda: _ids(_all(storage))) == [1, 2]

    def test_other_threads_are_not_in_this_threads_transaction(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)
        with ThreadPoolExecutor(1) as pool:

            def work() -> Any:
                pool.submit(storage.insert, "things", [{"_id": 1}])
                raise RuntimeError

            with pytest.raises(RuntimeError):
                storage.transaction(work)
        assert _all(storage) == [{"_id": 1}]

    # -- deadlines

    def test_inside_a_deadline_everything_works(self, storage: Storage) -> None:
        with storage.deadline(_LONG) as scope:
            storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))
            assert _all(storage) == [{"_id": 1}]
            assert 0 < scope.remaining() <= _LONG

    def test_after_a_deadline_every_call_raises_timeout(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        calls: list[Callable[[], object]] = [
            lambda: storage.insert("things", [{"_id": 2}]),
            lambda: list(storage.find("things", {})),
            lambda: storage.count("things", {}),
            lambda: storage.touch("things", {}, None),
            lambda: storage.update_one("things", {}, {"$set": {"a": 1}}, None),
            lambda: storage.update_many("things", {}, {"$set": {"a": 1}}),
            lambda: storage.update_each("things", [(1, {"$set": {"a": 1}})]),
            lambda: storage.delete_many("things", {}),
            lambda: list(storage.aggregate("things", [])),
            lambda: storage.transaction(lambda: None),
        ]
        with storage.deadline(0):
            for call in calls:
                with pytest.raises(Timeout):
                    call()
        assert _all(storage) == [{"_id": 1}]

    def test_a_transaction_that_outlives_its_deadline_is_undone(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)

        def work(scope: Scope) -> None:
            storage.insert("things", [{"_id": 1}])
            _expire(scope)

        with storage.deadline(0.6) as scope, pytest.raises(Timeout):
            storage.transaction(lambda: work(scope))
        assert (scope.committed, _all(storage)) == (False, [])

    @pytest.mark.parametrize(("outer", "inner"), [(0, _LONG), (_LONG, 0)], ids=["outer", "inner"])
    def test_of_nested_deadlines_the_nearer_counts(self, storage: Storage, outer: float, inner: float) -> None:
        with storage.deadline(outer), storage.deadline(inner) as scope:
            assert scope.remaining() == 0
            with pytest.raises(Timeout):
                storage.count("things", {})

    def test_after_a_nested_deadline_the_outer_one_counts_again(self, storage: Storage) -> None:
        with storage.deadline(_LONG):
            with storage.deadline(0), pytest.raises(Timeout):
                storage.count("things", {})
            assert storage.count("things", {}) == 0

    def test_a_deadline_is_for_its_thread(self, storage: Storage) -> None:
        with storage.deadline(0):
            assert _elsewhere(lambda: storage.count("things", {})) == 0

    def test_a_scope_knows_what_committed_inside(self, storage: Storage) -> None:
        with storage.deadline(_LONG) as outer:
            with storage.deadline(_LONG) as first:
                storage.insert("things", [{"_id": 1}])
            with storage.deadline(_LONG) as second:
                storage.transaction(lambda: storage.update_many("things", {}, {"$set": {"a": 1}}))
            with storage.deadline(_LONG) as third:
                storage.count("things", {})
        assert [scope.committed for scope in (outer, first, second, third)] == [True, True, True, False]

    def test_what_was_undone_is_not_committed(self, storage: Storage) -> None:
        def work() -> None:
            storage.insert("things", [{"_id": 1}])
            storage.transaction(lambda: storage.insert("things", [{"_id": 2}]))
            raise RuntimeError

        with storage.deadline(_LONG) as scope:
            with pytest.raises(RuntimeError):
                storage.transaction(work)
            with pytest.raises(StorageError):
                storage.insert("things", [{"_id": 3, "a": object()}])
        assert scope.committed is False

    # -- indexes

    def test_ensure_may_be_repeated(self, storage: Storage) -> None:
        indexes = [Index((("a", 1), ("_id", -1))), Index((("b", 1),), {"unique": True, "sparse": True})]
        assert [storage.ensure("things", indexes, 10) for _ in range(2)] == [[], []]
        storage.insert("things", _numbered([{"a": 1}, {"a": 1}, {"b": 1}]))
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
        storage.insert("things", _numbered([{"a": 1, "b": 1}, {"a": 1, "b": 2}]))
        unique = [Index(((field, 1),), {"unique": True}) for field in "ab"]
        (problem,) = storage.ensure("things", unique, 10)
        assert problem == "things: index {'a': 1} cannot be built: two documents share a value"
        with pytest.raises(DuplicateKey):
            storage.insert("things", [{"_id": 3, "b": 2}])

    def test_of_a_large_collection_only_unique_indexes_are_built(self, storage: Storage) -> None:
        storage.insert("things", _numbered([{"a": 1}, {"a": 2}, {"a": 3}]))
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
            _expire(scope)
            with pytest.raises(Timeout):
                storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
        storage.insert("things", _numbered([{"a": 1}, {"a": 1}]))

    # -- the rest

    def test_aggregate_matches_and_groups(self, storage: Storage) -> None:
        storage.insert(
            "things", _numbered([{"a": "x", "n": 1}, {"a": "y", "n": 2}, {"a": "x", "n": 3}, {"a": "z", "n": 4}])
        )
        pipeline: list[Document] = [
            {"$match": {"a": {"$ne": "z"}}},
            {"$group": {"_id": "$a", "sum": {"$sum": "$n"}}},
            {"$sort": {"_id": 1}},
        ]
        assert list(storage.aggregate("things", pipeline)) == [{"_id": "x", "sum": 4}, {"_id": "y", "sum": 2}]

    def test_closing_twice_is_no_error(self, storage: Storage) -> None:
        storage.close()
        storage.close()
