"""The steps of plans are plain data, and call the storage when they are sent."""

from __future__ import annotations

from gatewayfw.odm.copies.rules import WindowQuery
from gatewayfw.odm.writing.plan.steps import FindMembers, Guess, count, find, touch
from gatewayfw.testing.storage_suite.topic import LOCK


def test_a_step_is_plain_data():
    assert count("book", {"year": 2020}, 1) == ("count", ("book", {"year": 2020}, 1), {})


def test_found_documents_are_a_list(storage):
    storage.insert("book", [{"_id": 1, "title": "a"}, {"_id": 2, "title": "b"}])
    assert find("book", {}, ["title"], sort=[("_id", -1)], limit=1).send(storage) == [{"_id": 2, "title": "b"}]


def test_members_are_read_until_they_have_too_many_bytes(storage):
    storage.insert("book", [{"_id": number, "title": "x" * 100} for number in range(9)])
    query = WindowQuery("book", {}, ("title",), (("_id", 1),), 8)
    assert [len(FindMembers(query, most).send(storage)) for most in (None, 250, 0)] == [8, 2, 1]


def test_a_guess_that_does_not_match_is_followed_by_the_other(storage):
    storage.insert("book", [{"_id": 1, "title": "a"}])
    first = touch("book", {"_id": 1, "title": "x"}, ["title"], LOCK, {"$set": {"title": "c"}})
    other = touch("book", {"_id": 1}, ["title"], LOCK, {"$set": {"title": "b"}})
    assert Guess(first, otherwise=other).send(storage) == ({"_id": 1, "title": "b"}, False)


def test_a_guess_that_matches_is_all_that_is_sent(storage):
    storage.insert("book", [{"_id": 1, "title": "a"}])
    first = touch("book", {"_id": 1, "title": "a"}, ["title"], LOCK, {"$set": {"title": "c"}})
    other = touch("book", {"_id": 1}, ["title"], LOCK, {"$set": {"title": "b"}})
    assert Guess(first, otherwise=other).send(storage) == ({"_id": 1, "title": "c"}, True)
