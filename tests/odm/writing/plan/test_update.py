"""What an update writes itself, and what it leaves to jobs."""

from __future__ import annotations

import pytest
from bson import Decimal128

from gatewayfw.errors import TooLarge, ValidationError
from gatewayfw.odm.writing.plan.attempt import Attempt, CopyCounts, abilities_of
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.update import check_result, find_corrections, update
from gatewayfw.odm.writing.updates import stored_update
from gatewayfw.schemas import Schemas, any_, array, integer, object_, optional, string
from gatewayfw.schemas.fields import decimal
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from tests.odm.noted import note_commands
from tests.odm.towns import (
    BOB,
    LAND,
    ROME,
    V,
)


@pytest.mark.parametrize(
    ("limit", "model", "id_", "left", "jobs"),
    [
        (3, "land", LAND, 0, 0),
        (2, "land", LAND, 1, 1),
        (0, "land", LAND, 0, 2),
        (9, "town", ROME, 7, 0),
        (1, "town", ROME, 0, 1),
        (9, "guest", BOB, 9, 0),
    ],
)
@pytest.mark.mongo
def test_an_update_spends_the_copies_and_windows_that_it_writes(towns, limit, model, id_, left, jobs):
    towns = towns()
    schema, known = towns.odm.schemas.get_schema(model), CopyCounts()
    change = stored_update(schema, {"$set": {"name": "new"}})

    def spend():
        attempt = Attempt(towns.odm.schemas, abilities_of(towns.storage), limit, counts=known)
        plan = update(attempt, schema, {"_id": id_}, change, ["name"])
        towns.storage.transaction(lambda: apply(towns.storage, plan))
        for relation, source, met in attempt.renewed:
            known.note(relation, source, met)
        return attempt.limit, len(attempt.jobs)

    assert (spend(), spend()) == ((left, jobs), (left, jobs))


@pytest.mark.mongo
def test_a_correction_reads_no_more_than_its_update(odm_on, mongo_database):
    odm = odm_on(mongo_database)
    shop = odm.new_model("shop", {"x": optional(decimal(places=2))})
    back = {"schemaName": "shop", "type": "single", "relatedRelations": {"offers": {"type": "multiple"}}}
    odm.new_model("offer", {}, {"shop": back})
    id_ = shop.insert_one({})["_id"]
    commands = note_commands(odm.storage)
    shop.find_one_and_update({"_id": id_}, {"$mul": {"x": 2}}, projection={"x": 1})
    updates = [command for command in commands if command[0] == "update_one"]
    assert updates == [
        (
            "update_one",
            "shop",
            {"_id": id_},
            {"$mul": {"x": Decimal128("2")}, "$inc": {"_gw.v": 1, "_gw.r": 1}},
            ["x", "_gw"],
        ),
        ("update_one", "shop", {"_id": id_}, {"$set": {"x": Decimal128("0.00")}}, ["x", "_gw"]),
    ]


@pytest.mark.mongo
def test_without_transactions_copies_that_are_too_large_are_left_to_a_job(towns, monkeypatch):
    monkeypatch.setattr(MongoStorage, "has_transactions", lambda self: False)
    towns = towns()
    update_many = towns.storage.update_many

    def refuse(collection, *given, **keys):
        if collection == "town":
            raise TooLarge("x")
        return update_many(collection, *given, **keys)

    monkeypatch.setattr(towns.storage, "update_many", refuse)
    towns.land.find_one_and_update({"_id": LAND}, {"$set": {"name": "new"}}, projection={"name": 1})
    assert ("update_one", "land", {"_id": LAND}, {"$set": {"_gw.v": V}}, ["_gw"]) in towns.commands
    assert towns.jobs() == [("copies", LAND, "town.land", V, ())]


BEYOND = "The number would leave 64 bits."
FIELDS = {
    "i": optional(integer(minimum=0)),
    "d": optional(decimal(places=2)),
    "o": optional(object_({"d": optional(decimal(places=1)), "tags": optional(array(string()))})),
    "tags": array(string()),
    "free": optional(any_()),
}
THING = Schemas(Settings()).add("thing", FIELDS)


@pytest.mark.parametrize(
    ("update", "document", "errors"),
    [
        ({"$inc": {"i": 1}}, {"i": -1, "tags": []}, {"update.i": ["Must be greater than or equal to 0."]}),
        ({"$pull": {"tags": "a"}}, {}, {"update.tags": ["Missing data for required field."]}),
        ({"$set": {"i": 1}}, {}, {}),
        ({"$unset": {"i": ""}}, {}, {}),
        ({"$set": {"o.tags": ["a"]}}, {"o": {"tags": [5]}}, {"update.o.tags.0": ["Not a valid string."]}),
        ({"$inc": {"free.x": 1, "i": 1}}, {"free": {"x": 2**63}}, {"update.free.x": [BEYOND]}),
        ({"$inc": {"free.x": 1}}, {"free": {"x": -(2**63) - 1}}, {"update.free.x": [BEYOND]}),
        ({"$inc": {"free.x": 1}}, {"free": {"x": 2**63 - 1}}, {}),
        ({"$mul": {"free.x": 1}}, {"free": {"x": -(2**63)}}, {}),
        ({"$inc": {"free.x": 1}}, {"free": {"x": 1e300}}, {}),
    ],
    ids=str,
)
def test_what_operators_make_of_a_field_must_fit_it(update, document, errors):
    change, told = stored_update(THING, update), {}
    try:
        check_result(THING, change, document)
    except ValidationError as error:
        told = error.errors
    assert told == errors


def test_decimals_get_the_places_of_their_fields():
    change = stored_update(THING, {"$mul": {"d": 2, "o.d": 3}, "$inc": {"i": 1}})
    zeros = {"d": Decimal128("0"), "o": {"d": Decimal128("0.0")}, "i": 1}
    assert find_corrections(THING, change, zeros) == {"d": Decimal128("0.00")}
    with pytest.raises(ValidationError) as raised:
        find_corrections(THING, change, {**zeros, "d": Decimal128("0.001")})
    assert raised.value.errors == {"update.d": ["Must have at most 2 decimal places."]}
