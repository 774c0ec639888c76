"""Indexes on MongoDB: found, built together or one by one, listed as the server has them."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from bson import DatetimeMS
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions
from pymongo.errors import OperationFailure

from gatewayfw.storage import MongoStorage
from gatewayfw.storage.mongo.indexes import build, compare, identities, index_of
from gatewayfw.storage.terms import Index

A, UNIQUE = Index((("a", 1),)), Index((("b", 1),), {"unique": True})


def test_a_collection_is_created_before_a_transaction_needs_it(mongo_database):
    assert compare(mongo_database, "things", [A], 10) == ([A], [])
    assert mongo_database.list_collection_names() == ["things"]


@pytest.mark.parametrize("uuids", [UuidRepresentation.UNSPECIFIED, UuidRepresentation.STANDARD])
def test_a_collection_is_told_from_a_later_one_of_its_name(mongo_database, uuids):
    mongo_database.create_collection("things")
    mongo_database.create_collection("shown", viewOn="things", pipeline=[])
    database = mongo_database.with_options(CodecOptions(uuid_representation=uuids))
    first, again = (identities(database) for _ in range(2))
    mongo_database.drop_collection("things")
    mongo_database.create_collection("things")
    later = identities(database)
    assert (first, first["shown"], len(first["things"])) == (again, "", 32)
    assert later["things"] != first["things"]


def test_an_index_with_a_date_beyond_the_range_of_python_is_listed(mongo_database):
    late = {"partialFilterExpression": {"b": {"$gt": DatetimeMS(2**60)}}}
    mongo_database.things.create_index("a", **late)
    storage = MongoStorage(mongo_database)
    assert storage.ensure("things", [A], 10) == []
    assert storage.indexes("things") == [Index((("a", 1),), {"name": "a_1", **late})]


class Raced:
    """A database in which another process has just created the collection."""

    def __init__(self, code):
        self.code = code

    def __getitem__(self, name):
        return SimpleNamespace(name=name, database=self, codec_options=None)

    def command(self, command, **options):
        raise OperationFailure(f"{command['listIndexes']} is missing", 26)

    def create_collection(self, name, check_exists):
        raise OperationFailure(f"{name} exists", self.code)


def test_another_process_may_create_the_collection_first(caplog):
    with caplog.at_level(logging.DEBUG, "gatewayfw.storage"):
        assert compare(Raced(48), "things", [], 10) == ([], [])
    assert caplog.record_tuples == [
        ("gatewayfw.storage", logging.DEBUG, "collection things was created by another process")
    ]
    with pytest.raises(OperationFailure):
        compare(Raced(13), "things", [], 10)


#: Documents, a unique index that they keep from being built, and the ids of those that do.
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
