"""Random writes under random indexes end alike on both adapters, and so does what is shown of them."""

from __future__ import annotations

import mongomock
import pytest
from bson import DatetimeMS
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.errors import DefinitionError, DuplicateKey, StorageError
from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.order import TYPE_NAMES
from gatewayfw.storage.terms import Index
from tests.examples import examples
from tests.storage.searches import PATHS, documents, scalars, values

_paths = st.sampled_from(["a", "a", "d", *PATHS, "a.1.b", "a.01"])
_comparisons = st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$eq"]), scalars).map(lambda pair: dict([pair]))
_conditions = st.one_of(
    _comparisons,
    scalars,
    st.just({"$exists": True}),
    st.builds(lambda name: {"$type": name}, st.sampled_from(sorted(TYPE_NAMES))),
    st.builds(lambda some: {"$in": some}, st.lists(scalars, max_size=2)),
)
_partial = st.dictionaries(st.sampled_from("ad"), _conditions, min_size=1, max_size=2)
_COLLATION = {"collation": {"locale": "en", "strength": 2}}
_options = st.one_of(
    st.sampled_from([{}, {"sparse": True}, {}, {"sparse": True}, _COLLATION]),
    st.builds(lambda filter: {"partialFilterExpression": filter}, _partial),
)
_indexes = st.builds(
    lambda paths, options, unique: Index(tuple((path, 1) for path in paths), {"unique": unique, **options}),
    st.lists(_paths, min_size=1, max_size=2, unique=True),
    _options,
    st.sampled_from([True, True, False]),
)
_values = values | st.lists(st.dictionaries(st.sampled_from("bc01"), scalars, max_size=2), max_size=3)
_writes = st.one_of(
    st.tuples(st.just("insert"), documents),
    st.tuples(
        st.integers(0, 3), st.builds(lambda name, value: {"$set": {name: value}}, st.sampled_from("ad"), _values)
    ),
    st.tuples(st.integers(0, 3), st.builds(lambda name: {"$unset": {name: ""}}, st.sampled_from("ad"))),
)


def outcome(storage, number, what, change):
    """What a write returns, or how it is refused."""
    try:
        if what == "insert":
            return storage.insert("things", [{"_id": number, **change}])
        return repr(storage.update_one("things", {"_id": what}, change, ()))
    except DuplicateKey as error:
        return error.fields
    except StorageError:
        return "refused"


@pytest.mark.mongo
@examples(80)
@given(
    st.lists(_indexes, min_size=1, max_size=2, unique_by=lambda index: index.keys),
    st.lists(_writes, min_size=3, max_size=8),
    st.lists(documents, max_size=3),
)
@example([Index((("a", 1),), {"unique": True, **_COLLATION})], [("insert", {"a": "a"}), ("insert", {"a": "A"})], [])
@example([Index((("a", 1),), {"unique": True})], [], [{"a": DatetimeMS(2**60)}] * 2)
def test_random_writes_are_refused_by_the_same_indexes(mongo_database, indexes, writes, first):
    ends = []
    for storage in (MockStorage(mongomock.MongoClient().test), MongoStorage(mongo_database)):
        mongo_database.things.drop()
        storage.insert("things", [{"_id": 10 + number, **one} for number, one in enumerate(first)])
        try:
            end = [[problem.rpartition(":")[0] for problem in storage.ensure("things", indexes, 10)]]
        except DefinitionError:  # memory does not know it, and says so
            return
        end += [outcome(storage, number, what, change) for number, (what, change) in enumerate(writes)]
        end.append([repr(one) for one in storage.find("things", {}, sort=[("_id", 1)])])
        ends.append(end)
    assert ends[0] == ends[1]


#: Fields of which none holds another, as the core asks for them.
_fields = st.lists(st.sampled_from(PATHS[:4]), unique_by=lambda path: path[0], max_size=2)


@pytest.mark.mongo
@examples(50)
@given(st.lists(documents, min_size=1, max_size=6), _fields)
def test_random_fields_of_random_documents_are_shown_alike(mongo_database, found, fields):
    shown = []
    for storage in (MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)):
        storage.delete_many("things", {})
        storage.insert("things", [{"_id": number, **document} for number, document in enumerate(found)])
        shown.append([repr(one) for one in storage.find("things", {}, fields, sort=[("_id", 1)])])
    assert shown[1] == shown[0]
