"""Documents as BSON, UUIDs included, and what is shown of them in memory."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest
from bson import BSON, Binary, DatetimeMS, DBRef, Decimal128, Int64, InvalidDocument, Regex

from gatewayfw.errors import StorageError
from gatewayfw.storage.documents import as_stored, can_be_id, encode, show, value_at


def test_a_uuid_is_encoded_as_the_database_holds_it():
    id_ = UUID(int=5)
    assert BSON(encode({"a": [id_]})).decode() == {"a": [Binary.from_uuid(id_)]}
    assert encode({"a": id_}) == encode({"a": Binary.from_uuid(id_)})


def test_what_bson_cannot_hold_is_refused():
    with pytest.raises(InvalidDocument):
        encode({"a": object()})
    with pytest.raises(OverflowError):
        encode({"a": 2**63})


def test_a_copy_has_the_values_that_mongodb_returns():
    there = datetime(2026, 11, 22, 14, 0, 0, 1999, tzinfo=timezone(timedelta(hours=2)))
    given = {"a": (1, b"x"), "b": there, "c": {"d": [Decimal128("1.50"), 2**62]}, "e": DatetimeMS(2**50)}
    copy = as_stored(given)
    assert copy == {
        "a": [1, b"x"],
        "b": datetime(2026, 11, 22, 12, 0, 0, 1000),
        "c": {"d": [Decimal128("1.50"), Int64(2**62)]},
        "e": DatetimeMS(2**50),
    }
    assert copy["c"]["d"] is not given["c"]["d"]


@pytest.mark.parametrize("value", [None, True, "$a", {}, {"a": [{"b": 1}]}, {"a.b": Regex("a")}, DBRef("a", {"$b": 1})])
def test_most_values_can_be_an_id(value):
    assert can_be_id(value) is True


@pytest.mark.parametrize("value", [[], Regex("a"), {"$a": 1}, {"a": {"$b": 1}}, {"a": [[{"$b": 1}]]}])
def test_some_values_cannot_be_an_id(value, storage):
    assert can_be_id(value) is False
    with pytest.raises(StorageError):
        storage.insert("things", [{"_id": value}])


WHOLE = {
    "title": "t",
    "_id": 1,
    "author": {"name": "n", "born": {"year": 1, "town": "x"}},
    "tags": ["a", {"name": "b", "n": 1}, [{"name": "c"}, 2], []],
    "none": None,
}
SHOWN = {
    "all": (None, {"_id": 1, **WHOLE}),
    "no more than the id": ([], {"_id": 1}),
    "in the order of the document": (["none", "title"], {"_id": 1, "title": "t", "none": None}),
    "below objects": (["author.born.year", "author.name"], {"_id": 1, "author": {"name": "n", "born": {"year": 1}}}),
    "below lists": (["tags.name"], {"_id": 1, "tags": [{"name": "b"}, [{"name": "c"}], []]}),
    "what is not there": (["other", "author.other", "title.x", "none.x"], {"_id": 1, "author": {}}),
}


@pytest.mark.parametrize(("fields", "shown"), SHOWN.values(), ids=SHOWN)
def test_what_is_shown_of_a_document(fields, shown):
    assert repr(show(WHOLE, fields)) == repr(shown)


@pytest.mark.parametrize(("fields", "shown"), SHOWN.values(), ids=SHOWN)
def test_each_storage_shows_that(storage, fields, shown):
    storage.insert("things", [WHOLE])
    assert list(map(repr, storage.find("things", {}, fields))) == [repr(shown)]
    assert repr(storage.update_one("things", {"_id": 1}, {"$set": {"title": "t"}}, fields)) == repr(shown)


def test_the_whole_is_shown_where_a_part_is_asked_for_too():
    for fields in (["author", "author.name"], ["author.name", "author"]):
        assert show(WHOLE, fields) == {"_id": 1, "author": WHOLE["author"]}


@pytest.mark.parametrize("fields", [None, ["author", "tags"]])
def test_what_is_shown_is_a_copy(fields):
    kept = repr(WHOLE)
    shown = show(WHOLE, fields)
    shown["author"]["born"]["year"] = 2
    shown["tags"][1]["name"] = "changed"
    assert repr(WHOLE) == kept


@pytest.mark.parametrize(("document", "value"), [({"a": {"b": 1}}, 1), ({"a": {}}, None), ({"a": 3}, None), ({}, None)])
def test_a_value_that_is_not_there_is_null(document, value):
    assert value_at(document, "a.b") == value
