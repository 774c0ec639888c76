"""What mongomock keeps, and which of it is selected or refused."""

from __future__ import annotations

from collections import Counter

import pytest
from bson import Code, ObjectId

from gatewayfw.errors import DuplicateKey
from gatewayfw.storage.memory_store import MockCollection
from gatewayfw.storage.terms import Index

FIRST, SECOND = ObjectId("65a000000000000000000001"), ObjectId("65a000000000000000000002")


@pytest.fixture(params=["mongomock", "mongomock_ng"])
def database(request):
    return pytest.importorskip(request.param).MongoClient().test


@pytest.fixture
def things(database):
    return MockCollection(database, "things")


@pytest.mark.parametrize("id_", [1, "a", FIRST, {"b": [1], "c": {"d": 2}}], ids=str)
def test_a_document_is_kept_as_mongomock_keeps_it(database, things, id_):
    things.put({"_id": id_, "n": 1})
    assert list(database.things.find()) == [{"_id": id_, "n": 1}]
    things.put({"_id": id_, "n": 2})
    assert list(things.select({"_id": id_})) == [{"_id": id_, "n": 2}]
    assert things.has(id_) is True
    database.things.delete_one({"_id": id_})
    assert list(things.select({})) == []
    assert things.has(id_) is False


def test_a_document_with_an_object_as_id_is_removed(database, things):
    database.things.insert_one({"_id": {"b": 1}})
    things.remove({"b": 1})
    assert list(database.things.find()) == []


SEPARATE = [1, True, False, 0, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": True, "b": 2}, {"a": [{}]}, Code("a"), "a"]


def test_every_id_has_its_document_though_mongomock_takes_some_for_equal(database, things):
    for number, id_ in enumerate(SEPARATE):
        assert things.has(id_) is False
        things.put({"_id": id_, "n": number})
    for number, id_ in enumerate(SEPARATE):
        things.put({"_id": id_, "n": -number})
    assert [one["n"] for one in database.things.find()] == [-number for number in range(len(SEPARATE))]
    for id_ in SEPARATE:
        things.remove(id_)
    assert list(things.select({})) == []


@pytest.mark.parametrize("id_", [True, {"b": 1}, {"b": 1, "a": 2}, 1.5], ids=str)
def test_a_document_that_mongomock_inserted_is_replaced(database, things, id_):
    database.things.insert_one({"_id": id_})
    things.put({"_id": id_, "n": 1})
    assert list(database.things.find()) == [{"_id": id_, "n": 1}]


class Looked(dict):
    """A document that counts how often its name is asked for."""

    seen = Counter()

    def get(self, *names):
        self.seen["get"] += 1
        return super().get(*names)


@pytest.mark.parametrize("condition", [FIRST, {"$in": [FIRST]}, {"$in": [FIRST, FIRST], "$ne": SECOND}], ids=str)
def test_a_document_is_found_by_its_id_without_a_look_at_the_others(things, condition):
    things.put({"_id": FIRST, "n": 1})
    things.put(Looked({"_id": SECOND, "n": 1}))
    assert list(things.select({"n": 1, "_id": condition})) == [{"_id": FIRST, "n": 1}]
    assert Looked.seen == {}


@pytest.mark.parametrize(
    ("condition", "found"),
    [({"$in": [SECOND, 1, FIRST]}, [1, 2]), ({"$in": []}, []), ({"$in": ["x"]}, []), ({"$ne": FIRST}, [2]), (1, [])],
    ids=str,
)
def test_other_conditions_on_the_id_find_what_they_should(things, condition, found):
    for number, id_ in enumerate([FIRST, SECOND], 1):
        things.put({"_id": id_, "n": number})
    assert [one["n"] for one in things.select({"_id": condition})] == found


def unique(*names, **options):
    return Index(tuple((name, 1) for name in names), {"unique": True, **options})


def test_a_unique_index_refuses_what_has_an_entry_of_another_document(things):
    things.build(unique("a", "b"))
    things.put({"_id": 1, "a": 1, "b": 2})
    with pytest.raises(DuplicateKey) as caught:
        things.put({"_id": 2, "a": 1, "b": 2})
    assert caught.value.fields == ("a", "b")
    assert things.has(2) is False


def test_a_document_does_not_collide_with_what_it_was(things):
    things.build(unique("a"))
    before = {"_id": 1, "a": [1, 2]}
    things.put(before)
    things.put({"_id": 1, "a": [2, 3]}, before)
    assert list(things.select({})) == [{"_id": 1, "a": [2, 3]}]


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (Index((("a", 1),), {"name": "both"}), "another index has its name"),
        (unique("n"), "two documents share a value"),
        (unique("a", collation={"locale": "en", "strength": 2}), "mongomock knows no collation"),
    ],
    ids=lambda case: "",
)
def test_an_index_that_cannot_be_built_is_told_with_its_reason(things, index, reason):
    things.build(Index((("b", 1), ("c", -1)), {"name": "both"}))
    for id_ in (1, 2):
        things.put({"_id": id_, "n": [id_, 0]})
    before = things.indexes()
    assert (things.build(index), things.indexes()) == (reason, before)


def test_an_index_is_listed_as_it_was_given_and_known_to_mongomock(database, things):
    options = {"unique": True, "sparse": True, "partialFilterExpression": {"a": {"$exists": True}}}
    things.build(Index((("a", 1), ("b.c", -1)), options))
    assert things.indexes() == [Index((("a", 1), ("b.c", -1)), {"name": "a_1_b.c_-1", **options})]
    assert database.things.index_information()["a_1_b.c_-1"] == {"key": [("a", 1), ("b.c", -1)], "v": 2, **options}
