"""What a filter selects from mongomock, and what is shown of it: gatewayfw.storage.memory_reads."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw.storage.memory_reads import narrow, select, show

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


@pytest.fixture
def things():
    things = mongomock.MongoClient().test.things
    things.insert_many([{"_id": n, "n": n, "at": {"x": n} if n < 3 else {}} for n in range(5)])
    return things


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


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"n": {"$gt": 2}}, [3, 4]),
        ({"at.x": {"$exists": False}}, [3, 4]),
        ({"at.x": None, "n": {"$gt": 3}}, [4]),
        ({"_id": 3, "at.x": {"$ne": 1}}, [3]),
        ({"_id": 1, "at.x": {"$ne": 1}}, []),
    ],
)
def test_conditions_of_either_kind_count(things, filter, found):
    whole = list(select(things, filter))
    assert ([one["_id"] for one in whole], all("n" in one for one in whole)) == (found, True)
    assert [one["_id"] for one in things.find(narrow(filter, whole))] == found
