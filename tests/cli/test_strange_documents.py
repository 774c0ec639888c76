"""Every command ends, and does its work, beside documents that nobody expected."""

from __future__ import annotations

from datetime import datetime

import pytest
from bson import Code, Decimal128, MaxKey, MinKey, Timestamp

from gatewayfw.cli import gateway_group
from gatewayfw.odm.jobs.records import Jobs
from tests.cli.shop import make_app, runner, shop, stock

#: Ids that mongomock does not take; see `tests.odm.test_strange_ids`.
IDS = [MinKey(), {"a": [1]}, Decimal128("NaN"), Code("x", {"y": 1}), MaxKey()]
COMMON = [None, "", "a.b", -0.0, True, datetime(1, 1, 1), Timestamp(1, 2)]
FORMS = [None, "text", [], {"v": "text"}, {"at": None}, {"rev": 2**63 - 1}, {"out": {"shop": 5}}]


@pytest.fixture
def gw(database, storage):
    """A gateway of one shop with items, one of them stale, among documents of other tools in all its collections."""
    gw = shop(database)
    gw.shop_id, gw.item_ids = stock(gw, items=9)
    ids = COMMON + (IDS if storage.multi_process else [])
    copy = next(gw.odm.storage.find("item", {}))["shop"]
    hidden = [FORMS[number % len(FORMS)] for number in range(len(ids))]
    for model in ("shop", "item"):
        listed = [
            {"_id": id_, "name": "strange", "shop": copy, "_gw": one} for id_, one in zip(ids, hidden, strict=True)
        ]
        gw.odm.storage.insert(model, [dict(one) for one in listed])
    job = {
        "kind": "windows",
        "id": [1],
        "lease": {"until": "never"},
        "since": datetime(2020, 1, 1),
        "v": 1,
        "after": None,
    }
    for name in ("_gw_jobs", "_gw_replies", "_gw_limits"):
        gw.odm.storage.insert(name, [{"_id": id_, **job} for id_ in ids])
    for id_, form in zip(gw.item_ids[1:], FORMS, strict=False):
        gw.odm.storage.update_one("item", {"_id": id_}, {"$set": {"_gw": form}}, ())
    gw.odm.storage.update_one("item", {"_id": gw.item_ids[0]}, {"$set": {"shop.name": "stale"}}, ())
    return gw


WORDS = ["check", "check --json", "doctor", "indexes", "indexes --create", "work --once", "repair", "jobs"]


@pytest.mark.parametrize("words", WORDS)
def test_each_command_ends(gw, words):
    result = make_app(shop=gw).test_cli_runner().invoke(gateway_group, words.split())
    assert (type(result.exception), result.exit_code) in [(type(None), 0), (SystemExit, 1)]


def test_repair_mends_what_stands_beside_it_and_goes_on_from_each_place(gw, tmp_path, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.upkeep.inspection.BATCH", 1)
    run, state = runner(make_app(shop=gw)), ["--state", str(tmp_path / "state.json")]
    assert "is damaged (mended)" in run("repair", *state)[1]
    assert run("check", *state) == (0, "0 problems\n")


def test_jobs_of_the_gateway_are_worked_on(gw):
    with gw.odm.leave_to_jobs():
        gw.odm.model("shop").find_one_and_update({"_id": gw.shop_id}, {"$set": {"name": "new"}})
    names = {one["shop"]["name"] for one in gw.odm.storage.find("item", {"shop._id": gw.shop_id})}
    assert (names, Jobs(gw.odm.storage).listed()) == ({"new"}, [])
