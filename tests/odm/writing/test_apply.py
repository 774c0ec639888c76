"""The commands of each operation: no write reads or locks more than it needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gatewayfw.errors import DuplicateKey
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.steps import apply
from tests.odm.towns import (
    ANN,
    ANN_COPY,
    BOB,
    BONN_COPY,
    LAND,
    LAND_COPY,
    LOCK,
    NEW,
    NEW_COPY,
    ROME,
    ROME_COPY,
    SEA,
    SEA_COPY,
    UNCUT,
    V,
    alone,
    asked,
    members,
    related,
)


def test_the_result_of_a_plan_is_returned(storage):
    def plan():
        yield steps.insert("book", [{"_id": 1}])
        return (yield steps.count("book", {}))

    assert apply(storage, plan()) == 1


def test_an_error_of_a_step_is_raised_in_the_plan(storage):
    def plan():
        yield steps.insert("book", [{"_id": 1}])
        try:
            yield steps.insert("book", [{"_id": 1}])
        except DuplicateKey:
            return "taken"

    assert apply(storage, plan()) == "taken"


def test_an_error_that_a_plan_does_not_expect_ends_it(storage):
    storage.insert("book", [{"_id": 1}])

    def plan():
        yield steps.insert("book", [{"_id": 1}])
        yield steps.insert("book", [{"_id": 2}])

    with pytest.raises(DuplicateKey):
        apply(storage, plan())
    assert storage.count("book", {}) == 1


# -- commands: no write reads or locks more than it needs

ALL = {"towns": True, "largest": True, "capital": True}
#: The update of a new name.
RENAMED = {"$set": {"name": "new"}, "$inc": {"_gw.v": 1, "_gw.r": 1}}
#: What a guest notes who opts out of some lists.
OPTED_OUT = {"_gw.some": {"visited": {"guests": True}}}


def rename(model, id_, projection=None):
    model.find_one_and_update({"_id": id_}, {"$set": {"name": "new"}}, projection=projection)


#: Writes, and the commands of each.
ROWS = {
    "insert into windows": (
        lambda towns: towns.town.insert_one({"name": "new"}, relations=related("land", LAND, **ALL)),
        [
            (
                "touch",
                "land",
                {
                    "_id": LAND,
                    "towns": {"$elemMatch": {"_id": {"$exists": True}}},
                    "towns._id": {"$nin": [NEW]},
                    "largest": {"$elemMatch": {"_id": {"$exists": True}}},
                    "largest._id": {"$nin": [NEW]},
                },
                ["_gw.v", "name"],
                {
                    "$push": {
                        "towns": {"$each": [NEW_COPY], "$sort": {"_id": -1}, "$slice": 3},
                        "largest": {"$each": [NEW_COPY], "$sort": {"size": -1, "_id": 1}, "$slice": 2},
                    },
                    "$set": {"capital": NEW_COPY},
                },
                {"lock": UNCUT},
            ),
            ("insert", "town", [{"_id": NEW, "name": "new", "land": LAND_COPY}]),
        ],
    ),
    "insert into empty windows": (
        lambda towns: towns.town.insert_one({"name": "new"}, relations=related("land", SEA, **ALL)),
        [
            (
                "touch",
                "land",
                {
                    "_id": SEA,
                    "towns": {"$elemMatch": {"_id": {"$exists": True}}},
                    "towns._id": {"$nin": [NEW]},
                    "largest": {"$elemMatch": {"_id": {"$exists": True}}},
                    "largest._id": {"$nin": [NEW]},
                },
                ["_gw.v", "name"],
                {
                    "$push": {
                        "towns": {"$each": [NEW_COPY], "$sort": {"_id": -1}, "$slice": 3},
                        "largest": {"$each": [NEW_COPY], "$sort": {"size": -1, "_id": 1}, "$slice": 2},
                    },
                    "$set": {"capital": NEW_COPY},
                },
                {"lock": UNCUT},
            ),
            (
                "touch",
                "land",
                {"_id": SEA},
                ["_gw.v", "name"],
                {"$set": {"towns": [NEW_COPY], "largest": [NEW_COPY]}},
                {"lock": UNCUT},
            ),
            ("insert", "town", [{"_id": NEW, "name": "new", "land": SEA_COPY}]),
            members("towns", SEA),
            members("largest", SEA),
            ("update_each", "land", [(SEA, {"$set": {"capital": NEW_COPY}})]),
        ],
    ),
    "insert of a chosen id": (
        lambda towns: towns.land.insert_one({"_id": NEW, "name": "new"}),
        [
            ("find", "deed", {"of._id": {"$in": [NEW]}}, ["of._id"], {"limit": 1}),
            ("insert", "land", [{"_id": NEW, "name": "new", "_gw": {"v": V, "rev": V, "r": V}}]),
        ],
    ),
    "insert of a chosen id into a window": (
        lambda towns: towns.town.insert_one({"_id": NEW, "name": "new"}, relations=related("land", LAND, towns=True)),
        [
            ("touch", "land", {"_id": LAND}, ["_gw.v", "name"], {"lock": UNCUT}),
            (
                "insert",
                "town",
                [
                    {
                        "_id": NEW,
                        "name": "new",
                        "land": LAND_COPY,
                        "_gw": {"v": V, "out": {"land": {"largest": [LAND]}}, "rev": V, "r": V},
                    }
                ],
            ),
            members("towns", LAND),
            ("update_each", "land", [(LAND, {"$set": {"towns": [NEW_COPY, BONN_COPY, ROME_COPY]}})]),
        ],
    ),
    "insert with sources in two models": (
        lambda towns: towns.guest.insert_one(
            {"name": "new"}, relations={**related("visited", [LAND, SEA], guests=True), **related("home", ROME)}
        ),
        [
            ("touch_many", "land", [LAND, SEA], {"lock": UNCUT}),
            ("find", "land", {"_id": {"$in": [LAND, SEA]}}, ["_gw.v", "name"]),
            ("touch", "town", {"_id": ROME}, ["_gw.v", "name", "size"], {"lock": UNCUT}),
            (
                "insert",
                "guest",
                [{"_id": NEW, "name": "new", "visited": [LAND_COPY, SEA_COPY], "home": ROME_COPY, "_gw": {"rev": 0}}],
            ),
            members("guests", LAND),
            members("guests", SEA),
            (
                "update_each",
                "land",
                [(LAND, {"$set": {"guests": [NEW_COPY]}}), (SEA, {"$set": {"guests": [NEW_COPY]}})],
            ),
        ],
    ),
    "insert of two with one source": (
        lambda towns: towns.deed.insert_many([{}, {"_id": BOB}], relations=related("of", LAND)),
        [
            ("touch", "land", {"_id": LAND}, ["_gw.v", "name"], {"lock": replace(UNCUT, step=2)}),
            (
                "insert",
                "deed",
                [{"_id": NEW, "of": LAND_COPY}, {"_id": BOB, "of": LAND_COPY, "_gw": {"v": V, "rev": V, "r": V}}],
            ),
        ],
    ),
    "update that shows a field": (
        lambda towns: rename(towns.land, LAND, {"name": 1}),
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            ("count", "town", {"land._id": LAND}, 4),
            ("count", "guest", {"visited._id": LAND}, 4),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 1, "land.name": "new"}, "$unset": {"land.code": ""}},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 1, "visited.$": {"_id": LAND, "name": "new"}}},
            ),
        ],
    ),
    "update that shows a window": (
        lambda towns: rename(towns.land, LAND, {"towns": {"name": 1}}),
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw", "towns"]),
            ("count", "town", {"land._id": LAND}, 4),
            ("count", "guest", {"visited._id": LAND}, 4),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 1, "land.name": "new"}, "$unset": {"land.code": ""}},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 1, "visited.$": {"_id": LAND, "name": "new"}}},
            ),
        ],
    ),
    "the same update again": (
        lambda towns: [rename(towns.land, LAND, {"name": 1}) for _ in range(2)],
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            ("count", "town", {"land._id": LAND}, 4),
            ("count", "guest", {"visited._id": LAND}, 4),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 1, "land.name": "new"}, "$unset": {"land.code": ""}},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 1, "visited.$": {"_id": LAND, "name": "new"}}},
            ),
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 2, "land.name": "new"}, "$unset": {"land.code": ""}},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 2, "visited.$": {"_id": LAND, "name": "new"}}},
            ),
        ],
    ),
    "update of a member": (
        lambda towns: rename(towns.town, ROME),
        [
            ("update_one", "town", {"_id": ROME}, RENAMED, None),
            ("count", "guest", {"home._id": ROME}, 4),
            (
                "touch_many",
                "land",
                [LAND],
                [
                    (
                        {"_id": {"$in": [LAND]}, "towns": {"$elemMatch": {"_id": ROME}}},
                        {"$set": {"towns.$": {"_id": ROME, "name": "new", "size": 5}}},
                    ),
                    (
                        {"_id": {"$in": [LAND]}, "largest": {"$elemMatch": {"_id": ROME}}},
                        {"$set": {"largest.$": {"_id": ROME, "name": "new", "size": 5}}},
                    ),
                    (
                        {"_id": {"$in": [LAND]}, **alone("capital", ROME)},
                        {"$set": {"capital": {"_id": ROME, "name": "new", "size": 5}}},
                    ),
                ],
                {"lock": UNCUT},
            ),
            (
                "update_many",
                "guest",
                alone("home", ROME),
                {"$set": {f"_gw.at.home.{ROME}": 1, "home.name": "new", "home.size": 5}},
            ),
        ],
    ),
    "update of what sorts a window": (
        lambda towns: towns.town.find_one_and_update({"_id": ROME}, {"$inc": {"size": 2}}),
        [
            ("update_one", "town", {"_id": ROME}, {"$inc": {"size": 2, "_gw.v": 1, "_gw.r": 1}}, None),
            ("count", "guest", {"home._id": ROME}, 4),
            (
                "touch_many",
                "land",
                [LAND],
                [
                    (
                        {"_id": {"$in": [LAND]}, "towns": {"$elemMatch": {"_id": ROME}}},
                        {"$set": {"towns.$": {"_id": ROME, "name": "rome", "size": 7}}},
                    ),
                    (
                        {"_id": {"$in": [LAND]}, **alone("capital", ROME)},
                        {"$set": {"capital": {"_id": ROME, "name": "rome", "size": 7}}},
                    ),
                ],
                {"lock": UNCUT},
            ),
            (
                "update_many",
                "guest",
                alone("home", ROME),
                {"$set": {f"_gw.at.home.{ROME}": 1, "home.name": "rome", "home.size": 7}},
            ),
            members("largest", LAND),
            (
                "update_each",
                "land",
                [(LAND, {"$set": {"largest": [{"_id": ROME, "name": "rome", "size": 7}, BONN_COPY]}})],
            ),
        ],
    ),
    "update of what no copy has": (
        lambda towns: towns.land.find_one_and_update({"_id": LAND}, {"$set": {"code": "x"}}, projection={"_id": 1}),
        [
            (
                "update_one",
                "land",
                {"_id": LAND},
                {"$set": {"code": "x"}, "$inc": {"_gw.v": 1, "_gw.r": 1}},
                ["name", "code", "_gw"],
            )
        ],
    ),
    "adding one": (
        lambda towns: towns.guest.add_relation({"_id": ANN}, relations=related("visited", [SEA], guests=True)),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            (
                "touch",
                "land",
                {"_id": SEA, "guests": {"$elemMatch": {"_id": {"$exists": True}}}, "guests._id": {"$nin": [ANN]}},
                ["_gw.v", "name"],
                {"$push": {"guests": {"$each": [ANN_COPY], "$sort": {"_id": -1}, "$slice": 2}}},
                {"lock": UNCUT},
            ),
            ("touch", "land", {"_id": SEA}, ["_gw.v", "name"], {"$set": {"guests": [ANN_COPY]}}, {"lock": UNCUT}),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {
                    "$set": {"visited": [LAND_COPY, SEA_COPY], **OPTED_OUT, "_gw.in": {"visited": {"guests": [SEA]}}},
                    "$unset": {"_gw.out": ""},
                    "$inc": {"_gw.r": 1},
                },
                None,
            ),
            members("guests", SEA),
        ],
    ),
    "adding two, of which one is there": (
        lambda towns: towns.guest.add_relation({"_id": ANN}, relations=related("visited", [LAND, SEA], guests=True)),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            ("touch_many", "land", [LAND, SEA], {"lock": UNCUT}),
            ("find", "land", {"_id": {"$in": [LAND, SEA]}}, ["_gw.v", "name"]),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {"$set": {"visited": [LAND_COPY, SEA_COPY]}, "$unset": {"_gw.out": ""}, "$inc": {"_gw.r": 1}},
                None,
            ),
            members("guests", LAND),
            members("guests", SEA),
            (
                "update_each",
                "land",
                [(LAND, {"$set": {"guests": [ANN_COPY]}}), (SEA, {"$set": {"guests": [ANN_COPY]}})],
            ),
        ],
    ),
    "replacing": (
        lambda towns: towns.guest.add_relation({"_id": ANN}, relations=related("visited", [SEA]), replace=True),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            ("touch", "land", {"_id": LAND}, (), {"lock": UNCUT}),
            ("touch", "land", {"_id": SEA}, ["_gw.v", "name"], {"lock": UNCUT}),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {"$set": {"visited": [SEA_COPY], **OPTED_OUT}, "$unset": {"_gw.out": ""}, "$inc": {"_gw.r": 1}},
                None,
            ),
        ],
    ),
    "replacing what has single reverses": (
        lambda towns: towns.town.add_relation(
            {"_id": ROME}, relations=related("land", SEA, capital=True), replace=True
        ),
        [
            ("touch", "town", {"_id": ROME}, ["name", "size", "land", "_gw"], {"lock": LOCK}),
            asked("land", LAND, towns=[ROME], largest=[ROME]),
            ("touch", "land", {"_id": SEA}, ["_gw.v", "name"], {"$set": {"capital": ROME_COPY}}, {"lock": UNCUT}),
            (
                "update_one",
                "town",
                {"_id": ROME},
                {
                    "$set": {"land": SEA_COPY, "_gw.out": {"land": {"towns": [SEA], "largest": [SEA]}}},
                    "$inc": {"_gw.r": 1},
                },
                None,
            ),
            ("update_many", "land", {"_id": {"$in": [LAND]}, **alone("capital", ROME)}, {"$unset": {"capital": ""}}),
            members("towns", LAND),
            members("largest", LAND),
            ("update_each", "land", [(LAND, {"$set": {"towns": [BONN_COPY], "largest": [BONN_COPY]}})]),
        ],
    ),
    "removing": (
        lambda towns: towns.guest.remove_relation({"_id": ANN}, relations=related("visited", [LAND])),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {"$unset": {"visited": "", "_gw.out": ""}, "$inc": {"_gw.r": 1}},
                None,
            ),
        ],
    ),
}


@pytest.mark.mongo
@pytest.mark.parametrize("row", ROWS)
def test_a_write_asks_for_no_more_than_it_needs(towns, row):
    write, commands = ROWS[row]
    towns = towns()
    write(towns)
    assert (towns.commands, towns.jobs()) == (commands, [])


#: What is left where a transaction may write so many copies: the update, the commands, and the jobs.
LEFT = {
    "copies of the larger relation": (
        1,
        lambda towns: rename(towns.land, LAND, {"name": 1}),
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            ("count", "town", {"land._id": LAND}, 2),
            ("count", "guest", {"visited._id": LAND}, 2),
            ("update_one", "land", {"_id": LAND}, {"$set": {"_gw.v": V}}, ["name", "code", "_gw"]),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": V, "visited.$": {"_id": LAND, "name": "new"}}},
            ),
        ],
        [("copies", LAND, "town.land", V, ())],
    ),
    "windows within the limit": (
        1,
        lambda towns: rename(towns.guest, ANN),
        [
            ("update_one", "guest", {"_id": ANN}, RENAMED, None),
            (
                "touch_many",
                "land",
                [LAND],
                [
                    (
                        {"_id": {"$in": [LAND]}, "guests": {"$elemMatch": {"_id": ANN}}},
                        {"$set": {"guests.$": {"_id": ANN, "name": "new"}}},
                    )
                ],
                {"lock": UNCUT},
            ),
        ],
        [],
    ),
    "all": (
        0,
        lambda towns: rename(towns.town, ROME),
        [
            ("update_one", "town", {"_id": ROME}, RENAMED, None),
            ("count", "guest", {"home._id": ROME}, 1),
            ("update_one", "town", {"_id": ROME}, {"$set": {"_gw.v": V}}, None),
        ],
        [("copies", ROME, "guest.home", V, ()), ("windows", ROME, "town.land", V, (LAND,))],
    ),
}


@pytest.mark.mongo
@pytest.mark.parametrize("row", LEFT)
def test_a_write_leaves_to_jobs_what_is_beyond_the_limit(towns, row):
    limit, write, commands, jobs = LEFT[row]
    towns = towns(limit)
    write(towns)
    assert (towns.commands, towns.jobs()) == (commands, jobs)
