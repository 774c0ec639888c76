"""The indexes that models need, compared with those there are."""

from __future__ import annotations

import sys

import pytest

from gatewayfw.odm import Odm
from gatewayfw.odm.jobs.records import COLLECTION, INDEXES
from gatewayfw.odm.upkeep.indexes import (
    IndexRow,
    compared,
    create_missing,
    index_report,
    listing_hints,
    wanted_indexes,
)
from gatewayfw.schemas import Schemas, date, number, object_, string
from gatewayfw.settings import Settings
from gatewayfw.storage import Index

A = (("a", 1),)
#: What MongoDB adds to a collation.
FILLED_IN = {"strength": 3, "caseLevel": False, "numericOrdering": False}


def states(rows):
    return [(row.state, row.reason) for row in rows]


@pytest.fixture
def small(storage):
    """An Odm that builds plain indexes at first use in collections of two documents at most."""
    odm = Odm(Schemas(Settings()), Settings(index_build_limit=2))
    odm.set_db(storage)
    define(odm)
    return odm


def define(odm):
    """A model with a unique and a plain index, and one that embeds it."""
    indexes = [{"indexSpec": {"name": 1}, "options": {"unique": True}}, {"indexSpec": {"size": -1}}]
    odm.new_model("land", {"name": string(), "size": number()}, options={"createIndex": indexes})
    odm.new_model("city", {"name": string()}, {"land": {"schemaName": "land", "type": "single"}})


def report(odm):
    """The rows by collection and keys, with state and reason."""
    rows = index_report(odm.schemas, odm.storage)
    return {(row.collection, *dict(row.keys)): (row.state, row.reason) for row in rows}


def test_an_index_that_is_there_is_present():
    wanted, present = Index(A, {"unique": True}), Index(A, {"name": "a_1", "unique": True})
    assert compared("things", [wanted], [present]) == [
        IndexRow("things", A, "present", {"unique": True}, {"name": "a_1", "unique": True})
    ]


def test_an_index_that_is_not_there_is_missing():
    assert compared("things", [Index(A)], [Index((("a", -1),))]) == [
        IndexRow("things", A, "missing", {}, None),
        IndexRow("things", (("a", -1),), "extra", None, {}),
    ]


@pytest.mark.parametrize(
    ("wanted", "present", "difference"),
    [
        ({"unique": True}, {}, "unique"),
        ({}, {"unique": True}, "unique"),
        ({}, {"sparse": True}, "sparse"),
        ({}, {"expireAfterSeconds": 0}, "expireAfterSeconds"),
        ({"expireAfterSeconds": 1}, {"expireAfterSeconds": 2}, "expireAfterSeconds"),
        ({"partialFilterExpression": {"b": 1}}, {}, "partialFilterExpression"),
        ({"collation": {"locale": "en"}}, {}, "collation"),
        ({}, {"collation": {"locale": "en"}}, "collation"),
        *(
            ({"collation": {"locale": "en"}}, {"collation": {"locale": "en", **FILLED_IN, key: value}}, "collation")
            for key, value in {"strength": 2, "caseLevel": True, "numericOrdering": True, "locale": "de"}.items()
        ),
        ({"collation": {"locale": "en", "strength": 2}}, {"collation": {"locale": "en", **FILLED_IN}}, "collation"),
        ({"name": "x"}, {"name": "a_1"}, "name"),
        ({"unique": True, "name": "x"}, {"sparse": True, "name": "a_1"}, "unique, sparse, name"),
    ],
)
def test_other_options_differ(wanted, present, difference):
    assert states(compared("things", [Index(A, wanted)], [Index(A, present)])) == [("differs", f"other {difference}")]


@pytest.mark.parametrize(
    ("wanted", "present"),
    [
        ({"unique": False, "sparse": False}, {}),
        ({}, {"name": "anything", "hidden": True}),
        (
            {"collation": {"locale": "en"}},
            {"collation": {"locale": "en", **FILLED_IN, "version": "57"}},
        ),
    ],
    ids=["false is absent", "names and unknown options", "a collation filled in"],
)
def test_the_same_options_in_other_words_do_not_differ(wanted, present):
    assert states(compared("things", [Index(A, wanted)], [Index(A, present)])) == [("present", "")]


def test_of_several_with_the_same_keys_the_one_that_fits_is_taken():
    sparse, plain = Index(A, {"sparse": True}), Index(A)
    assert [(row.state, row.present) for row in compared("things", [plain], [sparse, plain])] == [
        ("present", {}),
        ("extra", {"sparse": True}),
    ]


@pytest.mark.parametrize(
    ("state", "fine"), [("present", True), ("extra", True), ("missing", False), ("differs", False)]
)
def test_an_index_is_fine_unless_it_is_wanted_and_not_there(state, fine):
    assert IndexRow("things", A, state).fine is fine


