"""Indexes on MongoDB: found, built together or one by one, listed as the server has them."""

from __future__ import annotations

import logging

import pytest
from pymongo.errors import CollectionInvalid

from gatewayfw.storage.mongo.indexes import build, compare, find_or_create, index_of
from gatewayfw.storage.terms import Index

A, UNIQUE = Index((("a", 1),)), Index((("b", 1),), {"unique": True})


def test_a_collection_is_created_before_a_transaction_needs_it(mongo_database):
    find_or_create(mongo_database, "things")
    assert mongo_database.list_collection_names() == ["things"]


def test_a_collection_is_told_from_a_later_one_of_its_name(mongo_database):
    first, again = (find_or_create(mongo_database, "things") for _ in range(2))
    mongo_database.drop_collection("things")
    assert first == again
    assert first != find_or_create(mongo_database, "things")


class Raced:
    """A database in which another process has just created the collection."""

    def __init__(self):
        self.asked = []

    def list_collections(self, **options):
        self.asked.append(options)
        return [{"name": "things", "info": {"uuid": 1}}] if len(self.asked) > 1 else []

    def create_collection(self, name):
        raise CollectionInvalid(f"{name} exists")


def test_another_process_may_create_the_collection_first(caplog):
    database = Raced()
    with caplog.at_level(logging.DEBUG, "gatewayfw.storage"):
        assert find_or_create(database, "things") == 1
    assert database.asked == [{"filter": {"name": "things"}}] * 2
    assert caplog.record_tuples == [
        ("gatewayfw.storage", logging.DEBUG, "collection things was created by another process")
    ]


@pytest.mark.parametrize(("most", "missing"), [(2, [A, UNIQUE]), (1, [UNIQUE])])
def test_in_a_large_collection_only_unique_indexes_are_built(mongo_database, most, missing):
    mongo_database.things.insert_many([{}, {}])
    found, problems = compare(mongo_database, "things", [A, UNIQUE], most)
    assert (found, len(problems)) == (missing, 2 - len(missing))


def test_what_is_built_is_no_longer_missing(mongo_database):
    assert build(mongo_database.things, [A, UNIQUE]) == []
    assert compare(mongo_database, "things", [A, UNIQUE], 10) == ([], [])


def test_where_one_cannot_be_built_the_others_are(mongo_database):
    mongo_database.things.insert_many([{"b": 1}, {"b": 1}])
    assert build(mongo_database.things, [A, UNIQUE]) == [
        "things: index {'b': 1} cannot be built: two documents share a value"
    ]
    assert compare(mongo_database, "things", [A, UNIQUE], 10) == ([UNIQUE], [])


def test_another_failure_is_told_by_its_number(mongo_database):
    wrong = Index((("a", 1),), {"expireAfterSeconds": -5})
    assert build(mongo_database.things, [wrong]) == ["things: index {'a': 1} cannot be built: server error 67"]


def test_nothing_is_asked_where_nothing_is_to_be_built():
    assert build(None, []) == []


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"v": 2, "key": {"a": 1.0, "b": "text"}, "name": "n"}, Index((("a", 1), ("b", "text")), {"name": "n"})),
        (
            {"key": {"a": -1}, "ns": "db.things", "background": True, "unique": True, "sparse": False},
            Index((("a", -1),), {"unique": True}),
        ),
    ],
)
def test_indexes_of_other_tools_are_read(known, expected):
    assert index_of(known) == expected
