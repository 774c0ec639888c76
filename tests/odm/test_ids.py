"""Ids of all kinds in one order, the same in the database and everywhere else."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

import pytest
from bson import Decimal128, ObjectId

from gatewayfw.odm.ids import START, following, ordered

#: One id of each kind, in MongoDB's order.
IDS = [None, 2, 2.5, "a", {"a": 1}, b"x", ObjectId("0" * 24), True, datetime(2024, 1, 1)]


def found(storage, last=START):
    """Return the ids after another, read condition by condition."""
    conditions = following(last)
    return [
        one["_id"]
        for condition in conditions
        for one in storage.find("things", {"_id": condition}, [], sort=[("_id", 1)])
    ]


@pytest.fixture
def things(storage):
    storage.insert("things", [{"_id": id_} for id_ in reversed(IDS)])
    return storage


def test_from_the_start_all_ids_are_found_in_order(things):
    assert found(things) == IDS


@pytest.mark.parametrize("at", range(len(IDS)), ids=[type(id_).__name__ for id_ in IDS])
def test_after_an_id_all_later_ones_are_found(things, at):
    assert found(things, IDS[at]) == IDS[at + 1 :]


def test_a_number_of_any_type_goes_on_among_numbers():
    assert list(islice(following(Decimal128("1")), 2)) == [{"$gt": Decimal128("1")}, {"$gte": ""}]


def test_ids_of_different_kinds_have_one_order():
    mixed = [ObjectId("1" * 24), 2, "b", None, "a"]
    assert ordered(mixed) == ordered(reversed(mixed))
    assert ordered(["b", "a"]) == ["a", "b"]