def test_a_row_has_the_options_of_both():
    rows = compared("things", [Index(A, {"unique": True})], [Index(A, {"sparse": True}), Index((("b", 1),), {"x": 1})])
    assert rows == [
        IndexRow("things", A, "differs", {"unique": True}, {"sparse": True}, "other unique, sparse"),
        IndexRow("things", (("b", 1),), "extra", None, {"x": 1}, ""),
    ]


def test_those_of_listings_have_the_room_that_is_left(odm):
    """A collection has room for 64, one of which is that on `_id`."""
    names = [f"f{number:02}" for number in range(60)]
    declared = [{"indexSpec": {name: 1}} for name in names]
    model = odm.new_model("log", {**dict.fromkeys(names, number()), "n": number()}, options={"createIndex": declared})
    listing = model.listing(filter=dict.fromkeys(names[:5], ["eq"]), sort=["n"])
    found = wanted_indexes(odm.schemas, model.schema)
    by_n = [(("n", 1), ("_id", 1)), *(((name, 1), ("n", 1), ("_id", 1)) for name in names[:2])]
    assert [index.keys for index in found[60:]] == by_n
    assert list(listing_hints(odm.schemas, model.schema)) == [
        f"{listing.declaration.where}: no index on {name}, n, _id; a collection has at most 64" for name in names[2:5]
    ]


def test_a_report_names_all_and_creates_nothing(small, storage):
    expected = {
        ("land", "name"): ("missing", ""),
        ("land", "size", "_id"): ("missing", ""),
        ("city", "land._id", "_id"): ("missing", ""),
    }
    found = [{key: row for key, row in report(small).items() if key[0] != COLLECTION} for _ in range(2)]
    assert found == [expected, expected]
    assert [storage.indexes(name) for name in ("land", "city", COLLECTION)] == [[], [], []]


def test_indexes_of_jobs_are_wanted_where_there_are_jobs(small, storage):
    wanted = {(COLLECTION, *dict(index.keys)) for index in INDEXES}
    assert {key for key in report(small) if key[0] == COLLECTION} == (wanted if storage.multi_process else set())


def test_missing_ones_are_created_in_large_collections_too(small, storage):
    storage.insert("land", [{"_id": number, "name": str(number)} for number in range(3)])
    begun = []
    rows = create_missing(small.schemas, storage, on_progress=lambda row: begun.append((row.collection, row.keys)))
    assert {(row.state, row.reason) for row in rows} == {("present", "")}
    assert [(name, keys) for name, keys in begun if name != COLLECTION] == [
        ("land", (("name", 1),)),
        ("land", (("size", -1), ("_id", -1))),
        ("city", (("land._id", 1), ("_id", 1))),
    ]
    assert {index.keys for index in storage.indexes("land")} == {(("name", 1),), (("size", -1), ("_id", -1))}


def test_what_cannot_be_created_is_missing_with_the_reason_and_the_rest_is_created(small, storage):
    storage.insert("land", [{"_id": 1, "name": "x"}, {"_id": 2, "name": "x"}])
    reason = "land: index {'name': 1} cannot be built: two documents share a value"
    rows = create_missing(small.schemas, storage)
    assert [(row.keys, row.state, row.reason) for row in rows if row.collection == "land"] == [
        ((("name", 1),), "missing", reason),
        ((("size", -1), ("_id", -1)), "present", ""),
    ]


def test_all_reasons_are_told_of_an_index_that_is_built_however_large_its_collection_is(small, storage):
    limits = []
    storage.ensure = lambda name, indexes, limit: limits.append(limit) or [f"no {name}", "no room"]
    rows = create_missing(small.schemas, storage)
    assert {row.reason for row in rows if row.collection == "land"} == {"no land; no room"}
    assert set(limits) == {sys.maxsize}


def test_one_that_somebody_drops_meanwhile_is_missing_without_a_reason(small, storage):
    storage.ensure("land", [Index((("name", 1),), {"unique": True}), Index((("size", -1), ("_id", -1)))], 10)
    indexes, looked = storage.indexes, []
    storage.indexes = lambda name: [] if looked.append(name) or looked.count(name) > 1 else indexes(name)
    rows = create_missing(small.schemas, storage)
    assert states(row for row in rows if row.collection == "land") == [("missing", ""), ("missing", "")]


def test_creating_never_changes_or_drops(small, storage):
    storage.ensure("land", [Index((("name", 1),)), Index((("old", 1),))], 10)
    before = storage.indexes("land")
    rows = create_missing(small.schemas, storage)
    assert states(row for row in rows if row.collection == "land") == [
        ("differs", "other unique"),
        ("present", ""),
        ("extra", ""),
    ]
    assert [index for index in storage.indexes("land") if index in before] == before


def test_first_use_builds_only_unique_indexes_on_a_large_collection(small, storage):
    storage.insert("land", [{"_id": number, "name": str(number)} for number in range(3)])
    assert small.model("land").count() == 3
    assert [report(small)[key][0] for key in [("land", "name"), ("land", "size", "_id")]] == ["present", "missing"]
    assert small.ready() == ["land: index {'size': -1, '_id': -1} is missing; the collection is large"]


