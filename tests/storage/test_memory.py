"""What is particular to the storage on mongomock: its lock, its undo, its workarounds."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import mongomock
import pytest

from gatewayfw import Gateway
from gatewayfw.errors import DefinitionError, DuplicateKey, StorageError, Timeout, TooLarge
from gatewayfw.schemas import string
from gatewayfw.storage import Index, MockStorage
from gatewayfw.storage.documents import encode
from gatewayfw.testing.storage_suite.topic import LOCK


@pytest.fixture
def client():
    return mongomock.MongoClient()


@pytest.fixture
def storage(client):
    return MockStorage(client.test)


def whole(storage):
    return list(storage.find("things", {}, sort=[("_id", 1)]))


def waits(storage, other):
    """Whether another thread cannot use ``other`` during a transaction of ``storage``."""

    def use():
        with other.deadline(0.1):
            other.count("things", {})

    def work():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(use).exception()

    return isinstance(storage.transaction(work), Timeout)


def test_two_storages_on_one_client_exclude_each_other(client, storage):
    assert waits(storage, MockStorage(client.test))
    assert waits(storage, MockStorage(client.other))


def test_storages_on_two_clients_of_one_address_do_not(storage):
    assert not waits(storage, MockStorage(mongomock.MongoClient().test))


def test_clients_that_share_their_documents_exclude_each_other():
    store = mongomock.store.ServerStore()
    first, second = (MockStorage(mongomock.MongoClient(_store=store).test) for _ in range(2))
    assert waits(first, second)


def test_reads_wait_no_longer_than_the_deadline(storage):
    assert waits(storage, storage)
    assert not waits(MockStorage(mongomock.MongoClient().test), storage)


def test_one_process_must_serve_all_requests(storage):
    assert storage.multi_process is False
    assert storage.has_transactions() is True
    assert storage.name == "test"


@pytest.mark.parametrize(
    "write",
    [
        lambda storage: storage.insert("things", [{"_id": 9, "a": 1}]),
        lambda storage: storage.update_one("things", {"a": 1}, {"$set": {"b.c": 1}, "$unset": {"a": ""}}, None),
        lambda storage: storage.update_many("things", {}, {"$set": {"a": 5}, "$push": {"list": 1}}),
        lambda storage: storage.update_many("things", {"list._id": 2}, {"$set": {"list.$": {"_id": 7}}}),
        lambda storage: storage.update_each("things", [(1, {"$inc": {"a": 1}}), (2, {"$pull": {"list": {"_id": 2}}})]),
        lambda storage: storage.delete_many("things", {"a": {"$lt": 3}}),
        lambda storage: storage.touch("things", {"a": 1}, None, {"$set": {"b": 1}}, lock=LOCK),
        lambda storage: storage.touch_many(
            "things", [1], [({}, {"$inc": {"a": 1}}), ({}, {"$unset": {"list": ""}})], lock=LOCK
        ),
    ],
    ids=["insert", "update_one", "update_many", "positional", "update_each", "delete_many", "touch", "touch_many"],
)
def test_undo_restores_whole_documents(storage, write):
    storage.insert("things", [{"_id": 1, "a": 1}, {"_id": 2, "a": 2, "list": [{"_id": 2, "x": {"z": 1, "y": 2}}]}])
    before = repr(whole(storage))

    def fail():
        write(storage)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        storage.transaction(fail)
    assert repr(whole(storage)) == before


def test_undo_goes_backwards_over_writes_of_one_document(storage):
    storage.insert("things", [{"_id": 1, "a": 1}])

    def fail():
        storage.update_many("things", {}, {"$set": {"a": 2}})
        storage.delete_many("things", {})
        storage.insert("things", [{"_id": 1, "a": 3}])
        storage.update_many("things", {}, {"$set": {"a": 4}})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        storage.transaction(fail)
    assert whole(storage) == [{"_id": 1, "a": 1}]


def test_undo_is_not_in_the_way_of_a_unique_index(storage):
    storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
    storage.insert("things", [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])

    def fail():
        storage.update_many("things", {"_id": 2}, {"$set": {"a": 3}})
        storage.update_many("things", {"_id": 1}, {"$set": {"a": 2}})
        storage.delete_many("things", {"_id": 2})
        storage.insert("things", [{"_id": 3, "a": 1}])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        storage.transaction(fail)
    assert whole(storage) == [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}]


def test_a_write_that_fails_halfway_is_undone_without_a_transaction(storage):
    storage.ensure("things", [Index((("a", 1),), {"unique": True})], 10)
    storage.insert("things", [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])
    with pytest.raises(DuplicateKey):
        storage.update_many("things", {}, {"$set": {"a": 3}})
    assert whole(storage) == [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}]


class Compared(str):
    """An `_id` that notes what it is compared with, by equality."""

    others = ()

    def __eq__(self, other):
        self.others = (*self.others, other)
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_an_insert_looks_at_no_other_document(storage):
    known = Compared("a")
    storage.insert("things", [{"_id": known}])
    before = known.others
    storage.insert("things", [{"_id": "b"}])
    assert known.others == before


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"_id": 1, "a": 2}, DuplicateKey),
        ({"_id": 1, "a": object()}, StorageError),
        ({"_id": 3, "a": 1}, DuplicateKey),
        ({"_id": 3, "a": object()}, StorageError),
        ({"_id": 3, "a": [1]}, DuplicateKey),
    ],
    ids=["its _id", "its _id, and not BSON", "its field", "not BSON", "an element"],
)
@pytest.mark.parametrize("size", [1, 2], ids=["alone", "after another"])
def test_a_refused_insert_leaves_everything_as_it_was(storage, document, error, size):
    storage.ensure("things", [Index((("a", 1),), {"unique": True, "sparse": True})], 10)
    storage.insert("things", [{"_id": 1, "a": 1}])
    with pytest.raises(error):
        storage.insert("things", [{"_id": 2}, document][-size:])
    assert whole(storage) == [{"_id": 1, "a": 1}]


def test_a_document_may_be_as_large_as_it_may_be_and_no_larger(storage):
    storage.most_bytes = len(encode({"_id": 1, "a": "x" * 50}))
    storage.insert("things", [{"_id": 1, "a": "x" * 50}])
    storage.update_one("things", {}, {"$set": {"a": "y" * 50}}, None)
    for write in (
        lambda: storage.insert("things", [{"_id": 2, "a": "x" * 51}]),
        lambda: storage.update_one("things", {}, {"$set": {"a": "x" * 51}}, None),
        lambda: storage.update_many("things", {}, {"$push": {"b": 1}}),
    ):
        with pytest.raises(TooLarge, match="^the document would be too large$"):
            write()
    assert whole(storage) == [{"_id": 1, "a": "y" * 50}]


def test_an_index_that_would_not_do_what_it_does_on_mongodb_is_not_built(storage):
    index = Index((("a.b", 1),), {"expireAfterSeconds": 5})
    expected = ["things: index {'a.b': 1} cannot be built: mongomock knows no expireAfterSeconds below the top level"]
    assert (storage.ensure("things", [index], 10), storage.indexes("things")) == (expected, [])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"collation": {"locale": "en", "strength": 2}}, "mongomock knows no collation"),
        (
            {"partialFilterExpression": {"a": {"$type": 2}}},
            "partialFilterExpression: a: $type takes names of types, such as 'string' or 'objectId'",
        ),
    ],
    ids=lambda case: "",
)
def test_a_unique_index_that_would_refuse_nothing_is_an_error_at_each_use(client, options, reason):
    gateway = Gateway()
    gateway.odm.set_db(client.test, memory=True)
    index = {"indexSpec": {"a": 1}, "options": {"unique": True, **options}}
    model = gateway.odm.new_model("thing", {"a": string()}, options={"createIndex": index})
    expected = f"^thing: index {{'a': 1}} is not known in memory: {re.escape(reason)}; use a MongoDB$"
    for call in (lambda: model.insert_one({"a": "x"}), model.count):
        with pytest.raises(DefinitionError, match=expected):
            call()


@pytest.mark.parametrize("filter", [{"_id": {"$lt": 9}}, {"_id": {"$not": {"$gte": 9}}}])
def test_counting_stops_at_the_limit(filter, client):
    storage = MockStorage(client.test)
    storage.insert("things", [{"_id": number} for number in range(20)])
    assert [storage.count("things", filter, limit) for limit in (0, 1, 9, 10)] == [9, 1, 9, 9]


def test_touching_leaves_documents_clean(storage):
    storage.insert("things", [{"_id": 1}])
    storage.touch("things", {}, None, lock=LOCK)
    storage.touch_many("things", [1], lock=LOCK)
    assert whole(storage) == [{"_id": 1}]


def test_what_was_found_does_not_change_under_later_writes(storage):
    storage.insert("things", [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])
    found = storage.find("things", {}, sort=[("_id", 1)])
    storage.update_many("things", {}, {"$set": {"a": 9}})
    storage.delete_many("things", {"_id": 2})
    assert list(found) == [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}]


@pytest.mark.parametrize("drop", [lambda db: db.client.drop_database(db.name), lambda db: db.drop_collection("things")])
def test_a_collection_is_told_from_all_that_had_its_name_before(client, storage, drop):
    known = []
    for number in range(5):
        storage.insert("things", [{"_id": number}])
        assert storage.identities() == storage.identities()
        known.append(storage.identities()["things"])
        drop(client.test)
    assert all(one != other for one, other in pairwise(known))
