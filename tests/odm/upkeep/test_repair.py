"""`repair` mends what can be mended, leaves the rest, and is safe while writers run."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from gatewayfw.odm import Problem
from gatewayfw.odm.copies.rules import LOCK
from gatewayfw.odm.jobs.records import Jobs
from gatewayfw.odm.sizes.budgets import SizeChecks
from gatewayfw.odm.upkeep.inspection import Inspector
from gatewayfw.odm.upkeep.integrity import Integrity
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.schemas import string
from tests.odm.damage import DANGLING, DIFFERS, GONE, MENDABLE, UNDECIDED, WRONG, damaged
from tests.odm.upkeep.test_integrity import here, integrity, writers

__all__ = ["here", "integrity"]


def rows(table):
    return [pytest.param(row.values, id=row.id) for row in table]


@pytest.mark.parametrize("row", rows(MENDABLE))
def test_damage_is_mended_without_a_trace(world, integrity, here, row):
    intact = world.digest()
    with damaged(world, here, row) as expected:
        assert list(integrity.repair()) == [replace(problem, state="mended") for problem in expected]
        assert world.digest() == intact
        assert list(integrity.check()) == []
        assert world.problems() == []


@pytest.mark.parametrize("row", rows(UNDECIDED))
def test_what_would_lose_data_is_left_to_a_decision(world, integrity, here, row):
    with damaged(world, here, row) as expected:
        before = world.digest()
        decisions = [replace(problem, state="needs a decision") for problem in expected]
        assert list(integrity.repair()) == decisions
        assert (world.digest(), list(integrity.repair())) == (before, decisions)


def test_all_damage_of_one_document_is_mended_at_once(world, integrity, here):
    intact, first = world.digest(), world.raw(world.person, here.ann)
    land, other = first["visited"]
    damage = {"visited": [{"_id": land["_id"]}, {"_id": GONE}, "x", other, land], "born": [first["born"]]}
    damage |= {"home.name": "x", "friendOf": None, f"_gw.at.visited.{GONE}": 3}
    world.storage.update_one("person", {"_id": here.ann}, {"$set": damage}, ())
    found = [(problem.path, problem.reason, problem.state) for problem in integrity.repair()]
    assert found == [
        (f"home.{here.city}", DIFFERS, "mended"),
        ("born", "is a list", "mended"),
        ("visited", "holds what is no copy", "mended"),
        ("visited", "embeds a document twice", "mended"),
        (f"visited.{here.land}", DIFFERS, "mended"),
        (f"visited.{GONE}", DANGLING, "mended"),
        ("friendOf", WRONG, "mended"),
    ]
    assert world.digest() == intact


def test_a_stale_copy_beside_a_decision_is_mended(world, integrity, here):
    row = UNDECIDED[1].values
    with damaged(world, here, row) as [undecided]:
        world.storage.update_many("club", {"places._id": here.hidden}, {"$set": {"places.$": {"_id": here.hidden}}})
        assert list(integrity.repair()) == [
            Problem("club", here.club, f"places.{here.hidden}", DIFFERS, state="mended"),
            replace(undecided, state="needs a decision"),
        ]
        assert world.raw(world.club, here.club)["places"] == [{"_id": here.hidden, "name": "hidden"}, {"_id": GONE}]


def test_orphans_are_deleted_with_what_requires_them(world, integrity, here):
    gone = {"country": {"_id": GONE}}
    world.person.add_relation(filters={"_id": here.bob}, relations={"home": {"_ids": here.hidden}})
    world.storage.update_one("city", {"_id": here.hidden}, {"$set": gone}, ())
    found = list(integrity.repair(delete_orphans=True))
    assert found == [Problem("city", here.hidden, f"country.{GONE}", DANGLING, state="mended")]
    assert world.raw(world.city, here.hidden) is None
    assert world.raw(world.club, here.club) is None
    assert "home" not in world.raw(world.person, here.bob)


def test_an_orphan_in_no_window_of_its_own_leaves_the_windows_right(world, integrity, here):
    world.storage.update_one("city", {"_id": here.cities[3]}, {"$set": {"country": {"_id": GONE}}}, ())
    assert {problem.state for problem in integrity.repair(delete_orphans=True)} == {"mended"}
    assert (list(integrity.check()), world.raw(world.city, here.cities[3])) == ([], None)


def test_an_orphan_is_deleted_with_all_that_is_wrong_in_it(world, integrity, here):
    places = world.club.schema.relations["places"]
    key = Jobs(world.storage).put("windows", ("club", here.club), places, 2, [here.hidden])
    wrong = {"country": {"_id": GONE}, "clubs": [{"_id": GONE}]}
    world.storage.update_one("city", {"_id": here.hidden}, {"$set": wrong}, ())
    assert list(integrity.repair(delete_orphans=True)) == [
        Problem("city", here.hidden, f"country.{GONE}", DANGLING, state="mended"),
        Problem("city", here.hidden, "clubs", WRONG, state="mended"),
    ]
    world.storage.delete_many("_gw_jobs", {"_id": key})
    assert world.raw(world.city, here.hidden) is None


@pytest.mark.parametrize(("transactions", "checks"), [(True, SizeChecks.NONE), (False, SizeChecks.WINDOWS)])
def test_where_nothing_is_undone_windows_are_measured(world, integrity, here, monkeypatch, transactions, checks):
    given = []
    monkeypatch.setattr(
        "gatewayfw.odm.upkeep.integrity.delete",
        lambda attempt, *_, **keys: given.append(attempt.size_checks) or delete(attempt, *_, **keys),
    )
    monkeypatch.setattr(type(world.storage), "has_transactions", lambda self: transactions)
    world.storage.update_one("city", {"_id": here.cities[3]}, {"$set": {"country": {"_id": GONE}}}, ())
    assert {problem.state for problem in integrity.repair(delete_orphans=True)} == {"mended"}
    assert given == [checks]


def test_a_repair_locks_and_writes_what_is_wrong_and_no_more(world, integrity, here, asked):
    world.storage.update_one("person", {"_id": here.ann}, {"$set": {"home.name": "x"}}, ())
    world.storage.update_one("country", {"_id": here.land}, {"$set": {"capital.name": "x"}}, ())
    calls = asked("touch_many", "update_one", of=world.storage)
    assert [one.state for one in integrity.repair()] == ["mended", "mended"]
    last, copy = here.cities[-1], {"_id": here.city, "name": "a", "population": 5}
    assert calls == [
        ("touch_many", ("city", [last], ()), {"lock": LOCK}),
        ("touch_many", ("city", [here.city], ()), {"lock": LOCK}),
        ("update_one", ("person", {"_id": here.ann}, {"$set": {"home": copy}}, ()), {}),
    ]


def test_a_required_list_with_others_left_is_no_orphan(world, integrity, here):
    intact = world.digest()
    world.storage.update_one("club", {"_id": here.club}, {"$push": {"places": {"_id": GONE}}}, ())
    found = list(integrity.repair(delete_orphans=True))
    assert found == [Problem("club", here.club, f"places.{GONE}", DANGLING, state="mended")]
    assert world.digest() == intact


def test_what_the_database_refuses_needs_a_decision(odm):
    parent = odm.new_model("parent", {"name": string()})
    unique = {"createIndex": {"indexSpec": {"parent.name": 1}, "options": {"unique": True}}}
    child = odm.new_model("child", {"name": string()}, {"parent": {"schemaName": "parent", "type": "single"}}, unique)
    first, second = (parent.insert_one(doc={"name": name})["_id"] for name in "ab")
    children = [
        child.insert_one(doc={"name": "x"}, relations={"parent": {"_ids": id_}})["_id"] for id_ in (first, second)
    ]
    odm.storage.update_one("parent", {"_id": second}, {"$set": {"name": "a"}}, ())
    integrity = Integrity(odm.schemas, odm.storage)
    found = Problem("child", children[1], f"parent.{second}", DIFFERS, state="needs a decision")
    assert list(integrity.repair()) == [found]


def test_a_document_that_goes_before_it_is_mended_is_passed_over(world, integrity, here, monkeypatch):
    suspects = Inspector.suspects

    def late(*given):
        found = suspects(*given)
        if GONE in found[0]:
            world.storage.delete_many("person", {"_id": GONE})
        return found

    monkeypatch.setattr(Inspector, "suspects", late)
    for run in (integrity.check, integrity.repair):
        world.storage.insert("person", [{"_id": GONE, "name": "x", "visited": []}])
        assert list(run()) == []


@pytest.fixture
def interrupted(world, monkeypatch):
    """Let a rename of a person run, for half a second at most, in the midst of the next transaction."""
    threads = []

    def arrange(person, before):
        def rename():
            world.person.find_one_and_update(filter={"_id": person}, update={"$set": {"name": "renamed"}})

        def report(*given, **keys):
            found = None if before else judge(*given, **keys)
            if not threads:
                threads.append(threading.Thread(target=rename))
                threads[0].start()
                threads[0].join(0.5)
            return found or judge(*given, **keys)

        judge = Inspector.report
        monkeypatch.setattr(Inspector, "report", report)

    yield arrange
    for thread in threads:
        thread.join()


mongo_only = pytest.mark.parametrize("world_storage", [pytest.param("mongo", marks=pytest.mark.mongo)], indirect=True)


@mongo_only
def test_a_rename_in_the_midst_of_a_confirmation_is_no_alarm(world, integrity, interrupted):
    dora = world.add_person("dora")
    carl = world.add_person("carl", {"friends": {"_ids": [dora]}})
    world.storage.update_one("person", {"_id": carl}, {"$set": {"visited": []}}, ())
    interrupted(dora, before=True)
    assert list(integrity.check()) == [Problem("person", carl, "visited", "is empty")]
    assert [problem.state for problem in integrity.repair()] == ["mended"]


@mongo_only
def test_a_rename_in_the_midst_of_a_mend_reaches_the_mended_copy(world, integrity, interrupted):
    """While it is an object, the rename passes over it: only the lock on its source orders the two."""
    dora = world.add_person("dora")
    carl = world.add_person("carl", {"friends": {"_ids": [dora]}})
    copy = world.raw(world.person, carl)["friends"][0]
    world.storage.update_one("person", {"_id": carl}, {"$set": {"friends": copy}}, ())
    interrupted(dora, before=False)
    assert {problem.state for problem in integrity.repair()} == {"mended"}
    assert world.raw(world.person, carl)["friends"] == [{"_id": dora, "name": "renamed", "active": True}]


@pytest.mark.slow
def test_repair_leaves_nothing_wrong_while_writers_run(world, integrity, here):
    ids = [world.add_city(f"city {number}", here.land, flags=("cities", "biggest")) for number in range(40)]
    world.storage.update_one("country", {"_id": here.land}, {"$set": {"cities": [{"_id": GONE}]}}, ())
    with writers(world, here):
        for first in range(3):
            for id_ in ids[first::3]:
                world.storage.update_one("city", {"_id": id_}, {"$set": {"country.name": "stale"}}, ())
            assert {problem.state for problem in integrity.repair() if not problem.pending} <= {"mended"}
    world.odm.work()
    assert (list(integrity.check()), world.problems()) == ([], [])
