"""Documents with an `_id` of any type are stored, found, changed and refused alike on both adapters."""

from __future__ import annotations

import re

import mongomock
import pytest
from bson import DBRef, Decimal128, MaxKey, MinKey, Regex
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.errors import DuplicateKey, StorageError, UsageError
from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.subset import Rules
from tests.examples import examples
from tests.storage.searches import scalars

_more = st.sampled_from([DBRef("x", 1), DBRef("x", {"$y": 1}), Regex("a"), re.compile("a"), Regex("a", "i")])
_ids = st.recursive(
    scalars | _more,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "a.b", "$a", ""]), inner, max_size=2)
    ),
    max_leaves=4,
)
_orders = st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"])
_conditions = st.one_of(
    _ids,
    st.tuples(_orders, _ids).map(lambda pair: dict([pair])),
    st.builds(lambda some: {"$in": some}, st.lists(_ids, max_size=3)),
)


def can_ask(condition):
    """Whether filters may have a condition."""
    try:
        Rules().check_filter({"_id": condition})
    except UsageError:
        return False
    return True


def attempt(do, *given, **more):
    """What a call returns, or how it is refused."""
    try:
        return repr(do(*given, **more))
    except (DuplicateKey, StorageError) as error:
        return type(error).__name__


def play(storage, ids, conditions):
    """Insert, find, change and delete documents; yield what comes of each call."""

    def find(filter, sort="n"):
        return [one["n"] for one in storage.find("things", filter, sort=[(sort, 1)])]

    for n, one in enumerate(ids):
        yield attempt(storage.insert, "things", [{"_id": one, "n": n}])
    yield attempt(find, {}, "_id")
    for condition in conditions:
        yield [attempt(find, {path: condition}) for path in ("_id", "_id.a")]
    for one in filter(can_ask, ids):
        yield attempt(storage.update_one, "things", {"_id": one}, {"$inc": {"m": 1}}, None)
        yield attempt(storage.update_each, "things", [(one, {"$inc": {"m": 1}})])
    for one in filter(can_ask, ids[:1]):
        yield attempt(storage.delete_many, "things", {"_id": one})
    yield repr(list(storage.find("things", {}, sort=[("n", 1)])))


@pytest.mark.mongo
@examples(100)
@given(st.lists(_ids, min_size=1, max_size=4), st.lists(_conditions.filter(can_ask), max_size=4))
@example([1, True, 1.0, {"a": 1, "b": 2}, {"b": 2, "a": 1}], [True, {"a": 1, "b": 2}])
@example([True, 1, Decimal128("2"), 2, 2.0], [1, 2])
@example([float("nan"), float("nan"), [1], {"a": [{"$b": 1}]}], [float("nan")])
@example([{"b": float("nan")}, 1, None], [{"$gte": {"a": 1.5}}, {"$gt": MinKey()}, {"$lt": MaxKey()}])
def test_random_ids_are_stored_and_found_alike(mongo_database, ids, conditions):
    mongo_database.things.delete_many({})
    there = list(play(MongoStorage(mongo_database), ids, conditions))
    assert list(play(MockStorage(mongomock.MongoClient().test), ids, conditions)) == there
