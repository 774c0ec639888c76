"""Writes on MongoDB inside a transaction: plain commands refuse and tell what the driver's own methods do."""

from __future__ import annotations

from uuid import UUID

import pytest
from bson.binary import UuidRepresentation
from bson.codec_options import DEFAULT_CODEC_OPTIONS, TypeCodec, TypeRegistry

from gatewayfw.errors import DuplicateKey, StorageError, TooLarge
from gatewayfw.storage import Index, MongoStorage
from gatewayfw.testing.storage_suite.topic import LOCK

pytestmark = pytest.mark.mongo

BIG = "x" * 9 * 2**20
TAKEN = [
    lambda storage: storage.insert("things", [{"_id": 3, "n": 0}]),
    lambda storage: storage.insert("things", [{"_id": 3, "n": 0}, {"_id": 4, "n": 4}]),
    lambda storage: storage.update_one("things", {"_id": 2}, {"$set": {"n": 0}}, None),
    lambda storage: storage.update_many("things", {"_id": 2}, {"$set": {"n": 0}}),
    lambda storage: storage.update_each("things", [(2, {"$set": {"n": 0}})]),
    lambda storage: storage.update_each("things", [(2, {"$set": {"a": 1}}), (2, {"$set": {"n": 0}})]),
    lambda storage: storage.touch("things", {"_id": 2}, None, {"$set": {"n": 0}}, lock=LOCK),
    lambda storage: storage.touch_many("things", [1], [({"_id": 2}, {"$set": {"n": 0}})], lock=LOCK),
    lambda storage: storage.touch_many("things", [1], [({"_id": 2}, {"$set": {"n": 0}})] * 2, lock=LOCK),
]
LARGE = [
    lambda storage: storage.insert("things", [{"_id": 3, "a": "x" * 16 * 2**20}]),
    lambda storage: storage.insert("things", [{"_id": 3, "a": "x" * 60 * 2**20}]),
    lambda storage: storage.update_one("things", {"_id": 2}, {"$set": {"b": BIG}}, ["n"]),
    lambda storage: storage.update_many("things", {"_id": 2}, {"$set": {"b": BIG}}),
    lambda storage: storage.update_each("things", [(2, {"$set": {"b": BIG}})]),
    lambda storage: storage.touch("things", {"_id": 2}, ["n"], {"$set": {"b": BIG}}, lock=LOCK),
    lambda storage: storage.touch_many("things", [1], [({"_id": 2}, {"$set": {"b": BIG}})], lock=LOCK),
]
ODD = [
    lambda storage, value: storage.insert("things", [{"_id": 3, "a": value}]),
    lambda storage, value: storage.update_one("things", {"_id": 2}, {"$set": {"a": value}}, None),
    lambda storage, value: storage.update_many("things", {"_id": 2}, {"$set": {"a": value}}),
]


class Loud:
    """A text in capitals, as a type of its own."""

    def __init__(self, text):
        self.text = text

    def __eq__(self, other):
        return isinstance(other, Loud) and other.text == self.text

    __hash__ = None


class Shouting(TypeCodec):
    """Stores a `Loud` as a text, and makes one of every text."""

    python_type = Loud
    bson_type = str

    def transform_python(self, value):
        return value.text.upper()

    def transform_bson(self, value):
        return Loud(value)


@pytest.fixture
def storage(mongo_database):
    """A storage on MongoDB with one document."""
    storage = MongoStorage(mongo_database)
    storage.insert("things", [{"_id": 1, "n": 0}])
    return storage


def whole(storage):
    found = storage.find("things", {}, sort=[("_id", 1)])
    return [{key: value for key, value in one.items() if key != "hidden"} for one in found]


@pytest.fixture
def two(storage):
    """A second document; no two may have the same ``n``."""
    storage.ensure("things", [Index((("n", 1),), {"unique": True})], 10)
    storage.insert("things", [{"_id": 2, "n": 2, "a": BIG}])
    return storage


