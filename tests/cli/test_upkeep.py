"""``indexes``, ``jobs`` and ``work``: what they list, do and end with."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from datetime import UTC, datetime, timedelta

import mongomock
import pytest
from bson import ObjectId

from gatewayfw.cli import upkeep
from gatewayfw.core import gateway
from gatewayfw.errors import Unavailable
from gatewayfw.odm.jobs.records import Job
from gatewayfw.schemas import string
from gatewayfw.storage import Index
from tests.cli.shop import make_app, runner, shop, stock
from tests.commands_page import has_page
from tests.waiting import wait_until


@pytest.fixture
def busy(mongo_database, monkeypatch):
    """A gateway with one pending job of five copies, which nobody works on."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    gw = shop(mongo_database, inline_limit=3)
    gw.shop_id, _ = stock(gw, items=5)
    rename(gw, "new")
    return gw


@pytest.fixture
def lost():
    """A gateway whose server does not answer."""
    gw = shop("mongodb://127.0.0.1:9/none", server_selection_timeout=0.1)
    yield gw
    gw.odm.storage.close()


@pytest.fixture
def terminal(monkeypatch):
    """What the status line of a terminal shows, one text after the other."""
    shown = []
    monkeypatch.setattr(upkeep, "has_terminal", lambda: True)
    monkeypatch.setattr(upkeep, "status_line", shown.append)
    return shown


SHOP, LAST = ObjectId("a" * 24), ObjectId("b" * 24)
SINCE = datetime(2026, 1, 2, 3, 4, 5)


def job(**given):
    """A job of a changed shop, at its start."""
    plain = {"key": "k", "kind": "copies", "model": "shop", "id": SHOP, "relation": "item.shop", "of": "shop", "v": 1}
    plain |= {"type": "single", "optional": False}
    more = {"token": SHOP, "after": None, "waited": False, "again": False, "targets": (), "failures": 0, "leased": None}
    return Job(**{**plain, **more, "since": SINCE, **given})


JOBS = [job(after=LAST, leased=SINCE, failures=7), job(kind="windows", targets=(SHOP, LAST))]


@pytest.fixture
def having(monkeypatch):
    """A gateway of two jobs that are none of a database."""
    gw = shop(mongomock.MongoClient().test)
    monkeypatch.setattr(gw.odm, "jobs", lambda: JOBS)
    return gw


def rename(gw, name):
    gw.odm.model("shop").find_one_and_update(filter={"_id": gw.shop_id}, update={"$set": {"name": name}})


def copies(gw):
    return {item["shop"]["name"] for item in gw.odm.storage.find("item", {})}


def run_on(gw, *words):
    return runner(make_app(shop=gw, check=False))(*words)


def rows(output):
    return [" ".join(line.split()) for line in output.splitlines()]


def now():
    return datetime.now(UTC).replace(tzinfo=None)


def of_models(objects):
    return [one for one in objects if one["collection"] != "_gw_jobs"]


# -- indexes


def test_missing_indexes_are_listed_and_not_created(run, storage):
    assert run("indexes")[0] == 1
    status, output = run("indexes")
    assert (status, rows(output)[:2]) == (
        1,
        ["collection keys options state reason", "item shop._id: 1, _id: 1 missing"],
    )
    assert storage.indexes("item") == []


def test_create_makes_the_missing_ones(run, storage):
    status, output = run("indexes", "--create")
    assert (status, rows(output)[1]) == (0, "item shop._id: 1, _id: 1 present")
    window = (("shop._id", 1), ("_gw.out.shop.items", 1), ("_id", -1))
    assert [index.keys for index in storage.indexes("item")] == [(("shop._id", 1), ("_id", 1)), window]
    assert run("indexes")[0] == 0


def test_indexes_as_json(run):
    assert run("indexes", "--create")[0] == 0
    status, output = run("indexes", "--json")
    names = {
        "shop._id_1__id_1": {"shop._id": 1, "_id": 1},
        "shop._id_1__gw.out.shop.items_1__id_-1": {"shop._id": 1, "_gw.out.shop.items": 1, "_id": -1},
    }
    assert (status, of_models(json.loads(output))) == (
        0,
        [
            {
                "collection": "item",
                "keys": keys,
                "state": "present",
                "wanted": {},
                "present": {"name": name},
                "reason": "",
            }
            for name, keys in names.items()
        ],
    )


