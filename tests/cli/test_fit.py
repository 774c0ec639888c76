"""``check --fit``: what it prints, saves and ends with."""

from __future__ import annotations

import json

import pytest
from bson import ObjectId

from gatewayfw.odm.upkeep.integrity import Integrity
from tests.cli.shop import make_app, runner, shop, stock

IDS = [f"{number:024x}" for number in range(1, 6)]


@pytest.fixture
def dirty(database):
    """A gateway with five items, whose prices are texts in four, and a shop without name."""
    gw = shop(database)
    shop_id, _ = stock(gw, items=1)
    wrong = [{"name": "n", "price": price} for price in ("1", "2", 3, "4", "5")]
    gw.odm.storage.insert("item", [{"_id": id_, **one} for id_, one in zip(map(ObjectId, IDS), wrong, strict=True)])
    gw.odm.storage.update_many("shop", {"_id": shop_id}, {"$unset": {"name": ""}})
    gw.shop_id = shop_id
    return gw


def run_on(gw, *words):
    return runner(make_app(shop=gw))("check", "--fit", *words)


def lines_of(gw):
    return [
        f"shop.name: missing in 1 document: {gw.shop_id}",
        f"item.price: string in 4 documents: {IDS[0]}, {IDS[1]}, {IDS[3]}, ...",
    ]


@pytest.fixture
def one_by_one(monkeypatch):
    """Let each document be a batch of its own."""
    monkeypatch.setattr("gatewayfw.odm.upkeep.inspection.BATCH", 1)


def test_documents_that_fit_are_no_misfits(database):
    gw = shop(database)
    stock(gw, items=3)
    assert [run_on(gw), run_on(gw, "--json")] == [(0, "0 misfits\n"), (0, "")]


def test_misfits_are_told_in_groups(dirty):
    status, output = run_on(dirty)
    assert (status, output.splitlines()) == (1, [*lines_of(dirty), "5 misfits in 2 groups"])


def test_json_has_one_group_a_line(dirty):
    status, output = run_on(dirty, "--json")
    assert (status, [json.loads(line) for line in output.splitlines()]) == (
        1,
        [
            {"model": "shop", "path": "name", "stored": "missing", "count": 1, "ids": [str(dirty.shop_id)]},
            {"model": "item", "path": "price", "stored": "string", "count": 4, "ids": [IDS[0], IDS[1], IDS[3]]},
        ],
    )


def test_ids_of_other_tools_are_written_out(dirty):
    dirty.odm.storage.insert("item", [{"_id": "\x9b31m\u202e", "name": "x", "price": 1}])
    for words in ((), ("--json",)):
        _, output = run_on(dirty, *words)
        assert "9b31m" in output
        assert all(line.isprintable() for line in output.splitlines())


@pytest.mark.parametrize("steps", range(1, 7))
def test_an_interrupted_run_goes_on_where_it_was(dirty, one_by_one, monkeypatch, tmp_path, steps):
    state, run, count = tmp_path / "state.json", Integrity.misfits, 0

    def stopping(self, *, on_progress, **given):
        def reached(place, found):
            nonlocal count
            on_progress(place, found)
            count += 1
            if count == steps:
                raise KeyboardInterrupt

        return run(self, on_progress=reached, **given)

    monkeypatch.setattr(Integrity, "misfits", stopping)
    status, first = run_on(dirty, "--state", str(state))
    assert (status, state.exists()) == (130, True)
    assert f"; go on with --state {state}" in first
    status, second = run_on(dirty, "--state", str(state))
    assert (status, state.exists()) == (1, False)
    told = [line for line in (first + second).splitlines() if line.startswith(("shop.", "item."))]
    assert (sorted(set(told)), second.splitlines()[-1]) == (sorted(lines_of(dirty)), "5 misfits in 2 groups")


@pytest.mark.parametrize("change", [{"found": 5}, {"found": [{}]}, {"groups": "1"}, {"place": None}], ids=str)
def test_a_file_that_is_no_progress_of_this_command_is_refused(dirty, tmp_path, change):
    state = tmp_path / "state.json"
    saved = {"command": "check --fit", "database": dirty.odm.storage.name, "models": ["item", "shop"]}
    place = {"model": "item", "last": "1", "done": 0, "total": 0}
    state.write_text(json.dumps({**saved, "place": place, "found": [], "groups": 0, "misfits": 0, **change}))
    status, output = run_on(dirty, "--state", str(state))
    assert (status, "is not a progress file of this command" in output) == (2, True)


def test_a_file_of_check_is_refused(dirty, tmp_path):
    state = tmp_path / "state.json"
    saved = {"command": "check", "database": dirty.odm.storage.name, "models": ["item", "shop"]}
    place = {"model": "item", "last": "1", "done": 0, "total": 0}
    state.write_text(json.dumps({**saved, "place": place, "found": [], "groups": 0, "misfits": 0}))
    assert "holds the progress of another command" in run_on(dirty, "--state", str(state))[1]
