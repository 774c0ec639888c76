"""``check`` and ``repair``: what they print, save and end with."""

from __future__ import annotations

import io
import json
import os
import signal
import sys

import pytest

from gatewayfw.cli import gateway_group
from gatewayfw.errors import Unavailable
from gatewayfw.odm.upkeep.integrity import Integrity, Problem
from tests.cli.shop import make_app, runner, shop, stock
from tests.commands_page import has_page

DIFFERS = "differs from its source"


@pytest.fixture
def stocked(database):
    """A gateway of one shop with three items; one item's copy of the shop is stale."""
    gw = shop(database)
    gw.shop_id, gw.item_ids = stock(gw, items=3)
    stale(gw)
    return gw


def stale(gw, which=0):
    gw.odm.storage.update_many("item", {"_id": gw.item_ids[which]}, {"$set": {"shop.name": "stale"}})


def orphan(gw):
    """Take the shop away behind everyone's back."""
    gw.odm.storage.delete_many("shop", {})


def run_on(gw, *words):
    return runner(make_app(shop=gw))(*words)


def line_of(gw, notes="", which=0):
    return f"item {gw.item_ids[which]}: shop.{gw.shop_id}: {DIFFERS}{notes}\n"


@pytest.fixture
def state(tmp_path):
    """The path of a state file."""
    return tmp_path / "progress.json"


@pytest.fixture
def one_by_one(monkeypatch):
    """Let each document be a batch of its own."""
    monkeypatch.setattr("gatewayfw.odm.upkeep.inspection.BATCH", 1)


def test_check_finds_nothing_in_a_sound_database(run):
    assert [run("check"), run("check", "--json")] == [(0, "0 problems\n"), (0, "")]


def test_check_names_a_stale_copy_and_changes_nothing(stocked):
    assert [run_on(stocked, "check") for _ in range(2)] == [(1, f"{line_of(stocked)}1 problem\n")] * 2


@pytest.mark.parametrize("words", [("check",), ("check", "--json")], ids=["text", "json"])
def test_ids_of_other_tools_are_written_out(stocked, words):
    stocked.odm.storage.insert("item", [{"_id": "\x9b31m\u202e", "name": "x", "price": 1, "shop": {"_id": "\x9b"}}])
    status, output = run_on(stocked, *words)
    assert status == 1
    assert "9b31m" in output
    assert all(line.isprintable() for line in output.splitlines())


def test_check_as_json_is_one_object_a_line(stocked):
    stale(stocked, 1)
    status, output = run_on(stocked, "check", "--json")
    assert (status, [json.loads(line) for line in output.splitlines()]) == (
        1,
        [
            {
                "model": "item",
                "id": str(stocked.item_ids[which]),
                "path": f"shop.{stocked.shop_id}",
                "reason": DIFFERS,
                "pending": False,
                "state": "found",
            }
            for which in (0, 1)
        ],
    )


def test_repair_mends_and_leaves_nothing_to_find(stocked):
    assert run_on(stocked, "repair") == (0, f"{line_of(stocked, ' (mended)')}0 problems, 1 mended\n")
    assert run_on(stocked, "check") == (0, "0 problems\n")


def test_repair_as_json_names_the_new_state(stocked):
    status, output = run_on(stocked, "repair", "--json")
    assert (status, json.loads(output)["state"]) == (0, "mended")


@pytest.fixture
def dangling(database):
    """A gateway whose only item requires a shop that is gone."""
    gw = shop(database, optional=False)
    gw.shop_id, gw.item_ids = stock(gw)
    orphan(gw)
    return gw


def test_repair_leaves_what_needs_a_decision(dangling):
    status, output = run_on(dangling, "repair")
    assert status == 1
    assert output.splitlines()[-1] == "1 problem"
    assert "(needs a decision)" in output
    assert dangling.odm.storage.count("item", {}) == 1


def test_repair_deletes_orphans_when_told(dangling):
    status, output = run_on(dangling, "repair", "--delete-orphans")
    assert (status, output.splitlines()[-1]) == (0, "0 problems, 1 mended")
    assert (dangling.odm.storage.count("item", {}), run_on(dangling, "check")[0]) == (0, 0)


@pytest.mark.mongo
@pytest.mark.parametrize("command", ["check", "repair"])
def test_what_is_pending_is_shown_and_does_not_count(mongo_database, monkeypatch, command):
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    gw = shop(mongo_database, inline_limit=1)
    gw.shop_id, gw.item_ids = stock(gw, items=2)
    gw.odm.model("shop").find_one_and_update(filter={"_id": gw.shop_id}, update={"$set": {"name": "new"}})
    line = f"shop {gw.shop_id}: item.shop: some copies are old (a job is pending)\n"
    assert run_on(gw, command) == (0, f"{line}0 problems, 1 pending\n")
    told = {"model": "shop", "id": str(gw.shop_id), "path": "item.shop", "reason": "some copies are old"}
    assert json.loads(run_on(gw, command, "--json")[1]) == {**told, "pending": True, "state": "found"}
    assert run_on(gw, "work", "--once")[0] == 0
    assert run_on(gw, command) == (0, "0 problems\n")


