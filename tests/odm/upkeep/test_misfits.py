"""What does not fit its model is found in groups, and each run is noted."""

from __future__ import annotations

import json
import tracemalloc
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from bson import Binary, Decimal128, ObjectId
from bson.binary import UuidRepresentation
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw import array, date, decimal, integer, mapping, number, object_, optional, string, uuid
from gatewayfw.errors import NotFound, StorageError, UsageError, ValidationError
from gatewayfw.odm import Misfits, Place
from gatewayfw.odm.notes import STATE
from gatewayfw.odm.upkeep import inspection
from gatewayfw.odm.upkeep.misfits import Fitting, Groups, read_fit_notes
from tests.examples import examples
from tests.strategies import objects

A, B, C = (ObjectId(f"65a00000000000000000000{number}") for number in (1, 2, 3))
COPY = {"_id": C, "name": "x"}


@pytest.fixture
def shop(odm):
    """An Odm of items with all sorts of fields, of their owners, and of tags."""
    odm.new_model("owner", {"name": string(size=(1, 20))})
    odm.new_model(
        "item",
        {
            "price": decimal(places=2),
            "key": optional(uuid()),
            "tags": optional(array(string())),
            "marks": optional(mapping(integer())),
            "place": optional(object_({"street": string(), "since": optional(date())})),
        },
        {
            "owner": {
                "schemaName": "owner",
                "type": "single",
                "relatedRelations": {"items": {"type": "multiple"}, "first": {"type": "single"}},
            },
            "lenders": {"schemaName": "owner", "type": "multiple", "optional": True, "relatedRelations": {}},
        },
    )
    return odm


RIGHT = {"_id": A, "price": Decimal128("1.20"), "owner": COPY}
WRONG = {
    "nothing": ({}, set()),
    "undeclared names": ({"legacy": 5, "place": {"street": "a", "zip": 5}}, set()),
    "a float under a decimal": ({"price": 1.2}, {("price", "double")}),
    "too few places": ({"price": Decimal128("1.2")}, {("price", "decimal (not allowed)")}),
    "null": ({"price": None}, {("price", "null")}),
    "an old UUID": (
        {"key": Binary.from_uuid(UUID(int=1), UuidRepresentation.JAVA_LEGACY)},
        {("key", "binData (subtype 3)")},
    ),
    "elements": ({"tags": ["a", 5, 6, None]}, {("tags.[]", "int"), ("tags.[]", "null")}),
    "values of a map": ({"marks": {"a": 1, "b": "2", "c": "3"}}, {("marks.*", "string")}),
    "parts": (
        {"place": {"since": "2026-01-01"}},
        {("place.street", "missing"), ("place.since", "string")},
    ),
    "an object as text": ({"place": "a"}, {("place", "string")}),
    "another _id": ({"_id": "a"}, {("_id", "string")}),
    "a list for one": ({"owner": [COPY]}, {("owner", "array")}),
    "one for a list": ({"lenders": COPY}, {("lenders", "object")}),
    "no copies": (
        {"lenders": [COPY, 5, {"_id": "a"}, {}]},
        {("lenders.[]", "int"), ("lenders.[]._id", "string"), ("lenders.[]._id", "missing")},
    ),
    "a copy without _id": ({"owner": {"name": "x"}}, {("owner._id", "missing")}),
    "a relation that is null": ({"owner": None, "lenders": None}, {("owner", "null"), ("lenders", "null")}),
    "an empty list": ({"lenders": []}, set()),
}


@pytest.mark.parametrize(("change", "found"), WRONG.values(), ids=WRONG)
def test_each_misfit_is_found_alone(shop, change, found):
    schema = shop.schemas.get_schema("item")
    shop.storage.insert("item", [{**RIGHT, **change}])
    (stored,) = shop.storage.find("item", {})
    assert Fitting(shop.schemas, schema).misfits(stored) == found


def test_what_is_required_is_missed(shop):
    fitting = Fitting(shop.schemas, shop.schemas.get_schema("item"))
    assert fitting.misfits({"_id": A}) == {("price", "missing"), ("owner", "missing")}


def test_windows_have_their_form_or_are_absent(shop):
    fitting = Fitting(shop.schemas, shop.schemas.get_schema("owner"))
    assert fitting.misfits({"_id": A, "name": "a", "items": [COPY], "first": COPY}) == set()
    assert fitting.misfits({"_id": A, "name": "a", "items": COPY, "first": [COPY]}) == {
        ("items", "object"),
        ("first", "array"),
    }


def test_groups_count_documents_and_name_three():
    groups = Groups("item", [Misfits("item", "price", "double", 2, (A, B)), Misfits("owner", "name", "int", 1, (C,))])
    for id_ in (C, "d"):
        groups.add(id_, {("price", "double")})
    groups.add("e", {("_id", "string")})
    assert groups.all() == [
        Misfits("item", "_id", "string", 1, ("e",)),
        Misfits("item", "price", "double", 4, (A, B, C)),
    ]