def test_an_index_that_was_built_without_the_id_is_present_with_a_reason(database, storage):
    gw = shop(database)
    gw.odm.new_model("log", {"at": string()}, options={"createIndex": {"indexSpec": {"at": 1}}})
    storage.ensure("log", [Index((("at", 1),))], 10)
    status, output = run_on(gw, "indexes", "--create")
    (line,) = [" ".join(line.split()) for line in output.splitlines() if line.startswith("log ")]
    assert (status, line) == (0, "log at: 1 present without _id: pages sorted by it read all that match")


def test_an_extra_index_is_listed_and_left(run, storage):
    run("indexes", "--create")
    storage.ensure("shop", [Index((("old", 1),), {"sparse": True})], 10)
    status, output = run("indexes", "--create")
    assert (status, rows(output)[1]) == (0, "shop old: 1 name=old_1, sparse extra")
    assert [index.keys for index in storage.indexes("shop")] == [(("old", 1),)]
    extra = {"state": "extra", "wanted": None, "present": {"name": "old_1", "sparse": True}, "reason": ""}
    assert json.loads(run("indexes", "--json")[1])[0] == {"collection": "shop", "keys": {"old": 1}, **extra}


def test_on_a_terminal_an_index_is_named_while_it_is_built(run, terminal):
    assert run("indexes", "--create")[0] == 0
    building = ["item: building shop._id, _id", "item: building shop._id, _gw.out.shop.items, _id", ""]
    assert [text for text in terminal if not text.startswith("_gw_jobs: ")] == building
    terminal.clear()
    assert (run("indexes")[0], terminal) == (0, [])


@pytest.mark.parametrize("words", [(), ("--create",)], ids=["list", "create"])
def test_one_that_differs_is_named_and_left(database, storage, words):
    gw = unique(database)
    storage.ensure("item", [Index((("name", 1),))], 10)
    status, output = run_on(gw, "indexes", *words, "--json")
    (row,) = of_models(json.loads(output))
    assert status == 1
    assert row["state"] == "differs"
    assert row["reason"] == "other unique"
    assert [index.unique for index in storage.indexes("item")] == [False]


def test_a_unique_one_that_cannot_be_built_is_named_with_the_reason(database, storage):
    gw = unique(database)
    storage.insert("item", [{"_id": 1, "name": "x"}, {"_id": 2, "name": "x"}])
    status, output = run_on(gw, "indexes", "--create", "--json")
    (row,) = of_models(json.loads(output))
    reason = "item: index {'name': 1} cannot be built: two documents share a value"
    missing = {"state": "missing", "wanted": {"unique": True}, "present": None, "reason": reason}
    assert (status, row) == (1, {"collection": "item", "keys": {"name": 1}, **missing})


def unique(database):
    gw = gateway()
    gw.odm.set_db(database)
    index = {"indexSpec": {"name": 1}, "options": {"unique": True}}
    gw.odm.new_model("item", {"name": string()}, options={"createIndex": index})
    return gw


def test_a_large_collection_is_no_obstacle(database, storage):
    gw = shop(database, index_build_limit=1)
    storage.insert("item", [{"_id": number} for number in range(3)])
    missing = ["{'shop._id': 1, '_id': 1}", "{'shop._id': 1, '_gw.out.shop.items': 1, '_id': -1}"]
    assert gw.odm.ready() == [f"item: index {keys} is missing; the collection is large" for keys in missing]
    assert [run_on(gw, "indexes")[0], run_on(gw, "indexes", "--create")[0]] == [1, 0]


# -- what all refuse