# -- progress


def failing_at(monkeypatch, command, number, error):
    """Let a command end with an error at its nth problem."""
    run = getattr(Integrity, command)

    def limited(self, **given):
        for count, problem in enumerate(run(self, **given), 1):
            yield problem
            if count == number:
                error()

    monkeypatch.setattr(Integrity, command, limited)


PLACE = {"model": "item", "last": "1", "done": 0, "total": 0}
COUNTS = {"remaining": 0, "pending": 0, "mended": 0}


def saved(stocked, **changes):
    """The text of a state file of ``check``."""
    odm = stocked.odm
    whole = {
        "command": "check",
        "database": odm.storage.name,
        "models": sorted(odm.schemas.get_schemas()),
        "place": PLACE,
        "counts": COUNTS,
        "jobs": [],
    }
    return json.dumps({**whole, **changes})


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def terminate():
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.usefixtures("one_by_one", "default_signals")
@pytest.mark.parametrize("signalled", [interrupt, terminate], ids=["ctrl-c", "sigterm"])
@pytest.mark.parametrize("command", ["check", "repair"])
def test_an_interrupted_run_goes_on_from_its_state(stocked, state, monkeypatch, command, signalled):
    stale(stocked, 1)
    note = " (mended)" if command == "repair" else ""
    lines = [line_of(stocked, note, which) for which in (0, 1)]
    with monkeypatch.context() as patch:
        failing_at(patch, command, 2, signalled)
        status, output = run_on(stocked, command, "--state", str(state))
    assert status == 130
    assert output.startswith("".join(lines))
    assert f"go on with --state {state}" in output
    saved = json.loads(state.read_text("utf-8"))
    assert saved["command"] == command
    assert saved["place"]["done"] == 2
    assert sum(saved["counts"].values()) == 1
    # The second problem was found after the last place: check finds it again, repair has mended it.
    expected = {"check": (1, f"{lines[1]}2 problems\n"), "repair": (0, "0 problems, 1 mended\n")}
    assert run_on(stocked, command, "--state", str(state)) == expected[command]
    assert list(state.parent.iterdir()) == []


@pytest.mark.mongo
@pytest.mark.usefixtures("one_by_one", "default_signals")
def test_a_run_that_goes_on_tells_no_job_again(mongo_database, state, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    gw = shop(mongo_database, inline_limit=1)
    gw.shop_id, gw.item_ids = stock(gw, items=4)
    gw.odm.model("shop").find_one_and_update(filter={"_id": gw.shop_id}, update={"$set": {"name": "new"}})
    newest = {f"_gw.at.shop.{gw.shop_id}": next(gw.odm.storage.find("shop", {}))["_gw"]["v"]}
    gw.odm.storage.update_one("item", {"_id": gw.item_ids[2]}, {"$set": newest}, ())  # the job passes over it
    with monkeypatch.context() as patch:
        failing_at(patch, "check", 2, interrupt)
        status, output = run_on(gw, "check", "--state", str(state))
    line = f"shop {gw.shop_id}: item.shop: some copies are old (a job is pending)\n"
    assert (status, output.startswith(line)) == (130, True)
    status, output = run_on(gw, "check", "--state", str(state))
    assert (status, output.splitlines()[-1], line in output) == (1, "1 problem, 1 pending", False)
    gw.odm.work()


@pytest.mark.usefixtures("one_by_one", "default_signals")
def test_an_interrupted_run_without_a_state_only_says_so(stocked, monkeypatch):
    failing_at(monkeypatch, "check", 1, interrupt)
    assert run_on(stocked, "check") == (130, f"{line_of(stocked)}interrupted: 1 problem\n")


@pytest.mark.usefixtures("one_by_one")
def test_a_problem_before_the_interruption_still_counts(stocked, state):
    place = {"model": "item", "last": json.dumps({"$oid": str(stocked.item_ids[2])}), "done": 4, "total": 4}
    counts = {"remaining": 1, "pending": 0, "mended": 0}
    state.write_text(saved(stocked, place=place, counts=counts), "utf-8")
    assert run_on(stocked, "check", "--state", str(state)) == (1, "1 problem\n")
    assert not state.exists()


def test_a_run_that_finds_no_document_has_no_progress_to_delete(run, state):
    assert run("check", "--state", str(state)) == (0, "0 problems\n")
    assert not state.exists()


def test_a_whole_run_leaves_no_state(stocked, state):
    assert run_on(stocked, "check", "--state", str(state))[0] == 1
    assert not state.exists()


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"command": "check"}'])
def test_a_file_that_is_not_ours_is_refused_and_kept(stocked, state, text):
    refused(stocked, state, text, "is not a progress file of this command")


