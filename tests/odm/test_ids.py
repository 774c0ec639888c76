"""Ids of all kinds in one order, the same in the database and everywhere else."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

import pytest
from bson import Binary, Code, DBRef, Decimal128, MaxKey, MinKey, ObjectId, Timestamp

from gatewayfw.odm.ids import START, following, key_of, ordered, pages
from gatewayfw.storage import MongoStorage
from gatewayfw.storage.order import order_key

#: Ids in MongoDB's order, one of each kind that both databases take.
IDS = [None, 2, 2.5, "a", {"a": 1}, b"x", ObjectId("0" * 24), True, datetime(1, 1, 1), datetime(2024, 1, 1)]
IDS += [Timestamp(1, 2)]
#: The same with those that only MongoDB takes.
ALL = [MinKey(), None, float("nan"), -1.5, Decimal128("2"), "a", {}, DBRef("x", {"a": [1]}), b"x", Binary(b"x", 128)]
ALL += [*IDS[6:], Code("x"), Code("x", {"y": 1}), MaxKey()]


def found(storage, last=START):
    """Return the ids after another, read filter by filter."""
    filters = following(last)
    return [one["_id"] for filter in filters for one in storage.find("things", filter, [], sort=[("_id", 1)])]


@pytest.fixture
def things(storage):
    storage.insert("things", [{"_id": id_} for id_ in reversed(IDS)])
    return storage


def test_from_the_start_all_ids_are_found_in_order(things):
    assert found(things) == IDS


@pytest.mark.parametrize("at", range(len(IDS)), ids=[type(id_).__name__ for id_ in IDS])
def test_after_an_id_all_later_ones_are_found(things, at):
    assert found(things, IDS[at]) == IDS[at + 1 :]


@pytest.mark.mongo
@pytest.mark.parametrize("at", range(len(ALL)), ids=[type(id_).__name__ for id_ in ALL])
def test_mongodb_finds_ids_of_all_types_in_order(mongo_database, at):
    storage = MongoStorage(mongo_database)
    storage.insert("things", [{"_id": id_} for id_ in reversed(ALL)])
    assert [repr(found(storage)), repr(found(storage, ALL[at]))] == [repr(ALL), repr(ALL[at + 1 :])]
    assert sorted(ALL, key=order_key) == ALL


def test_a_number_of_any_type_goes_on_among_numbers():
    assert list(islice(following(Decimal128("1")), 2)) == [{"_id": {"$gt": Decimal128("1")}}, {"_id": {"$gte": ""}}]


def test_pages_go_on_after_the_last_document_until_nothing_follows(things):
    def find(filter):
        return list(things.find("things", filter, [], sort=[("_id", 1)], limit=2))

    read = [[one["_id"] for one in page] for page in pages(find, lambda one: one["_id"])]
    assert [id_ for page in read for id_ in page] == IDS
    assert set(map(len, read)) == {1, 2}


def test_each_id_has_a_key_of_its_own():
    keys = {key_of(id_) for id_ in ALL}
    assert len(keys) == len(ALL)
    assert key_of(IDS[6]) == IDS[6]


def test_ids_of_different_kinds_have_one_order():
    mixed = [ObjectId("1" * 24), 2, "b", None, "a"]
    assert ordered(mixed) == ordered(reversed(mixed))
    assert ordered(["b", "a"]) == ["a", "b"]
