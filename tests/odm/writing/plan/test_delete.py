"""Deletes: refused while others embed the document, or with all that need it."""

from __future__ import annotations

import pytest

from gatewayfw.errors import StillReferenced
from gatewayfw.odm.writing.plan.attempt import Attempt, abilities_of
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.schemas import Schemas, any_, optional, string
from gatewayfw.settings import Settings
from tests.odm.noted import note_commands
from tests.odm.towns import (
    ANN,
    BOB,
    BONN,
    BONN_COPY,
    LAND,
    LAND_COPY,
    LOCK,
    ROME,
    ROME_COPY,
    SEA,
    SEA_COPY,
    V,
    alone,
    asked,
    members,
)


@pytest.fixture
def country(world):
    """A country with two cities, and a visitor."""
    country = world.add_country("land")
    world.add_city("one", country)
    world.add_city("two", country)
    world.add_person("guest", {"visited": {"_ids": [country]}})
    return country


def test_a_document_that_others_embed_stays(world, country):
    before = world.digest()
    with pytest.raises(StillReferenced):
        world.country.delete_one(filter={"_id": country})
    assert world.digest() == before


def test_a_cascade_takes_those_that_need_it_and_frees_the_others(world, country):
    done = world.country.delete_one(filter={"_id": country}, hard_cascade=True)
    assert done["cascaded"] == {"city": 2}
    assert world.city.count() == 0
    assert world.person.count() == 1
    assert next(iter(world.person.find()))["visited"] == []


def test_nothing_matched_is_nothing_deleted(world, country):
    before = world.digest()
    done = world.country.delete_one(filter={"name": "sea"}, hard_cascade=True)
    assert (done["deletedCount"], world.digest()) == (0, before)


def test_an_embedding_document_leaves_the_windows_of_its_targets(world, country):
    world.city.delete_one(filter={"name": "two"})
    (found,) = world.country.find()
    assert [city["name"] for city in found["cities"]] == ["one"]


#: Where a transaction may write so many copies: a delete, its commands, and the jobs that it leaves.
ROWS = {
    "of a member": (
        3,
        lambda towns: towns.town.delete_one({"_id": BONN}),
        [
            ("touch", "town", {"_id": BONN}, ["land._id", "_gw"], {"lock": LOCK}),
            ("count", "guest", {"$or": [{"home._id": BONN}]}),
            asked("land", LAND, towns=[BONN], largest=[BONN]),
            ("delete_many", "town", {"_id": {"$in": [BONN]}}),
            ("update_many", "land", {"_id": {"$in": [LAND]}, **alone("capital", BONN)}, {"$unset": {"capital": ""}}),
            members("towns", LAND),
            members("largest", LAND),
            ("update_each", "land", [(LAND, {"$set": {"towns": [ROME_COPY], "largest": [ROME_COPY]}})]),
        ],
        [],
    ),
    "that is refused": (
        3,
        lambda towns: pytest.raises(StillReferenced, towns.land.delete_one, {"_id": LAND}),
        [
            ("touch", "land", {"_id": LAND}, ["_gw"], {"lock": LOCK}),
            ("count", "town", {"$or": [{"land._id": LAND}]}),
            ("count", "guest", {"$or": [{"visited._id": LAND}]}),
        ],
        [],
    ),
    "with holders that keep the rest": (
        3,
        lambda towns: towns.town.delete_one({"_id": ROME}, hard_cascade=True),
        [
            ("touch", "town", {"_id": ROME}, ["land._id", "_gw"], {"lock": LOCK}),
            ("find", "guest", {"home._id": {"$in": [ROME]}}, ["visited._id", "home._id", "_gw"], {"limit": 4}),
            asked("land", LAND, towns=[ROME], largest=[ROME]),
            ("delete_many", "town", {"_id": {"$in": [ROME]}}),
            ("update_each", "guest", [(ANN, {"$unset": {"home": ""}, "$inc": {"_gw.r": 1}})]),
            ("update_many", "land", {"_id": {"$in": [LAND]}, **alone("capital", ROME)}, {"$unset": {"capital": ""}}),
            members("towns", LAND),
            members("largest", LAND),
            ("update_each", "land", [(LAND, {"$set": {"towns": [BONN_COPY], "largest": [BONN_COPY]}})]),
        ],
        [],
    ),
    "with all that require it": (
        9,
        lambda towns: towns.land.delete_one({"_id": LAND}, hard_cascade=True),
        [
            ("touch", "land", {"_id": LAND}, ["_gw"], {"lock": LOCK}),
            ("find", "town", {"land._id": {"$in": [LAND]}}, ["land._id", "_gw"], {"limit": 10}),
            ("find", "guest", {"visited._id": {"$in": [LAND]}}, ["visited._id", "home._id", "_gw"], {"limit": 10}),
            ("touch_many", "town", [ROME, BONN], {"lock": LOCK}),
            ("find", "guest", {"home._id": {"$in": [ROME, BONN]}}, ["visited._id", "home._id", "_gw"], {"limit": 10}),
            ("delete_many", "land", {"_id": {"$in": [LAND]}}),
            ("delete_many", "town", {"_id": {"$in": [ROME, BONN]}}),
            (
                "update_each",
                "guest",
                [(ANN, {"$unset": {"visited": "", "home": "", "_gw.out": ""}, "$inc": {"_gw.r": 1}})],
            ),
        ],
        [],
    ),
    "whose windows are left to a job": (
        3,
        lambda towns: towns.land.delete_one({"_id": LAND}, hard_cascade=True),
        [
            ("touch", "land", {"_id": LAND}, ["_gw"], {"lock": LOCK}),
            ("find", "town", {"land._id": {"$in": [LAND]}}, ["land._id", "_gw"], {"limit": 4}),
            ("find", "guest", {"visited._id": {"$in": [LAND]}}, ["visited._id", "home._id", "_gw"], {"limit": 4}),
            ("touch_many", "town", [ROME, BONN], {"lock": LOCK}),
            ("find", "guest", {"home._id": {"$in": [ROME, BONN]}}, ["visited._id", "home._id", "_gw"], {"limit": 4}),
            ("delete_many", "land", {"_id": {"$in": [LAND]}}),
            ("delete_many", "town", {"_id": {"$in": [ROME, BONN]}}),
            (
                "update_each",
                "guest",
                [(ANN, {"$unset": {"visited": "", "home": "", "_gw.out": ""}, "$inc": {"_gw.r": 1}})],
            ),
        ],
        [("windows", LAND, "town.land", 0, (LAND,))],
    ),
    "whose holders are left to jobs": (
        1,
        lambda towns: towns.land.delete_one({"_id": LAND}, hard_cascade=True),
        [
            ("touch", "land", {"_id": LAND}, ["_gw"], {"lock": LOCK}),
            ("find", "town", {"land._id": {"$in": [LAND]}}, ["land._id", "_gw"], {"limit": 2}),
            ("delete_many", "land", {"_id": {"$in": [LAND]}}),
            ("count", "town", {"land._id": LAND}, 1),
            ("count", "guest", {"visited._id": LAND}, 1),
        ],
        [("removal", LAND, "guest.visited", V, ()), ("removal", LAND, "town.land", V, ())],
    ),
}


