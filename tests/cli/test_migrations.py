"""The command that migrates: what it prints and changes, and its exit status."""

from __future__ import annotations

import json

import pytest

from gatewayfw import schemas
from gatewayfw.core import gateway
from gatewayfw.schemas import string
from tests.cli.shop import make_app, runner


@pytest.fixture
def shop(database):
    """A gateway that declares two migrations, over three shops of an older definition."""
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("shop", {"name": string(), "town": schemas.optional(string())})
    gw.odm.migration("2026-11 town", "shop", rename={"city": "town"})
    gw.odm.migration("2026-12 name", "shop", default={"name": "none"})
    gw.odm.storage.insert("shop", [{"_id": 1, "name": "a", "city": "x"}, {"_id": 2, "name": "b", "city": "y\x1b"}])
    gw.odm.storage.insert("shop", [{"_id": 3, "name": "c", "city": "x", "town": "z"}])
    return gw


@pytest.fixture
def run(shop):
    """Run a command of the shop's app: exit status and output."""
    return runner(make_app(shop=shop))


def test_a_run_tells_what_it_changed_and_lists_the_rest(run, database):
    assert run("migrate") == (
        1,
        "2026-11 town: 2 changed, 1 left\n  3: has both city and town\n2026-12 name: 0 changed, 0 left\n",
    )
    assert [one.get("town") for one in database.shop.find(sort=[("_id", 1)])] == ["x", "y\x1b", "z"]
    database.shop.update_one({"_id": 3}, {"$unset": {"town": ""}})
    assert run("migrate", "--only", "2026-11 town") == (0, "2026-11 town: 1 changed, 0 left\n")


def test_a_plan_counts_and_shows_examples(run, database):
    before = list(database.shop.find())
    status, output = run("migrate", "--plan")
    first, *rest = output.splitlines()
    assert status == 1
    assert first.startswith("2026-11 town: 3 documents of shop, about ")
    assert rest == [
        '  1: {"city": "x"}',
        '    becomes {"town": "x"}',
        '  2: {"city": "y\\u001b"}',
        '    becomes {"town": "y\\u001b"}',
        "  3: has both city and town",
        "2026-12 name: 0 documents of shop",
    ]
    assert list(database.shop.find()) == before


def test_a_plan_says_what_to_do_besides(database):
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("shop", {"town": string()}, options={"createIndex": {"indexSpec": {"town": 1}}})
    gw.odm.migration("2026-11 town", "shop", rename={"city": "town"})
    status, output = runner(make_app(shop=gw))("migrate", "--plan")
    build = "before the roll-out: flask gateway indexes --create, for shop: town, _id"
    assert (status, output) == (0, f"2026-11 town: 0 documents of shop\n  {build}\n")


def test_the_status_names_what_is_left_and_what_is_gone(run, shop):
    columns = "migration     model  left  changed  last run  left then  version  note\n"
    rows = "2026-11 town  shop   3     0                                      never ran\n"
    assert run("migrate", "--status") == (1, columns + rows + rows.replace("11 town", "12 name").replace("3 ", "0 ", 1))
    shop.odm.migrate()
    later = gateway()
    later.odm.set_db(shop.odm.storage)
    later.odm.new_model("shop", {"name": string(), "town": string()})
    run_later = runner(make_app(shop=later))
    assert "not declared any more" in run_later("migrate", "--status")[1]
    (hint,) = [one for one in json.loads(run_later("doctor", "--json")[1])["hints"] if "migration" in one]
    assert hint.startswith("migration '2026-11 town' is not declared any more; when it last ended, on ")


def test_probes_and_doctor_tell_what_the_last_run_left_and_the_status_counts_beside_it(
    run, shop, database, monkeypatch
):
    monkeypatch.setattr("gatewayfw.odm.readiness.SHARED", 0)

    def told():
        rows = [json.loads(line) for line in run("migrate", "--status", "--json")[1].splitlines()]
        return [(row["left"], row["leftThen"]) for row in rows], shop.odm.readiness.state().unmigrated

    def doctor():
        found = json.loads(run("doctor", "--json")[1])
        return [one.partition(", on")[0] for kind in ("warnings", "hints") for one in found[kind] if "migration" in one]

    never = [f"migration '{name}' has not run; run flask gateway migrate" for name in ("2026-11 town", "2026-12 name")]
    assert (told(), doctor()) == (([(3, None), (0, None)], None), never)
    shop.odm.migrate()
    database.shop.delete_one({"_id": 3})
    assert (told(), doctor()) == (([(0, 1), (0, 0)], 1), ["migration '2026-11 town': when it last ended"])


def test_json_has_an_object_for_each_migration(run):
    status, output = run("migrate", "--plan", "--json")
    first, _ = map(json.loads, output.splitlines())
    assert status == 1
    assert first.pop("seconds") is not None
    assert first == {
        "name": "2026-11 town",
        "model": "shop",
        "changed": 0,
        "left": 3,
        "listed": [{"_id": "3", "reason": "has both city and town"}],
        "examples": [
            {"_id": 1, "before": {"city": "x"}, "after": {"town": "x"}},
            {"_id": 2, "before": {"city": "y\x1b"}, "after": {"town": "y\x1b"}},
        ],
        "followUps": [],
    }
    assert [json.loads(line)["changed"] for line in run("migrate", "--json")[1].splitlines()] == [2, 0]
    status, output = run("migrate", "--status", "--json")
    row = json.loads(output.splitlines()[0])
    assert (status, row["left"], row["changed"], row["version"], row["gone"]) == (1, 1, 2, "0.1.0", False)


def test_ctrl_c_loses_nothing(run, shop, monkeypatch):
    def stop(text):
        if text:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("gatewayfw.cli.migrations.status_line", stop)
        status, output = run("migrate")
    assert (status, output) == (130, "interrupted; what is done is done, and the next run goes on\n")
    assert shop.odm.migrate()[0]["left"] == 1


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["--plan", "--status"], 2, "give --plan or --status, not both"),
        (["--only", "x"], 1, "no migration is named 'x'; there are: 2026-11 town, 2026-12 name"),
    ],
)
def test_a_wrong_call_says_why(run, words, status, text):
    found, output = run("migrate", *words)
    assert (found, text in output) == (status, True)


def test_without_migrations_there_is_nothing_to_do(database):
    gw = gateway()
    gw.odm.set_db(database)
    empty = runner(make_app(shop=gw))
    assert [empty("migrate", *one) for one in ([], ["--plan"], ["--status"])] == [(0, "no migrations\n")] * 3
    assert empty("migrate", "--json") == (0, "")