@pytest.mark.parametrize(
    "wrong",
    [
        {"place": {}},
        {"place": {**PLACE, "last": "garbage"}},
        {"place": {**PLACE, "last": '{"$oid": "x"}'}},
        {"place": {**PLACE, "last": 1}},
        {"place": {**PLACE, "done": "1"}},
        {"place": {**PLACE, "more": 1}},
        {"counts": {**COUNTS, "remaining": "x"}},
    ],
    ids=["no place", "no JSON", "no id", "a number", "a text", "more", "no count"],
)
def test_a_file_with_odd_content_is_refused_and_kept(stocked, state, wrong):
    refused(stocked, state, saved(stocked, **wrong), "is not a progress file of this command")


@pytest.mark.parametrize(
    ("other", "key"),
    [
        ({"command": "repair"}, "command"),
        ({"command": "repair --delete-orphans"}, "command"),
        ({"database": "elsewhere"}, "database"),
        ({"models": ["item"]}, "models"),
    ],
)
def test_the_progress_of_something_else_is_refused_and_kept(stocked, state, other, key):
    refused(stocked, state, saved(stocked, **other), f"holds the progress of another {key}")


def refused(stocked, state, text, message):
    state.write_text(text, "utf-8")
    status, output = run_on(stocked, "check", "--state", str(state))
    assert status == 2
    assert output.splitlines()[-1] == f"Error: --state: {state} {message}"
    assert state.read_text("utf-8") == text


def test_a_state_that_cannot_be_written_is_told(stocked, tmp_path):
    path = tmp_path / "nowhere" / "progress.json"
    status, output = run_on(stocked, "check", "--state", str(path))
    assert (status, output.splitlines()[-1]) == (
        1,
        f"Error: --state: cannot write {path}: No such file or directory",
    )


@pytest.mark.parametrize("words", [("check", "--delete-orphans"), ("check", "--state", "."), ("repair", "--what")])
def test_wrong_usage_has_its_own_status(run, words):
    assert run(*words)[0] == 2


def test_a_line_has_all_notes_of_a_problem(stocked, monkeypatch):
    found = Problem("item", 5, "shop", DIFFERS, pending=True, state="needs a decision")
    monkeypatch.setattr(Integrity, "check", lambda self, **given: iter([found]))
    line = f"item 5: shop: {DIFFERS} (a job is pending, needs a decision)\n"
    assert run_on(stocked, "check") == (0, f"{line}0 problems, 1 pending\n")


class Terminal(io.StringIO):
    """What a terminal is told."""

    def isatty(self):
        return True


def lose_the_database():
    raise Unavailable("gone")


SHOWN = ["shop: 1 of 4", "item: 2 of 4", "item: 3 of 4", "item: 4 of 4"]


@pytest.mark.usefixtures("one_by_one", "default_signals")
@pytest.mark.parametrize(
    ("end", "shown"),
    [(None, SHOWN), (interrupt, SHOWN[:1]), (lose_the_database, SHOWN[:1])],
    ids=["whole", "ctrl-c", "failure"],
)
def test_a_terminal_sees_how_far_it_is_until_the_end(stocked, monkeypatch, end, shown):
    if end is not None:
        failing_at(monkeypatch, "check", 1, end)
    monkeypatch.setattr("sys.stderr", Terminal())
    with make_app(shop=stocked).app_context(), pytest.raises(SystemExit):
        gateway_group.main(["check"])
    told = sys.stderr.getvalue()
    lines = told.split("\r\x1b[K")
    assert [line.removesuffix(" documents") for line in lines if " of " in line] == shown
    assert " documents" not in lines[-1]


def test_an_id_of_any_kind_can_be_printed(stocked):
    copy = {"_id": stocked.shop_id, "name": "stale"}
    stocked.odm.storage.delete_many("item", {})
    stocked.odm.storage.insert("item", [{"_id": {"a": 1}, "name": "odd", "price": 1, "shop": copy}])
    status, output = run_on(stocked, "check", "--json")
    found = {one["id"]: one["path"] for one in map(json.loads, output.splitlines())}
    assert (status, found["{'a': 1}"]) == (1, f"shop.{stocked.shop_id}")


@pytest.mark.parametrize("words", ["check", "repair"])
def test_the_help_is_on_the_page(words):
    assert has_page(words)