@pytest.mark.mongo
@pytest.mark.parametrize("row", ROWS)
def test_a_delete_asks_for_no_more_than_it_needs(towns, row):
    limit, delete, commands, jobs = ROWS[row]
    towns = towns(limit)
    delete(towns)
    assert (towns.commands, towns.jobs()) == (commands, jobs)


@pytest.mark.parametrize(
    ("limit", "left", "jobs"), [(9, 5, 0), (4, 0, 0), (3, 0, 1), (2, 2, 2)], ids=["far", "just", "windows", "holders"]
)
@pytest.mark.mongo
def test_a_cascade_spends_the_documents_and_windows_that_it_writes(towns, limit, left, jobs):
    towns = towns()
    attempt = Attempt(towns.odm.schemas, abilities_of(towns.storage), limit)
    plan = delete(attempt, towns.odm.schemas.get_schema("land"), {"_id": LAND}, cascade=True)
    done = towns.storage.transaction(lambda: apply(towns.storage, plan))
    assert done == ({} if limit == 2 else {"town": 2})
    assert attempt.limit == left
    assert len(attempt.jobs) == jobs


def test_a_delete_tells_the_keys_of_bytes_kept_elsewhere(storage):
    schemas = Schemas(Settings())
    schemas.add("user", {"photo": optional(any_())})
    schemas.add("file", {"key": optional(any_()), "name": string()}, {"of": {"schemaName": "user", "type": "single"}})
    schemas.bytes_keys.update({"user": "photo", "file": "key"})
    copy = {"_id": LAND}
    storage.insert("user", [{**copy, "photo": "a"}])
    storage.insert("file", [{"_id": id_, "of": copy, "key": key} for id_, key in ((ANN, "b"), (ROME, 5), (BONN, "c"))])
    storage.insert("file", [{"_id": SEA, "of": copy, "name": "no key"}])
    commands, attempt = note_commands(storage), Attempt(schemas, abilities_of(storage))
    done = apply(storage, delete(attempt, schemas.get_schema("user"), {"_id": LAND}, cascade=True))
    assert (done, attempt.freed) == ({"file": 4}, {"a", "b", "c"})
    assert commands[:2] == [
        ("touch", "user", {"_id": LAND}, ["_gw", "photo"], {"lock": LOCK}),
        ("find", "file", {"of._id": {"$in": [LAND]}}, ["of._id", "_gw", "key"]),
    ]


def test_a_document_that_requires_itself_goes_with_all_that_require_it(storage):
    schemas = Schemas(Settings())
    node = schemas.add("node", {}, {"next": {"schemaName": "node", "type": "single"}})
    storage.insert("node", [{"_id": id_, "next": {"_id": LAND}} for id_ in (LAND, SEA)])
    attempt = Attempt(schemas, abilities_of(storage))
    assert apply(storage, delete(attempt, node, {"_id": LAND}, cascade=True)) == {"node": 1}
    assert storage.count("node", {}) == 0


@pytest.mark.parametrize("held", [False, True])
def test_a_document_that_only_embeds_itself_is_deleted_without_a_cascade(storage, held):
    schemas = Schemas(Settings())
    node = schemas.add("node", {}, {"next": {"schemaName": "node", "type": "single"}})
    storage.insert("node", [{"_id": id_, "next": {"_id": LAND}} for id_ in ((LAND, SEA) if held else (LAND,))])
    attempt, told = Attempt(schemas, abilities_of(storage)), None
    try:
        done = apply(storage, delete(attempt, node, {"_id": LAND}, cascade=False))
    except StillReferenced as error:
        done, told = None, error.counts
    assert (done, told) == ((None, {"node": 1}) if held else ({}, None))


@pytest.mark.mongo
def test_a_cascade_pulls_one_of_several_copies(towns):
    towns = towns()
    towns.storage.update_one("guest", {"_id": BOB}, {"$set": {"visited": [LAND_COPY, SEA_COPY]}}, ())
    towns.land.delete_one({"_id": SEA}, hard_cascade=True)
    pulled = {"$pull": {"visited": {"_id": {"$in": [SEA]}}}, "$inc": {"_gw.r": 1}}
    assert towns.commands[-1] == ("update_each", "guest", [(BOB, pulled)])
