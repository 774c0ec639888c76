"""Indexes on MongoDB: found, built together or one by one, listed as the server has them."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from pymongo.errors import CollectionInvalid

from gatewayfw.storage.mongo.indexes import build, create_and_compare, index_of
from gatewayfw.storage.terms import Index

A, UNIQUE = Index((("a", 1),)), Index((("b", 1),), {"unique": True})


def test_a_collection_is_created_before_a_transaction_needs_it(mongo_database):
    assert create_and_compare(mongo_database, "things", [A], 10) == ([A], [])
    assert mongo_database.list_collection_names() == ["things"]


class Raced:
    """A database in which another process has just created the collection."""

    def __init__(self):
        self.things = SimpleNamespace(list_indexes=lambda: [{"key": {"_id": 1}}], estimated_document_count=lambda: 11)
        self.asked = []

    def __getitem__(self, name):
        return getattr(self, name)

    def list_collection_names(self, **options):
        self.asked.append(options)
        return []

    def create_collection(self, name):
        raise CollectionInvalid(f"{name} exists")


@pytest.mark.parametrize(("most", "missing"), [(11, [A, UNIQUE]), (10, [UNIQUE])])
def test_another_process_may_create_the_collection_first(caplog, most, missing):
    database = Raced()
    with caplog.at_level(logging.DEBUG, "gatewayfw.storage"):
        found, problems = create_and_compare(database, "things", [A, UNIQUE], most)
    assert (found, len(problems), database.asked) == (missing, 2 - len(missing), [{"filter": {"name": "things"}}])
    assert caplog.record_tuples == [
        ("gatewayfw.storage", logging.DEBUG, "collection things was created by another process")
    ]


def test_what_is_built_is_no_longer_missing(mongo_database):
    assert build(mongo_database.things, [A, UNIQUE]) == []
    assert create_and_compare(mongo_database, "things", [A, UNIQUE], 10) == ([], [])


def test_where_one_cannot_be_built_the_others_are(mongo_database):
    mongo_database.things.insert_many([{"b": 1}, {"b": 1}])
    assert build(mongo_database.things, [A, UNIQUE]) == [
        "things: index {'b': 1} cannot be built: two documents share a value"
    ]
    assert create_and_compare(mongo_database, "things", [A, UNIQUE], 10) == ([UNIQUE], [])


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