@pytest.fixture
def dirty(shop, monkeypatch):
    """Seven items in small batches, of which some do not fit, and an owner that does."""
    monkeypatch.setattr(inspection, "BATCH", 2)
    items = [{**RIGHT, "_id": ObjectId(), "price": price} for price in (1.5, 2.5, Decimal128("1.00"), "3", 4.5, 5.5)]
    shop.storage.insert("item", [*items, {**RIGHT, "_id": "text"}])
    shop.storage.insert("owner", [{"_id": C, "name": "x"}])
    shop.found = [
        Misfits("item", "_id", "string", 1, ("text",)),
        Misfits("item", "price", "double", 4, tuple(items[place]["_id"] for place in (0, 1, 4))),
        Misfits("item", "price", "string", 1, (items[3]["_id"],)),
    ]
    return shop


def test_all_models_are_read_or_one(dirty):
    assert list(dirty.integrity.misfits()) == dirty.found
    assert list(dirty.integrity.misfits("item")) == dirty.found
    assert list(dirty.integrity.misfits("owner")) == []


def test_nothing_is_changed_but_the_note(dirty):
    before = [list(dirty.storage.find(name, {})) for name in ("item", "owner")]
    list(dirty.integrity.misfits())
    assert [list(dirty.storage.find(name, {})) for name in ("item", "owner")] == before


def test_a_run_goes_on_after_any_batch(dirty):
    steps = []
    list(dirty.integrity.misfits(on_progress=lambda place, found: steps.append((asdict(place), found))))
    assert [(place["model"], place["done"], place["total"]) for place, _ in steps] == [
        ("owner", 1, 8),
        *[("item", done, 8) for done in (3, 5, 7, 8)],
    ]
    for place, known in steps:
        again = Place(**json.loads(json.dumps(place)))
        assert list(dirty.integrity.misfits(after=again, known=known)) == dirty.found


def test_an_unknown_model_and_a_transaction_are_refused(dirty):
    with pytest.raises(NotFound, match="itme"):
        next(dirty.integrity.misfits("itme"))
    place = Place("owner", json.dumps({"$oid": str(C)}), 1, 8)
    with pytest.raises(UsageError, match="the place is in model 'owner'"):
        next(dirty.integrity.misfits("item", after=place))
    with pytest.raises(UsageError, match="not inside a transaction"):
        dirty.transaction(lambda: next(dirty.integrity.misfits()))


def read(odm):
    return read_fit_notes(odm.schemas, odm.storage)


def told(odm):
    return {name: note.misfits for name, note in read(odm).items()}


def test_each_run_is_noted_by_model(dirty):
    assert told(dirty) == {}
    list(dirty.integrity.misfits("item"))
    assert told(dirty) == {"item": 6}
    list(dirty.integrity.misfits())
    assert told(dirty) == {"item": 6, "owner": 0}
    assert datetime.now(UTC).replace(tzinfo=None) - read(dirty)["item"].at < timedelta(minutes=5)


def test_a_run_that_was_not_finished_is_not_noted(dirty):
    next(dirty.integrity.misfits(on_progress=lambda place, found: None))
    assert told(dirty) == {"owner": 0, "item": 6}  # a model is noted before its groups are given
    dirty.storage.delete_many(STATE, {})

    def stop(place, found):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(dirty.integrity.misfits("item", on_progress=stop))
    assert told(dirty) == {}


def test_a_note_that_cannot_be_written_is_left_out(dirty, monkeypatch):
    def refuse(*_):
        raise StorageError("read only")

    monkeypatch.setattr("gatewayfw.odm.upkeep.integrity.write_fit_note", refuse)
    assert list(dirty.integrity.misfits()) == dirty.found


def test_a_changed_model_has_no_note(dirty, odm_on):
    list(dirty.integrity.misfits())
    other = odm_on(dirty.storage)
    other.new_model("owner", {"name": string(size=(1, 30))})
    assert told(other) == {}
    same = odm_on(dirty.storage)
    same.new_model("tag", {"n": number()})
    assert told(same) == {}


@pytest.mark.parametrize("stored", [{}, {"models": 5}, {"models": {"item": 5, "owner": {"at": 5}}}], ids=str)
def test_a_strange_note_is_none(shop, stored):
    shop.storage.insert(STATE, [{"_id": "misfits", **stored}])
    assert told(shop) == {}


@given(st.data())
@examples(30)
def test_what_operations_store_fits(odm_on, storage, data):
    odm, kind = odm_on(storage), data.draw(objects())
    storage.delete_many("thing", {})
    thing = odm.new_model("thing", {"v": kind.field})
    id_ = _stored(lambda: thing.insert_one({"v": data.draw(kind.valid)}, projection={"_id": 1})["_id"])
    _stored(lambda: thing.find_one_and_update({"_id": id_ or A}, {"$set": {"v": data.draw(kind.valid | kind.near)}}))
    assert list(odm.integrity.misfits()) == []


def _stored(write):
    """What a write gives; None if a value is none that the database can hold."""
    with suppress(ValidationError):
        return write()


@pytest.mark.mongo
def test_only_a_batch_of_documents_is_in_memory(odm_on, mongo_database):
    odm = odm_on(mongo_database)
    odm.new_model("item", {"name": string(), "price": decimal(places=2), "n": integer(), "tags": array(string())})
    price = Decimal128("12.50")
    mongo_database.item.insert_many([{"name": f"{n}", "price": price, "n": n, "tags": ["a"]} for n in range(10_000)])
    tracemalloc.start()
    try:
        assert list(odm.integrity.misfits()) == []
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
