"""What is shown of a document in memory."""

from __future__ import annotations

import pytest

from gatewayfw.storage.memory_reads import show

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
