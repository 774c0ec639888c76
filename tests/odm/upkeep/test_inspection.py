"""Documents as they are read and judged: in batches, after any id, with what they embed."""

from __future__ import annotations

import pytest
from bson import ObjectId, encode

from gatewayfw.odm.upkeep.inspection import Inspector
from gatewayfw.odm.upkeep.judgement import Fault
from gatewayfw.schemas import string


@pytest.fixture
def inspector(world):
    return Inspector(world.odm.schemas, world.storage)


@pytest.fixture
def damage(world):
    """A function that writes past the models; afterwards all is as it was."""
    undo = []

    def write(model, **values):
        (before,) = world.storage.find(model, {}, [name.split(".")[0] for name in values])
        undo.append((model, before))
        world.storage.update_many(model, {}, {"$set": values})

    yield write
    for model, before in undo:
        id_ = before.pop("_id")
        world.storage.update_many(model, {"_id": id_}, {"$set": before})


@pytest.fixture
def country(world):
    country = world.add_country("land")
    world.add_city("one", country)
    return country


def schema(world, name):
    return world.odm.schemas.get_schema(name)


def test_only_what_holds_copies_is_read(world, inspector):
    assert inspector.paths(schema(world, "city")) == ["country", "clubs", "trips", "latest", "_gw"]
    plain = world.odm.new_model("plain", {"name": string()})
    assert inspector.paths(plain.schema) == ["_gw"]


def test_a_batch_asks_for_its_paths_in_the_order_of_ids(world, inspector, country, asked, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.upkeep.inspection.BATCH", 2)
    calls = asked("find", of=world.storage)
    city = schema(world, "city")
    assert [len(batch) for batch in inspector.batches(city, country)] == [1]
    assert calls[0] == (
        "find",
        ("city", {"_id": {"$gt": country}}, ["country", "clubs", "trips", "latest", "_gw"]),
        {"sort": [("_id", 1)], "limit": 2},
    )


@pytest.mark.parametrize(("less", "sizes"), [(0, [3, 1]), (1, [2, 2])])
@pytest.mark.parametrize("bound", ["MOST_COPIES", "MOST_BYTES"])
def test_a_batch_ends_with_the_document_that_exceeds_a_bound(odm, monkeypatch, bound, less, sizes):
    """Each document has two copies."""
    shelf = odm.new_model("shelf", {"name": string()})
    book = odm.new_model("book", {"name": string()}, {"shelves": {"schemaName": "shelf", "type": "multiple"}})
    shelves = [shelf.insert_one({"name": name})["_id"] for name in "ab"]
    book.insert_many([{"name": "x"}] * 4, relations={"shelves": {"_ids": shelves}})
    inspector = Inspector(odm.schemas, odm.storage)
    ((first, second, _, _),) = inspector.batches(book.schema)
    of_two = {"MOST_COPIES": 4, "MOST_BYTES": len(encode(first)) + len(encode(second))}
    monkeypatch.setattr(f"gatewayfw.odm.upkeep.inspection.{bound}", of_two[bound] - less)
    assert [len(batch) for batch in inspector.batches(book.schema)] == sizes


def test_what_decides_about_a_document_is_read_with_it_and_nothing_else(world, inspector, country, asked):
    (batch,) = inspector.batches(schema(world, "city"))
    calls = asked("find", of=world.storage)
    assert inspector.suspects(schema(world, "city"), batch) == ([], [])
    ids = [one["_id"] for one in batch]
    assert calls == [
        ("find", ("country", {"_id": {"$in": [country]}}, ["_gw.v", "name", "population"]), {}),
        ("find", ("club", {"places._id": {"$in": ids}}, ["places._id"]), {"limit": 500}),
        ("find", ("trip", {"to._id": {"$in": ids}}, ["to._id"]), {"limit": 500}),
    ]


def test_all_documents_come_in_order_and_after_an_id_those_behind_it(world, inspector, country):
    other = world.add_country("else")
    read = [one["_id"] for batch in inspector.batches(schema(world, "country")) for one in batch]
    after = [one["_id"] for batch in inspector.batches(schema(world, "country"), country) for one in batch]
    assert (read, after) == ([country, other], [other])


def test_right_documents_are_no_suspects(world, inspector, country):
    (batch,) = inspector.batches(schema(world, "country"))
    assert inspector.suspects(schema(world, "country"), batch) == ([], [])


def test_a_wrong_window_is_suspected_and_reported(world, inspector, country, damage):
    damage("country", cities=[])
    (batch,) = inspector.batches(schema(world, "country"))
    assert inspector.suspects(schema(world, "country"), batch) == ([country], [])
    report = inspector.report(schema(world, "country"), batch[0])
    assert report.faults == [Fault("cities", "differs from its members")]
    assert {reverse.name: value for reverse, value in report.reverses.items()} == {"cities": None}


def test_a_wrong_copy_is_reported_with_what_it_should_be(world, inspector, country, damage):
    damage("city", **{"country.name": "old"})
    ((document,),) = inspector.batches(schema(world, "city"))
    (verdict,) = inspector.report(schema(world, "city"), document).verdicts.values()
    assert (verdict.copies, [one.path for one in verdict.faults]) == (
        [{"_id": country, "name": "land"}],
        [f"country.{country}"],
    )


def test_nothing_is_read_after_the_last(world, inspector, country):
    assert list(inspector.batches(schema(world, "country"), ObjectId("f" * 24))) == []
