"""What writes make of documents, and what they refuse."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from bson import encode

from gatewayfw.errors import DuplicateKey, StorageError, TooLarge, ValidationError
from gatewayfw.storage.base import Storage
from gatewayfw.storage.subset import check_update
from gatewayfw.storage.terms import Document, Update
from gatewayfw.testing.storage_suite.topic import (
    DAY,
    ID,
    LOCK,
    TOGETHER,
    Topic,
    add_ids,
    parametrize,
    read_all,
    run_at_once,
)

_SECOND = timedelta(seconds=1)

#: name: (what is given; what comes back)
VALUES: Mapping[str, tuple[Any, Any]] = {
    "scalars": ([None, True, 1, 0.1, 2.0, "text", ID, DAY, b"\0\xff"],) * 2,
    "64 bits": ([2**63 - 1, -(2**63)],) * 2,
    "any characters": ("\0 \n \x7f é € \U0001f600 $a.b",) * 2,
    "date before 1970": (datetime(1815, 12, 10),) * 2,
    "microseconds are cut off": (DAY.replace(microsecond=123_999), DAY),
    "dates become UTC": (DAY.replace(tzinfo=timezone(timedelta(hours=2))), DAY - timedelta(hours=2)),
    "empty": ({"a": {}, "b": [], "c": ""},) * 2,
    "nested": ({"a": [{"b": [[1], {}]}]},) * 2,
}

#: name: (the document but its id; the update; the document afterwards)
UPDATES: Mapping[str, tuple[Document, Update, Document]] = {
    "$set": (
        {"a": 1, "b": 2, "c": {"d": 1}, "e": {"f": 1, "g": 2}, "h": [1, 2]},
        {"$set": {"a": 5, "b": None, "c": {"x": [1]}, "e.f": 5, "h.1": 5, "i": 1, "j.k.l": 5}},
        {"a": 5, "b": None, "c": {"x": [1]}, "e": {"f": 5, "g": 2}, "h": [1, 5], "i": 1, "j": {"k": {"l": 5}}},
    ),
    "$set nothing": ({"a": 1}, {"$set": {}}, {"a": 1}),
    "$unset": (
        {"a": 1, "b": {"c": 1, "d": 2}, "e": {"f": 1}},
        {"$unset": {"a": "", "b.c": "", "e.f": "", "g": "", "h.i": ""}},
        {"b": {"d": 2}, "e": {}},
    ),
    "$inc": (
        {"a": 1, "b": 1, "c": 2**31 - 1},
        {"$inc": {"a": 2, "b": 0.5, "c": 1, "d": 2, "e.f": -1}},
        {"a": 3, "b": 1.5, "c": 2**31, "d": 2, "e": {"f": -1}},
    ),
    "$mul": (
        {"a": 3, "b": 2**31, "c": 3, "d": 1.5, "e": [1, 2]},
        {"$mul": {"a": 2, "b": 2, "c": 0.5, "d": 2, "e.1": 5, "f": 2, "g.h": -1}},
        {"a": 6, "b": 2**32, "c": 1.5, "d": 3.0, "e": [1, 10], "f": 0, "g": {"h": 0}},
    ),
    "$min and $max": (
        {"a": 3, "b": {"c": 3}, "d": DAY, "e": DAY, "f": 3, "g": 3},
        {
            "$min": {"a": 2, "b.c": 4, "d": DAY - _SECOND, "h": 2},
            "$max": {"e": DAY - _SECOND, "f": 2, "g": 4, "i.j": 1},
        },
        {"a": 2, "b": {"c": 3}, "d": DAY - _SECOND, "e": DAY, "f": 3, "g": 4, "h": 2, "i": {"j": 1}},
    ),
    "$min and $max with null": (
        {"a": None, "b": None, "c": 1, "d": 1},
        {"$min": {"a": 1, "c": None}, "$max": {"b": 1, "d": None}},
        {"a": None, "b": 1, "c": None, "d": 1},
    ),
    "$pop": (
        {"a": [1, 2, 3], "b": {"c": [1, 2, 3]}, "d": [1], "e": []},
        {"$pop": {"a": 1, "b.c": -1, "d": -1, "e": 1, "f": 1, "g.h": 1}},
        {"a": [1, 2], "b": {"c": [2, 3]}, "d": [], "e": []},
    ),
    "$push": (
        {"a": [1], "b": [1]},
        {"$push": {"a": 1, "b": [2], "c": 1, "d.e": {"f": 2}}},
        {"a": [1, 1], "b": [1, [2]], "c": [1], "d": {"e": [{"f": 2}]}},
    ),
    "$each": (
        {"a": [1], "b": [1]},
        {"$push": {"a": {"$each": [2, 3]}, "b": {"$each": []}, "c": {"$each": [2, 3]}, "d": {"$each": []}}},
        {"a": [1, 2, 3], "b": [1], "c": [2, 3], "d": []},
    ),
    "$position": (
        {"a": [1, 2], "b": [1, 2], "c": [1, 2], "d": [1, 2, 3], "e": [1]},
        {
            "$push": {
                "a": {"$each": [8, 9], "$position": 0},
                "b": {"$each": [8], "$position": 1},
                "c": {"$each": [8], "$position": 7},
                "d": {"$each": [8, 9], "$position": -1},
                "e": {"$each": [8], "$position": -5},
                "f.g": {"$each": [8], "$position": -1},
            }
        },
        {"a": [8, 9, 1, 2], "b": [1, 8, 2], "c": [1, 2, 8], "d": [1, 2, 8, 9, 3], "e": [8, 1], "f": {"g": [8]}},
    ),
    "$slice": (
        {"a": [1, 2], "b": [1, 2], "c": [1, 2], "d": [1, 2], "e": [1, 2, 3]},
        {
            "$push": {
                "a": {"$each": [3, 4], "$slice": 3},
                "b": {"$each": [3, 4], "$slice": -3},
                "c": {"$each": [3], "$slice": 0},
                "d": {"$each": [3], "$slice": -9},
                "e": {"$each": [], "$slice": -2},
            }
        },
        {"a": [1, 2, 3], "b": [2, 3, 4], "c": [], "d": [1, 2, 3], "e": [2, 3]},
    ),
    "$sort": (
        {"a": [2, 9], "b": ["b", "a"], "c": [3, 1, 2], "d": [True, {"b": 1}, "x", None, 2]},
        {
            "$push": {
                "a": {"$each": [5, 1.5], "$sort": 1},
                "b": {"$each": ["B", "c"], "$sort": -1},
                "c": {"$each": [], "$sort": 1},
                "d": {"$each": [DAY, 1], "$sort": 1},
            }
        },
        {"a": [1.5, 2, 5, 9], "b": ["c", "b", "a", "B"], "c": [1, 2, 3], "d": [None, 1, 2, "x", {"b": 1}, True, DAY]},
    ),
    "$sort by a field": (
        {"a": [{"n": 2, "x": 1}, {"n": None}, {"x": 2}], "b": [{"o": {"n": 1}}]},
        {
            "$push": {
                "a": {"$each": [{"n": 1}, {"n": 2, "x": 2}], "$sort": {"n": -1}},
                "b": {"$each": [{"o": 5}, {"o": {"n": 0}}], "$sort": {"o.n": 1}},
            }
        },
        {
            "a": [{"n": 2, "x": 1}, {"n": 2, "x": 2}, {"n": 1}, {"n": None}, {"x": 2}],
            "b": [{"o": 5}, {"o": {"n": 0}}, {"o": {"n": 1}}],
        },
    ),
    "$position, $sort and $slice": (
        {"a": [{"n": 2, "x": 1}, {"n": 1, "x": 1}]},
        {"$push": {"a": {"$each": [{"n": 2, "x": 0}], "$position": 0, "$slice": 2, "$sort": {"n": -1}}}},
        {"a": [{"n": 2, "x": 0}, {"n": 2, "x": 1}]},
    ),
    "$pull": (
        {"a": [1, 2, 1], "b": {"c": [1, 2]}, "d": [1, 2, 3], "e": [1, 2, 3]},
        {"$pull": {"a": 1, "b.c": 1, "d": {"$in": [1, 3]}, "e": {"$gt": 1, "$ne": 3}, "f": 1}},
        {"a": [2], "b": {"c": [2]}, "d": [2], "e": [1, 3]},
    ),
    "$pull of objects": (
        {"a": [{"b": 1, "c": 2}, {"b": 2}], "d": [{"_id": 1}, {"_id": 2}], "e": [{"b": 1, "c": 2}, {"b": 1, "c": 3}]},
        {"$pull": {"a": {"b": 1}, "d": {"_id": {"$in": [1, 9]}}, "e": {"b": 1, "c": 3}}},
        {"a": [{"b": 2}], "d": [{"_id": 2}], "e": [{"b": 1, "c": 2}]},
    ),
    "$addToSet": (
        {"a": [1], "b": [1, {"b": 1}], "c": [1]},
        {"$addToSet": {"a": 2, "b": {"b": 1}, "c": {"$each": [1, 2, 2]}, "d": 1, "e": {"$each": [1, 1]}}},
        {"a": [1, 2], "b": [1, {"b": 1}], "c": [1, 2], "d": [1], "e": [1]},
    ),
}

#: What an operator does not change.
_UNCHANGED: Mapping[str, tuple[Any, ...]] = {
    **dict.fromkeys(("$inc", "$mul"), (None, "x", True)),
    **dict.fromkeys(("$push", "$addToSet", "$pull", "$pop"), (None, 1)),
}
#: name: (the document but its id; an update that it does not fit)
MISFITS: Mapping[str, tuple[Document, Update]] = {
    **{
        f"{operator} of {a!r}": ({"a": a}, {operator: {"a": 1}})
        for operator, values in _UNCHANGED.items()
        for a in values
    },
    **{
        f"{operator} below {a!r}": ({"o": {"a": a}}, {operator: {"o.a.b": 1}})
        for operator in ("$set", *_UNCHANGED, "$min")
        for a in (None, 1, [1])
    },
    "$push in order to null": ({"a": None}, {"$push": {"a": {"$each": [1], "$sort": 1, "$slice": 2}}}),
    "$inc far below null": ({"a": None, "b": 1}, {"$inc": {"a.b.c": 1, "b": 1}}),
    "$inc of one of two": ({"a": None, "b": 1}, {"$inc": {"b": 1, "a": 1}, "$set": {"c": 1}}),
}


def updates_of(storage: Storage, update: Update) -> Iterator[Callable[[], object]]:
    """Yield each way to update the document 1."""
    yield lambda: storage.update_one("things", {"_id": 1}, update, None)
    yield lambda: storage.update_many("things", {"_id": 1}, update)
    yield lambda: storage.update_each("things", [(1, update)])


class Writes(Topic):
    """What writes make of documents, and what they refuse."""

    def test_inserted_documents_are_found(self, storage: Storage) -> None:
        documents: list[Document] = [{"_id": 1, "a": {"z": 1, "b": {"y": 1, "x": 2}, "a": 3}}, {"_id": "x", "a": [2]}]
        storage.insert("things", [])
        storage.insert("things", documents)
        storage.insert("others", [{"_id": ID}])
        found = list(storage.find("things", {}, sort=[("_id", 1)]))
        assert (found, list(storage.find("others", {}))) == (documents, [{"_id": ID}])
        assert [*found[0]["a"], *found[0]["a"]["b"]] == ["z", "b", "a", "y", "x"]

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
        assert encode(found) == encode({"_id": 1, "a": expected, "b": expected})  # 1 is 1.0, but not stored as it is

    @pytest.mark.parametrize("value", [2**63, object(), {1}], ids=["beyond 64 bits", "object", "set"])
    def test_what_cannot_be_stored_is_refused(self, storage: Storage, value: Any) -> None:
        with pytest.raises(StorageError):
            storage.insert("things", [{"_id": 1, "a": value}])
        assert read_all(storage) == []

    @TOGETHER
    def test_a_document_that_would_be_too_large_is_refused(self, storage: Storage, together: bool) -> None:
        """Each write is refused by itself; its transaction undoes what went before."""
        half = "x" * (storage.most_bytes // 2)
        storage.insert("things", [{"_id": 1, "a": half}])
        run = storage.transaction if together else run_at_once
        for write in (
            lambda: storage.insert("things", [{"_id": 2, "a": half * 2}]),
            *updates_of(storage, {"$set": {"b.c": half}}),
            *updates_of(storage, {"$push": {"b": half}}),
            lambda: storage.touch("things", {"_id": 1}, [], {"$set": {"b": half}}, lock=LOCK),
        ):
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

    @pytest.mark.parametrize(
        ("operator", "operand", "end"),
        [("$inc", 1, 2**63 - 1), ("$inc", -1, -(2**63)), ("$mul", 2, 2**62), ("$mul", 3, -(2**62))],
    )
    def test_a_number_beyond_64_bits_is_refused_or_stored_as_it_is(
        self, storage: Storage, operator: str, operand: int, end: int
    ) -> None:
        storage.insert("things", [{"_id": 1, "a": {"b": end}, "c": 1}])
        update = {operator: {"a.b": operand}, "$set": {"c": 2}}
        errors: Mapping[str, Any] = {}
        after = end + operand if operator == "$inc" else end * operand
        try:
            storage.update_one("things", {}, update, None)
        except ValidationError as error:
            errors, after = error.errors, end
        assert errors in ({}, {"update.a.b": ["The number would leave 64 bits."]})
        assert read_all(storage) == [{"_id": 1, "a": {"b": after}, "c": 1 if errors else 2}]

    @parametrize(UPDATES)
    def test_updates(self, storage: Storage, row: tuple[Document, Update, Document]) -> None:
        document, update, expected = row
        check_update(update)
        storage.insert("things", [{"_id": 1, **document}, {"_id": 2, **document}, {"_id": 3, **document}, {"_id": 4}])
        assert storage.update_one("things", {"_id": 1}, update, None) == {"_id": 1, **expected}
        assert storage.update_many("things", {"_id": 2}, update) == 1
        storage.update_each("things", [(3, update)])
        assert read_all(storage) == [*({"_id": number, **expected} for number in (1, 2, 3)), {"_id": 4}]

    @parametrize(MISFITS)
    def test_an_update_that_does_not_fit_names_its_path(self, storage: Storage, row: tuple[Document, Update]) -> None:
        document, update = row
        storage.insert("things", [{"_id": 1, **document}])
        (path,) = (path for changes in update.values() for path in changes if path[0] in "ao")
        first, *others = updates_of(storage, update)
        with pytest.raises(ValidationError) as caught:
            first()
        assert caught.value.errors == {f"update.{path}": ["Does not fit the value that is there."]}
        for write in others:
            with pytest.raises((StorageError, ValidationError)):
                write()
        assert read_all(storage) == [{"_id": 1, **document}]

    def test_an_id_is_not_changed(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}])
        for write in updates_of(storage, {"$set": {"_id": 2}}):
            with pytest.raises(StorageError):
                write()
        assert read_all(storage) == [{"_id": 1, "a": 1}]

    def test_update_many_changes_each_document_that_matches(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1, "b": [1], "d": 2}, {"a": 2, "b": [1, 2], "e": [1]}, {}, {"c": 1}]))
        update: Update = {
            **{"$mul": {"a": 3}, "$pop": {"b": 1}, "$set": {"c": 1}, "$unset": {"d": ""}, "$push": {"e": 1}},
            **{"$addToSet": {"f": 1}, "$pull": {"g": 1}, "$min": {"h": 1}, "$max": {"i": 1}, "$inc": {"j": 1}},
        }
        assert storage.update_many("things", {"c": {"$exists": False}}, update) == 3
        own = [{"a": 3, "b": [], "e": [1]}, {"a": 6, "b": [1], "e": [1, 1]}, {"a": 0, "e": [1]}]
        changed = add_ids([{**one, "c": 1, "f": [1], "h": 1, "i": 1, "j": 1} for one in own])
        assert read_all(storage) == [*changed, {"_id": 4, "c": 1}]

    def test_update_one_changes_one_and_returns_the_state_afterwards(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1, "b": 1}, {"a": 1, "b": 1}]))
        after = storage.update_one("things", {"a": 1}, {"$set": {"a": 2}}, ["a"])
        assert after in ({"_id": 1, "a": 2}, {"_id": 2, "a": 2})
        assert storage.count("things", {"a": 2}) == 1

    def test_an_update_of_nothing_adds_nothing(self, storage: Storage) -> None:
        update: Update = {"$set": {"a": 1}}
        assert storage.update_one("things", {"_id": 1}, update, None) is None
        assert storage.update_many("things", {"a": 1}, update) == 0
        storage.update_each("things", iter(()))
        storage.insert("things", [{"_id": 2}])
        storage.update_each("things", [(9, update), (2, update)])
        assert read_all(storage) == [{"_id": 2, "a": 1}]

    def test_update_many_passes_over_documents_of_more_bytes(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": "x" * 100}, {"_id": 2, "a": "x" * 200}, {"_id": 3, "a": "x" * 300}])
        most = len(encode({"_id": 2, "a": "x" * 200}))
        wanted = {"_id": {"$in": [2, 3]}}
        matched = [
            storage.update_many("things", wanted, {"$set": {"b": 1}}, most_bytes=most + more) for more in (-1, 0)
        ]
        assert (matched, [one["_id"] for one in read_all(storage) if "b" in one]) == ([0, 1], [2])

    @pytest.mark.parametrize("first", ["users.$", "hidden.at.x"])
    def test_a_positional_path_stands_with_other_keys(self, storage: Storage, first: str) -> None:
        storage.insert(
            "things", add_ids([{"users": [{"_id": 1, "n": "a"}, {"_id": 2, "n": "b"}]}, {"users": [{"_id": 1}]}])
        )
        new = {"_id": 2, "n": "z"}
        values = {"users.$": new, "hidden.at.x": 1, "other": 3}
        update: Document = {
            "$set": {first: values.pop(first), **values},
            "$inc": {"n": 1},
            "$unset": {"hidden.at.y": ""},
        }
        assert storage.update_many("things", {"_id": {"$in": [1, 2]}, "users._id": 2}, update) == 1
        assert read_all(storage) == [
            {"_id": 1, "users": [{"_id": 1, "n": "a"}, new], "hidden": {"at": {"x": 1}}, "other": 3, "n": 1},
            {"_id": 2, "users": [{"_id": 1}]},
        ]

    def test_a_positional_path_stands_beside_conditions_on_missing_values(self, storage: Storage) -> None:
        """The core asks for the version of a copy in this way."""
        storage.insert("things", [{"_id": 1, "users": [{"_id": 1}, {"_id": 2}], "at": {}}])
        old = {"$not": {"$gte": 2, "$lte": 5}}
        wanted = {"_id": 1, "users._id": 2, "at.x": None, "at.y": {"$exists": False}, "at.z": old}
        assert storage.update_many("things", wanted, {"$set": {"users.$": {"_id": 2, "n": "z"}}}) == 1
        assert storage.update_many("things", {"users._id": 1}, {"$set": {"users.$.n": "y"}}) == 1
        assert read_all(storage) == [{"_id": 1, "users": [{"_id": 1, "n": "y"}, {"_id": 2, "n": "z"}], "at": {}}]