COMMANDS = ["indexes", "jobs", "work", "check", "repair"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_definition_is_refused(database, command):
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("item", {}, {"shop": {"schemaName": "none", "type": "single"}})
    message = "Error: model 'item', relation 'shop': schemaName names 'none', which is not a model\n"
    assert run_on(gw, command) == (1, message)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_database_is_named(command):
    assert run_on(gateway(), command) == (1, "Error: no database: call odm.set_db(...) first\n")


@pytest.mark.parametrize("command", ["indexes", "jobs", "check", "repair"])
def test_a_lost_server_is_told(lost, command):
    assert run_on(lost, command) == (1, "Error: no answer (127.0.0.1:9: connection refused)\n")


# -- jobs


def test_without_jobs_there_is_nothing_to_list_or_do(run):
    assert [run("jobs"), run("jobs", "--json"), run("work", "--once")] == [
        (0, "no pending jobs\n"),
        (0, "[]\n"),
        (0, "no job is left\n"),
    ]


@pytest.mark.mongo
def test_jobs_are_listed(busy):
    since = f"{busy.odm.jobs()[0].since:%Y-%m-%d %H:%M:%S}"
    status, output = run_on(busy, "jobs")
    assert (status, rows(output)) == (
        0,
        [
            "kind source relation progress since failures leased",
            f"copies shop {busy.shop_id} item.shop at the start {since} 0 no",
        ],
    )


@pytest.mark.mongo
def test_jobs_as_json(busy):
    status, output = run_on(busy, "jobs", "--json")
    (job,) = json.loads(output)
    assert abs(datetime.fromisoformat(job.pop("since")).timestamp() - time.time()) < 60
    expected = {"kind": "copies", "model": "shop", "id": str(busy.shop_id), "relation": "item.shop"}
    assert (status, job) == (0, {**expected, "after": None, "targets": 0, "failures": 0, "leased": False})


def test_a_job_tells_how_far_it_is_and_whether_somebody_works_on_it(having):
    status, output = run_on(having, "jobs")
    assert (status, rows(output)[1:]) == (
        0,
        [
            f"copies shop {SHOP} item.shop after {LAST} 2026-01-02 03:04:05 7 yes",
            f"windows shop {SHOP} item.shop 2 left 2026-01-02 03:04:05 0 no",
        ],
    )
    known = {"model": "shop", "id": str(SHOP), "relation": "item.shop", "since": "2026-01-02T03:04:05+00:00"}
    assert json.loads(run_on(having, "jobs", "--json")[1]) == [
        {"kind": "copies", "after": str(LAST), "targets": 0, "failures": 7, "leased": True, **known},
        {"kind": "windows", "after": None, "targets": 2, "failures": 0, "leased": False, **known},
    ]


# -- work


@pytest.mark.parametrize(("words", "told"), [((), "2 jobs are left\n"), (("--json",), '{"left": 2}\n')])
def test_work_once_says_how_many_jobs_make_no_progress(having, monkeypatch, words, told):
    monkeypatch.setattr(having.odm, "work", lambda on_progress: 2)
    assert run_on(having, "work", "--once", *words) == (1, told)


@pytest.mark.parametrize(("words", "status", "told"), [((), 0, ""), (("--once",), 1, "2 jobs are left\n")])
def test_work_that_a_signal_ends_says_only_at_once_what_is_left(having, monkeypatch, words, status, told):
    def work(seconds=None, on_progress=None):
        if on_progress is not None:
            on_progress.stop.set()
            on_progress(job())
        return 2

    monkeypatch.setattr(having.odm, "work", work)
    monkeypatch.setattr(having.odm.database.worker, "attend", lambda steps: work(on_progress=steps))
    assert run_on(having, "work", *words) == (status, f"copies of shop {SHOP} in item.shop\n{told}")


def test_a_job_is_named_once_as_json_and_on_a_terminal_by_a_line(terminal, capsys):
    plain, as_json = upkeep._Steps(threading.Event()), upkeep._Steps(threading.Event(), True)
    what = f"copies of shop {SHOP} in item.shop"
    for steps in (plain, as_json):
        for one in (job(), job(after=LAST)):
            steps(one)
    assert terminal == [f"{what}: at the start; 1 batches", f"{what}: after {LAST}; 2 batches"] * 2
    assert [json.loads(line)["after"] for line in capsys.readouterr().out.splitlines()] == [None]


@pytest.mark.mongo
def test_work_once_ends_when_nothing_is_left(busy):
    line = f"copies of shop {busy.shop_id} in item.shop"
    assert copies(busy) == {"corner"}
    assert run_on(busy, "work", "--once") == (0, f"{line}\nno job is left\n")
    assert (copies(busy), busy.odm.jobs()) == ({"new"}, [])


@pytest.mark.mongo
def test_work_as_json_has_an_object_for_each_job_and_the_number_left(busy):
    (job,) = busy.odm.jobs()
    status, output = run_on(busy, "work", "--once", "--json")
    worked, left = map(json.loads, output.splitlines())
    assert status == 0
    assert worked["id"] == str(job.id)
    assert worked["kind"] == "copies"
    assert left == {"left": 0}


@pytest.mark.mongo
def test_work_once_fails_when_a_job_is_not_for_this_app(busy):
    busy.odm.storage.update_many("_gw_jobs", {}, {"$set": {"relation": "gone.shop", "needs": "copies gone.shop shop"}})
    assert run_on(busy, "work", "--once") == (1, "1 job is left\n")
    busy.odm.storage.delete_many("_gw_jobs", {})


@pytest.mark.slow
@pytest.mark.mongo
def test_work_once_waits_for_a_lease_to_expire(busy):
    lease = {"worker": "dead", "until": now() + timedelta(seconds=1.5)}
    busy.odm.storage.update_many("_gw_jobs", {}, {"$set": {"lease": lease}})
    assert run_on(busy, "work", "--once")[0] == 0
    assert (copies(busy), busy.odm.jobs()) == ({"new"}, [])


@pytest.mark.mongo
def test_work_once_gives_up_on_a_lease_that_does_not_expire(busy, monkeypatch):
    monkeypatch.setattr(upkeep, "LEASE", 0.0)
    lease = {"worker": "other", "until": now() + timedelta(hours=1)}
    busy.odm.storage.update_many("_gw_jobs", {}, {"$set": {"lease": lease}})
    assert run_on(busy, "work", "--once") == (1, "1 job is left\n")


def when(condition, act):
    """Do something in a thread as soon as a condition holds, after a minute at the latest."""

    def watch():
        wait_until(condition)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


@pytest.mark.mongo
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_work_waits_for_new_jobs_until_a_signal(busy, number):
    def second():
        rename(busy, "newer")
        ends.append(
            when(lambda: copies(busy) == {"newer"} and not busy.odm.jobs(), lambda: os.kill(os.getpid(), number))
        )

    ends = [when(lambda: copies(busy) == {"new"}, second)]
    before = signal.getsignal(number)
    line = f"copies of shop {busy.shop_id} in item.shop\n"
    assert run_on(busy, "work") in [(0, line), (0, line * 2)]
    for end in ends:
        end.join()
    assert copies(busy) == {"newer"}
    assert busy.odm.jobs() == []
    assert signal.getsignal(number) == before


@pytest.mark.mongo
def test_a_signal_ends_work_after_a_batch_and_the_job_remains(busy, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.jobs.fan_out.BATCH", 2)
    stop = threading.Event()
    stop.set()
    steps = upkeep._Steps(stop)
    with pytest.raises(upkeep._Stopped):
        busy.odm.work(on_progress=steps)
    named = sorted(item["shop"]["name"] for item in busy.odm.storage.find("item", {}))
    assert (named, len(busy.odm.jobs())) == (["corner"] * 3 + ["new"] * 2, 1)


@pytest.mark.mongo
def test_on_a_terminal_work_shows_its_job_in_one_line(busy, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    steps = upkeep._Steps(threading.Event())
    busy.odm.work(on_progress=steps)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"\r\x1b[Kcopies of shop {busy.shop_id}")


def test_work_goes_on_when_the_server_is_away(lost, monkeypatch):
    worker, attempts = lost.odm.database.worker, []
    attend = worker.attend

    def attempt(on_progress):
        attempts.append(1)
        if len(attempts) == 3:
            signal.raise_signal(signal.SIGTERM)
        return attend(on_progress)

    monkeypatch.setattr(upkeep, "INTERVAL", 0.05)
    monkeypatch.setattr(worker, "attend", attempt)
    assert run_on(lost, "work") == (0, "waiting: no answer (127.0.0.1:9: connection refused)\n")
    assert len(attempts) == 3


def test_work_says_once_that_the_server_is_away_and_that_it_is_back(database, monkeypatch):
    gw, turns = shop(database), iter([True, True, False])

    def attend(on_progress):
        if next(turns):
            raise Unavailable
        on_progress.stop.set()

    monkeypatch.setattr(upkeep, "INTERVAL", 0.0)
    monkeypatch.setattr(gw.odm.database.worker, "attend", attend)
    told = "waiting: service unavailable, try again\nthe database answers again\n"
    assert run_on(gw, "work") == (0, told)


@pytest.mark.parametrize("words", ["indexes", "jobs", "work"])
def test_the_help_is_on_the_page(words):
    assert has_page(words)
