"""Values of all types have one order, MongoDB's: in the database, on mongomock, and in this process."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import mongomock
import pytest
from bson import Binary, Code, DatetimeMS, Decimal128, MaxKey, MinKey, ObjectId, Regex, Timestamp
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import StorageError
from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.order import order_key
from gatewayfw.testing.storage_suite.topic import add_ids, collect_ids
from tests.examples import examples
from tests.storage.searches import PATHS, documents

#: Values from the lowest to the highest, as one finds them in documents; those in one list are equal.
VALUES = [
    [None],
    [float("nan"), Decimal128("NaN")],
    [float("-inf"), Decimal128("-Infinity")],
    [Decimal128("-2")],
    [-1],
    [0.1],
    [Decimal128("1"), 1, 1.0, Decimal128("1.0")],
    [Decimal128("1.10"), Decimal128("1.1")],
    [2**62],
    [Decimal128("1E+400")],
    [float("inf")],
    [""],
    ["B"],
    ["a"],
    ["é"],
    ["\U0001f600"],
    [{}],
    [{"$": float("nan")}],
    [{"b": float("nan")}],
    [{"b": 1}],
    [{"b": Decimal128("1.5")}],
    [{"a": "x"}],
    [{"a": "x", "b": 1}],
    [{"a": b""}],
    [b""],
    [b"b"],
    [Binary(b"a", 5)],
    [b"aa"],
    [b"\x00" * 15],
    [b"\xff" * 16],
    [Binary(b"\x00" * 16, 3)],
    [Binary(b"\x00" * 16, 4)],
    [Binary.from_uuid(UUID(int=5))],
    [Binary(b"\xff" * 16, 4)],
    [Binary(b"\x00" * 16, 5)],
    [b"\x00" * 17],
    [ObjectId("0" * 24)],
    [ObjectId("f" * 24)],
    [False],
    [True],
    [DatetimeMS(-(2**50))],
    [datetime(1, 1, 1)],
    [datetime(1969, 12, 31, 23, 59, 59, 999000)],
    [datetime(1970, 1, 1)],
    [datetime(2026, 11, 22, 10, 0, 0, 5000)],
    [DatetimeMS(2**50)],
]
FLAT = [value for equal in VALUES for value in equal]


@pytest.mark.parametrize("fields", [None, ["n"]])
def test_a_sort_has_mongodbs_order(storage, fields):
    ids = list(range(len(FLAT)))
    storage.insert("things", [{"_id": at, "n": 1, "x": FLAT[at]} for at in reversed(ids)])

    def found(direction, **more):
        return [one["_id"] for one in storage.find("things", {}, fields, sort=[("x", direction), ("_id", 1)], **more)]

    ties = iter(ids)
    groups = [[next(ties) for _ in equal] for equal in VALUES]
    descending = [at for group in reversed(groups) for at in group]
    assert (found(1), found(-1)) == (ids, descending)
    assert (found(1, skip=3, limit=4), found(-1, skip=50)) == (ids[3:7], descending[50:])


def test_the_key_has_the_same_order():
    keys = [[order_key(value) for value in equal] for equal in VALUES]
    assert all(len(dict.fromkeys(equal)) == 1 for equal in keys)
    assert sorted(key for equal in keys for key in equal) == [key for equal in keys for key in equal]
    assert all(low[0] < high[0] for low, high in zip(keys, keys[1:], strict=False))


def test_python_forms_rank_like_stored_ones():
    assert order_key(UUID(int=5)) == order_key(Binary.from_uuid(UUID(int=5)))
    assert order_key(Decimal("1.10")) == order_key(Decimal128("1.1"))
    assert order_key(DatetimeMS(datetime(2026, 11, 22))) == order_key(datetime(2026, 11, 22))
    assert order_key((1, "a")) == order_key([1, "a"])


ELSEWHERE = timezone(timedelta(hours=2))


def test_dates_of_other_time_zones_rank_by_their_moment(storage):
    noon = datetime(2026, 11, 22, 12)
    assert order_key(noon) == order_key(datetime(2026, 11, 22, 14, tzinfo=ELSEWHERE))
    storage.insert("things", [{"_id": 1, "at": noon}])
    for hour, is_before in ((13, False), (14, False), (15, True)):
        later = {"$lt": datetime(2026, 11, 22, hour, tzinfo=ELSEWHERE)}
        found = [storage.count("things", {"at": condition}) for condition in (later, {"$not": later})]
        assert found == [is_before, not is_before]


def test_what_no_kind_allows_comes_last_but_for_one(storage):
    rare = [MinKey(), None, datetime(2026, 11, 22), Timestamp(1, 2), Regex("x"), Regex("x", "i"), Code("b")]
    rare += [Code("a", {}), Code("a", {"b": 1}), Code("b", {}), MaxKey()]
    storage.insert("things", [{"_id": at, "x": rare[at]} for at in reversed(range(len(rare)))])
    found = [one["_id"] for one in storage.find("things", {}, sort=[("x", 1)])]
    assert found == sorted(found, key=lambda at: order_key(rare[at])) == list(range(len(rare)))
    assert order_key(object())[0] == 14


LISTS = [[], [None], [5, 1], [2, 3], ["a", 4], 2.5, None, "b", [[0]], [{"y": 1}]]


@pytest.mark.parametrize(
    ("path", "up", "down"),
    [
        ("x", [0, 1, 6, 52, 2, 3, 5, 4, 7, 9, 50, 51, 8], [8, 51, 50, 9, 7, 4, 2, 3, 5, 1, 6, 52, 0]),
        ("x.y", [0, 1, 2, 3, 4, 5, 6, 7, 8, 52, 9, 51, 50], [50, 51, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 52]),
        ("o.x", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 50, 51, 52], [8, 9, 7, 4, 2, 3, 5, 0, 1, 6, 50, 51, 52]),
    ],
)
def test_of_a_list_the_lowest_counts_and_descending_the_highest(storage, path, up, down):
    storage.insert("things", [{"_id": at, "x": x, "o": [{"x": x}, {}]} for at, x in enumerate(LISTS)])
    storage.insert("things", [{"_id": 50, "x": [{"y": 9}, {"y": 3}]}, {"_id": 51, "x": {"y": [4, 1]}}, {"_id": 52}])

    def found(direction):
        return [one["_id"] for one in storage.find("things", {}, [], sort=[(path, direction), ("_id", 1)])]

    assert (found(1), found(-1)) == (up, down)


@pytest.mark.mongo
@examples(80)
@given(st.lists(documents, min_size=4, max_size=6), st.sampled_from(PATHS), st.sampled_from([1, -1]))
def test_random_documents_have_the_same_order_on_both_adapters(mongo_database, found, path, direction):
    orders = []
    for storage in (MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)):
        storage.delete_many("things", {})
        storage.insert("things", add_ids(found))
        orders.append(collect_ids(storage.find("things", {}, [], sort=[(path, direction), ("_id", 1)])))
    assert orders[0] == orders[1]


@pytest.mark.parametrize(
    ("path", "order"), [("x.0", [4, 5, 1, 2, 3]), ("x.1", [3, 4, 5, 2, 1]), ("x.0.y", [1, 2, 3, 4, 5])]
)
def test_a_place_in_a_list_may_be_sorted_by(storage, path, order):
    storage.insert("things", add_ids([{"x": [1, [2]]}, {"x": [2, 3]}, {"x": [[1], []]}, {"x": []}, {}]))
    found = collect_ids(storage.find("things", {}, [], sort=[(path, 1), ("_id", 1)]))
    assert found == order


def test_a_number_in_the_path_of_a_sort_may_not_be_place_and_field(storage):
    storage.insert("things", add_ids([{"x": [{"1": 5}]}, {"x": [1, 2]}]))
    assert collect_ids(storage.find("things", {}, [], sort=[("x.1", 1)])) == [2, 1]
    storage.insert("things", [{"_id": 3, "x": [{"1": 5}, 2]}])
    with pytest.raises(StorageError):
        list(storage.find("things", {}, [], sort=[("x.1", 1)]))


def test_a_place_in_a_list_has_no_leading_zero_and_ascii_digits(storage):
    storage.insert("things", add_ids([{"x": [1, 9]}, {"x": [1, 8]}, {"x": [{"01": 7, "²": 7, "١": 7}]}]))
    for name in ("01", "²", "١"):
        assert collect_ids(storage.find("things", {}, [], sort=[(f"x.{name}", 1), ("_id", 1)])) == [1, 2, 3]