def refused(storage, expected, write):
    """Check that a write fails as expected, first alone in a transaction, then after another one."""
    before = whole(storage)
    for first in (False, True):

        def work(first=first):
            if first:
                storage.update_many("things", {"_id": 1}, {"$set": {"x": 1}})
            write()

        with pytest.raises(expected) as caught:
            storage.transaction(work)
        assert (type(caught.value), whole(storage)) == (expected, before)


@pytest.mark.parametrize("write", TAKEN)
def test_a_taken_value_is_refused_in_a_transaction(two, write):
    refused(two, DuplicateKey, lambda: write(two))


@pytest.mark.parametrize("write", LARGE)
def test_what_is_too_large_is_refused_in_a_transaction(two, write):
    refused(two, TooLarge, lambda: write(two))


@pytest.mark.parametrize("value", ["\ud800", {"a\0": 1}, {1: 1}, 2**64], ids=["surrogate", "zero", "integer", "long"])
@pytest.mark.parametrize("write", ODD, ids=["insert", "update_one", "update_many"])
def test_what_bson_cannot_hold_is_refused_in_a_transaction(two, write, value):
    refused(two, StorageError, lambda: write(two, value))


def test_documents_that_are_large_together_are_stored_in_a_transaction(storage):
    storage.transaction(lambda: storage.insert("things", [{"_id": 2, "a": BIG}, {"_id": 3, "a": BIG}]))
    changes = [({"_id": id_}, {"$set": {"a": BIG + str(id_)}}) for id_ in (2, 3)]
    storage.transaction(lambda: storage.touch_many("things", [1], changes, lock=LOCK))
    storage.transaction(lambda: storage.touch_many("things", [], changes, lock=LOCK))
    storage.transaction(lambda: storage.update_each("things", [(2, {"$set": {"a": BIG}}), (3, {"$set": {"a": BIG}})]))
    assert [one.get("a") for one in whole(storage)] == [None, BIG, BIG]


def test_counting_in_a_transaction_ends_at_the_limit_and_sees_its_writes(storage):
    def work():
        storage.insert("things", [{"_id": number} for number in (2, 3, 4)])
        return [storage.count("things", {"_id": {"$gt": 1}}, limit) for limit in (0, 2, 5)] + [
            storage.count("things", {"_id": 9}),
            storage.count("nowhere", {}),
        ]

    assert storage.transaction(work) == [3, 2, 3, 0, 0]


def test_uuids_are_as_the_database_has_them_in_a_transaction(mongo_database):
    codec = DEFAULT_CODEC_OPTIONS.with_options(uuid_representation=UuidRepresentation.STANDARD)
    storage, id_ = MongoStorage(mongo_database.with_options(codec)), UUID(int=5)

    def work():
        storage.insert("things", [{"_id": id_, "a": id_}])
        storage.update_many("things", {"_id": id_}, {"$set": {"b": id_}})
        return storage.count("things", {"a": id_}), storage.update_one(
            "things", {"_id": id_}, {"$set": {"c": id_}}, None
        )

    assert storage.transaction(work) == (1, {"_id": id_, "a": id_, "b": id_, "c": id_})


def test_type_codecs_of_the_database_hold_in_a_transaction(mongo_database):
    codec = DEFAULT_CODEC_OPTIONS.with_options(type_registry=TypeRegistry([Shouting()]))
    storage = MongoStorage(mongo_database.with_options(codec))
    storage.insert("things", [{"_id": 1}])

    def work():
        storage.insert("things", [{"_id": 2, "a": Loud("x")}])
        storage.touch_many("things", [1], [({"_id": 1}, {"$set": {"a": Loud("y")}})], lock=LOCK)
        return storage.update_one("things", {"_id": 1}, {"$set": {"b": Loud("z")}}, ["a", "b"])

    assert storage.transaction(work) == {"_id": 1, "a": Loud("Y"), "b": Loud("Z")}
    assert [one["a"] for one in mongo_database.things.find().sort("_id")] == ["Y", "X"]
