"""What each update makes of a document, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from bson import encode

from gatewayfw.errors import StorageError, ValidationError
from gatewayfw.storage.base import Storage
from gatewayfw.storage.subset import check_update
from gatewayfw.storage.terms import Document
from gatewayfw.testing.storage_suite.topic import DAY, Topic, add_ids, parametrize, read_all

_SECOND = timedelta(seconds=1)

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
    "$mul": ({"a": 3, "b": 2**31}, {"$mul": {"a": 2, "b": 2}}, {"a": 6, "b": 2**32}),
    "$mul a float": ({"a": 3, "b": 1.5}, {"$mul": {"a": 0.5, "b": 2}}, {"a": 1.5, "b": 3.0}),
    "$mul in a list": ({"a": [1, 2]}, {"$mul": {"a.1": 5}}, {"a": [1, 10]}),
    "$mul missing": ({}, {"$mul": {"a": 2, "b.c": -1}}, {"a": 0, "b": {"c": 0}}),
    "$min": ({"a": 3, "b": {"c": 3}}, {"$min": {"a": 2, "b.c": 4}}, {"a": 2, "b": {"c": 3}}),
    "$max": ({"a": 3, "b": {"c": 3}}, {"$max": {"a": 2, "b.c": 4}}, {"a": 3, "b": {"c": 4}}),
    "$min and $max of dates": (
        {"a": DAY, "b": DAY},
        {"$min": {"a": DAY - _SECOND}, "$max": {"b": DAY - _SECOND}},
        {"a": DAY - _SECOND, "b": DAY},
    ),
    "$min and $max missing": ({}, {"$min": {"a": 2}, "$max": {"b.c": 1}}, {"a": 2, "b": {"c": 1}}),
    "$min and $max with null": (
        {"a": None, "b": None, "c": 1, "d": 1},
        {"$min": {"a": 1, "c": None}, "$max": {"b": 1, "d": None}},
        {"a": None, "b": 1, "c": None, "d": 1},
    ),
    "$pop": ({"a": [1, 2, 3], "b": {"c": [1, 2, 3]}}, {"$pop": {"a": 1, "b.c": -1}}, {"a": [1, 2], "b": {"c": [2, 3]}}),
    "$pop the last": ({"a": [1], "b": []}, {"$pop": {"a": -1, "b": 1}}, {"a": [], "b": []}),
    "$pop missing": ({"a": 1}, {"$pop": {"b": 1, "c.d": 1}}, {"a": 1}),
    "$push": ({"a": [1]}, {"$push": {"a": 1}}, {"a": [1, 1]}),
    "$push missing": ({}, {"$push": {"a": 1, "b.c": {"d": 2}}}, {"a": [1], "b": {"c": [{"d": 2}]}}),
    "$push a list": ({"a": [1]}, {"$push": {"a": [2]}}, {"a": [1, [2]]}),
    "$push $each": ({"a": [1]}, {"$push": {"a": {"$each": [2, 3]}}}, {"a": [1, 2, 3]}),
    "$push $each missing": ({}, {"$push": {"a": {"$each": [2, 3]}}}, {"a": [2, 3]}),
    "$push $each nothing": ({"a": [1]}, {"$push": {"a": {"$each": []}}}, {"a": [1]}),
    "$push $each nothing missing": ({}, {"$push": {"a": {"$each": []}}}, {"a": []}),
    "$push $position": (
        {"a": [1, 2], "b": [1, 2], "c": [1, 2], "d": [1, 2, 3]},
        {
            "$push": {
                "a": {"$each": [8, 9], "$position": 0},
                "b": {"$each": [8], "$position": 1},
                "c": {"$each": [8], "$position": 7},
                "d": {"$each": [8, 9], "$position": -1},
            }
        },
        {"a": [8, 9, 1, 2], "b": [1, 8, 2], "c": [1, 2, 8], "d": [1, 2, 8, 9, 3]},
    ),
    "$push $position before the first": ({"a": [1]}, {"$push": {"a": {"$each": [8], "$position": -5}}}, {"a": [8, 1]}),
    "$push $position missing": ({}, {"$push": {"a.b": {"$each": [8], "$position": -1}}}, {"a": {"b": [8]}}),
    "$push $slice": (
        {"a": [1, 2], "b": [1, 2], "c": [1, 2], "d": [1, 2]},
        {
            "$push": {
                "a": {"$each": [3, 4], "$slice": 3},
                "b": {"$each": [3, 4], "$slice": -3},
                "c": {"$each": [3], "$slice": 0},
                "d": {"$each": [3], "$slice": -9},
            }
        },
        {"a": [1, 2, 3], "b": [2, 3, 4], "c": [], "d": [1, 2, 3]},
    ),
    "$push $slice alone": ({"a": [1, 2, 3]}, {"$push": {"a": {"$each": [], "$slice": -2}}}, {"a": [2, 3]}),
    "$push $sort": (
        {"a": [2, 9], "b": ["b", "a"], "c": [3, 1, 2]},
        {
            "$push": {
                "a": {"$each": [5, 1.5], "$sort": 1},
                "b": {"$each": ["B", "c"], "$sort": -1},
                "c": {"$each": [], "$sort": 1},
            }
        },
        {"a": [1.5, 2, 5, 9], "b": ["c", "b", "a", "B"], "c": [1, 2, 3]},
    ),
    "$push $sort of types": (
        {"a": [True, {"b": 1}, "x", None, 2]},
        {"$push": {"a": {"$each": [DAY, 1], "$sort": 1}}},
        {"a": [None, 1, 2, "x", {"b": 1}, True, DAY]},
    ),
    "$push $sort by a field": (
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
    "$push $position, $sort and $slice": (
        {"a": [{"n": 2, "x": 1}, {"n": 1, "x": 1}]},
        {"$push": {"a": {"$each": [{"n": 2, "x": 0}], "$position": 0, "$slice": 2, "$sort": {"n": -1}}}},
        {"a": [{"n": 2, "x": 0}, {"n": 2, "x": 1}]},
    ),
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
        {"a": 1, "b": 1, "c": 1, "d": [], "e": [1], "f": [1], "g": 2, "h": 2, "i": 2, "j": [1]},
        {
            "$set": {"a": 2},
            "$unset": {"b": ""},
            "$inc": {"c": 1},
            "$push": {"d": 1},
            "$pull": {"e": 1},
            "$addToSet": {"f": 2},
            "$mul": {"g": 2},
            "$min": {"h": 1},
            "$max": {"i": 3},
            "$pop": {"j": 1},
        },
        {"a": 2, "c": 2, "d": [1], "e": [], "f": [1, 2], "g": 4, "h": 1, "i": 3, "j": []},
    ),
}

#: name: (the document but its id; an update that it does not fit)
MISFITS: Mapping[str, tuple[Document, Document]] = {
    **{
        f"{operator} of {a!r}": ({"a": a}, {operator: {"a": 1}})
        for operator in ("$inc", "$mul")
        for a in (None, "x", True)
    },
    **{
        f"{operator} of {a!r}": ({"a": a}, {operator: {"a": 1}})
        for operator in ("$push", "$addToSet", "$pull", "$pop")
        for a in (None, 1)
    },
    **{
        f"{operator} below {a!r}": ({"o": {"a": a}}, {operator: {"o.a.b": 1}})
        for operator in ("$set", "$inc", "$mul", "$min", "$push", "$addToSet", "$pull", "$pop")
        for a in (None, 1, [1])
    },
    "$push in order to null": ({"a": None}, {"$push": {"a": {"$each": [1], "$sort": 1, "$slice": 2}}}),
    "$push of many to null": ({"a": None}, {"$push": {"a": {"$each": [1]}}}),
    "$inc far below null": ({"a": None, "b": 1}, {"$inc": {"a.b.c": 1, "b": 1}}),
    "$inc of one of two": ({"a": None, "b": 1}, {"$inc": {"b": 1, "a": 1}, "$set": {"c": 1}}),
}


class Updates(Topic):
    """What each update makes of a document, and what it refuses."""

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
    def test_updates(self, storage: Storage, row: tuple[Document, Document, Document]) -> None:
        document, update, expected = row
        check_update(update)
        storage.insert("things", [{"_id": 1, **document}, {"_id": 2, **document}, {"_id": 3, **document}, {"_id": 4}])
        assert storage.update_one("things", {"_id": 1}, update, None) == {"_id": 1, **expected}
        assert storage.update_many("things", {"_id": 2}, update) == 1
        storage.update_each("things", [(3, update)])
        assert read_all(storage) == [*({"_id": number, **expected} for number in (1, 2, 3)), {"_id": 4}]

    @parametrize(MISFITS)
    def test_an_update_that_does_not_fit_names_its_path(self, storage: Storage, row: tuple[Document, Document]) -> None:
        document, update = row
        storage.insert("things", [{"_id": 1, **document}])
        with pytest.raises(ValidationError) as caught:
            storage.update_one("things", {}, update, None)
        (path,) = (path for changes in update.values() for path in changes if path[0] in "ao")
        assert caught.value.errors == {f"update.{path}": ["Does not fit the value that is there."]}
        for write in (
            lambda: storage.update_many("things", {}, update),
            lambda: storage.update_each("things", [(1, update)]),
        ):
            with pytest.raises((StorageError, ValidationError)):
                write()
        assert read_all(storage) == [{"_id": 1, **document}]

    def test_an_id_is_not_changed(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": 1}])
        for write in (
            lambda: storage.update_one("things", {}, {"$set": {"_id": 2}}, None),
            lambda: storage.update_many("things", {}, {"$set": {"_id": 2}}),
            lambda: storage.update_each("things", [(1, {"$set": {"_id": 2}})]),
        ):
            with pytest.raises(StorageError):
                write()
        assert read_all(storage) == [{"_id": 1, "a": 1}]

    def test_operators_change_each_document_that_matches(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1, "b": [1]}, {"a": 2, "b": [1, 2]}, {}]))
        update: Document = {"$mul": {"a": 3}, "$pop": {"b": 1}, "$set": {"c": 1}}
        assert storage.update_many("things", {"c": {"$exists": False}}, update) == 3
        assert read_all(storage) == add_ids([{"a": 3, "b": [], "c": 1}, {"a": 6, "b": [1], "c": 1}, {"a": 0, "c": 1}])

    def test_update_one_changes_one_and_returns_the_state_afterwards(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1, "b": 1}, {"a": 1, "b": 1}]))
        after = storage.update_one("things", {"a": 1}, {"$set": {"a": 2}}, ["a"])
        assert after in ({"_id": 1, "a": 2}, {"_id": 2, "a": 2})
        assert storage.count("things", {"a": 2}) == 1

    def test_update_one_of_nothing_returns_none_and_adds_nothing(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        assert storage.update_one("things", {"_id": 2}, {"$set": {"a": 1}}, None) is None
        assert read_all(storage) == [{"_id": 1}]

    def test_update_many_changes_all_that_match_and_counts_them(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1}, {"a": 2}, {"a": 2, "b": 1}]))
        matched = storage.update_many("things", {"a": 2}, {"$set": {"b": 1}})
        assert (matched, read_all(storage)) == (2, add_ids([{"a": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 1}]))

    def test_update_many_passes_over_documents_of_more_bytes(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1, "a": "x" * 100}, {"_id": 2, "a": "x" * 200}, {"_id": 3, "a": "x" * 300}])
        most = len(encode({"_id": 2, "a": "x" * 200}))
        wanted = {"_id": {"$in": [2, 3]}}
        matched = [
            storage.update_many("things", wanted, {"$set": {"b": 1}}, most_bytes=most + more) for more in (-1, 0)
        ]
        assert (matched, [one["_id"] for one in read_all(storage) if "b" in one]) == ([0, 1], [2])

    def test_update_many_of_nothing_counts_none(self, storage: Storage) -> None:
        assert storage.update_many("things", {"a": 1}, {"$set": {"b": 1}}) == 0
        assert read_all(storage) == []

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
        assert read_all(storage) == [{"_id": 1, "users": [{"_id": 1}, {"_id": 2, "n": "z"}], "at": {}}]

    def test_a_positional_path_may_go_below_the_element(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"users": [{"_id": 1}, {"_id": 2}]}] * 2))
        assert storage.update_many("things", {"users._id": 2}, {"$set": {"users.$.n": "z"}}) == 2
        assert read_all(storage) == add_ids([{"users": [{"_id": 1}, {"_id": 2, "n": "z"}]}] * 2)

    def test_update_each_passes_over_missing_documents(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{}, {}]))
        storage.update_each("things", [(2, {"$set": {"a": 2}}), (9, {"$set": {"a": 9}}), (1, {"$inc": {"a": 1}})])
        assert read_all(storage) == [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}]

    def test_update_each_of_nothing_does_nothing(self, storage: Storage) -> None:
        storage.update_each("things", iter(()))
        assert read_all(storage) == []