def test_first_use_builds_all_in_a_small_collection(small, storage):
    storage.insert("land", [{"_id": number, "name": str(number)} for number in range(2)])
    assert small.model("land").count() == 2
    assert small.ready() == []


def test_first_use_inside_a_transaction_builds_before_it_begins(small, storage, monkeypatch):
    inside, built = [], []
    ensure = type(storage).ensure
    monkeypatch.setattr(
        type(storage), "ensure", lambda self, *given: built.append(bool(inside)) or ensure(self, *given)
    )

    def add():
        inside.append(True)
        id_ = small.model("land").insert_one(doc={"name": "x", "size": 1})["_id"]
        return small.model("city").insert_one(doc={"name": "y"}, relations={"land": {"_ids": id_}})

    assert small.transaction(add)["name"] == "y"
    assert set(built) == {False}
    assert {state for state, _ in report(small).values()} == {"present"}


def test_wanted_indexes_of_a_model_without_relations_are_its_own(small):
    assert [
        (index.keys, index.unique) for index in wanted_indexes(small.schemas, small.schemas.get_schema("land"))
    ] == [
        ((("name", 1),), True),
        ((("size", -1), ("_id", -1)), False),
    ]


BUILT_BEFORE = "without _id: pages sorted by it read all that match"


@pytest.mark.parametrize(
    ("keys", "options", "wanted"),
    [
        ({"n": 1}, {}, (("n", 1), ("_id", 1))),
        ({"n": -1}, {"unique": False, "sparse": False, "name": "own"}, (("n", -1), ("_id", -1))),
        ({"o.n": 1}, {}, (("o.n", 1), ("_id", 1))),
        ({"n": 1}, {"unique": True}, (("n", 1),)),
        ({"n": 1}, {"sparse": True}, (("n", 1),)),
        ({"at": 1}, {"expireAfterSeconds": 0}, (("at", 1),)),
        ({"n": 1}, {"partialFilterExpression": {"n": {"$gt": 1}}}, (("n", 1),)),
        ({"n": 1}, {"collation": {"locale": "en"}}, (("n", 1),)),
        ({"n": 1, "m": 1}, {}, (("n", 1), ("m", 1))),
        ({"_id": 1}, {}, (("_id", 1),)),
    ],
    ids=str,
)
def test_a_plain_index_on_one_field_gets_the_id_as_last_key(odm, keys, options, wanted):
    fields = {"n": number(), "m": number(), "at": date(), "o": object_()}
    model = odm.new_model("log", fields, options={"createIndex": {"indexSpec": keys, "options": options}})
    assert [(index.keys, dict(index.options)) for index in wanted_indexes(odm.schemas, model.schema)] == [
        (wanted, options)
    ]


def test_an_index_declared_with_and_without_the_id_stays_as_declared(odm):
    declared = [{"indexSpec": {"n": 1}}, {"indexSpec": {"n": 1, "_id": 1}, "options": {"unique": True}}]
    model = odm.new_model("log", {"n": number()}, options={"createIndex": declared})
    assert [(index.keys, index.unique) for index in wanted_indexes(odm.schemas, model.schema)] == [
        ((("n", 1),), False),
        ((("n", 1), ("_id", 1)), True),
    ]


def test_an_index_of_a_relation_is_wanted_once(odm):
    odm.new_model("land", {"name": string()})
    city = odm.new_model(
        "city",
        {"name": string()},
        {"land": {"schemaName": "land", "type": "single"}},
        {"createIndex": {"indexSpec": {"land._id": 1}}},
    )
    assert [index.keys for index in wanted_indexes(odm.schemas, city.schema)] == [(("land._id", 1), ("_id", 1))]


def test_one_that_is_there_as_declared_is_present(small, storage):
    storage.ensure("land", [Index((("size", -1),))], 10)
    assert small.model("land").count() == 0
    assert small.ready() == []
    assert report(small)["land", "size"] == ("present", BUILT_BEFORE)
    rows = [row for row in create_missing(small.schemas, storage) if row.collection == "land"]
    assert [(row.keys, row.state, row.reason) for row in rows] == [
        ((("name", 1),), "present", ""),
        ((("size", -1),), "present", BUILT_BEFORE),
    ]
    assert {index.keys for index in storage.indexes("land")} == {(("name", 1),), (("size", -1),)}


def test_one_that_is_there_both_ways_may_be_dropped():
    wanted = Index((*A, ("_id", 1)), instead=A)
    rows = compared("things", [wanted], [Index(A), Index(wanted.keys)])
    assert [(row.keys, row.state, row.reason) for row in rows] == [(wanted.keys, "present", ""), (A, "extra", "")]


def test_one_with_the_declared_keys_and_other_options_differs():
    rows = compared("things", [Index((*A, ("_id", 1)), instead=A)], [Index(A, {"sparse": True})])
    assert [(row.keys, row.state, row.reason) for row in rows] == [(A, "differs", "other sparse")]
