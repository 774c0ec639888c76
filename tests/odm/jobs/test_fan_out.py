"""Changes that reach more copies than one transaction should write go through jobs."""

from __future__ import annotations

import logging
import time
from datetime import datetime
from types import SimpleNamespace

import pytest
from bson import ObjectId
from pymongo.client_session import ClientSession

from gatewayfw import string
from gatewayfw.errors import Conflict, OutcomeUnknown, StillReferenced, Timeout, Unavailable
from gatewayfw.odm import Odm
from gatewayfw.odm.jobs.background import JobWorker
from gatewayfw.odm.jobs.fan_out import Drained, FanOut
from gatewayfw.odm.jobs.records import Jobs
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from tests.odm.towns import (
    ANN,
    BOB,
    BONN,
    BONN_COPY,
    LAND,
    LAND_COPY,
    LOCK,
    ROME,
    SEA,
    SEA_COPY,
    UNCUT,
    alone,
    asked,
    members,
)
from tests.odm.world import World, define_world
from tests.storage.mongo.commits import take_a_minute, unanswered
from tests.waiting import wait_until

#: The version that the clock gives, which `few` stops.
V = 1_000_000


@pytest.fixture
def few(world_database, monkeypatch):
    """The world on MongoDB, where a transaction may write 3 copies; each operation works its jobs off."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 30)  # however slow the machine is
    monkeypatch.setattr("gatewayfw.odm.hidden.time", SimpleNamespace(time=lambda: V / 1_000_000))
    for name in world_database.list_collection_names():
        world_database[name].delete_many({})
    odm = Odm(Schemas(Settings()), Settings(inline_limit=3))
    odm.set_db(MongoStorage(world_database))
    world = World(odm, define_world(odm))
    yield world
    odm.database.worker.jobs.wake(odm.database.worker.needs)
    assert odm.work() == 0
    assert odm.jobs() == []
    assert world.problems() == []


@pytest.fixture
def pieces_of(monkeypatch):
    """A function that lets a worker write so many holders, or compute the windows of so many targets, at a time."""

    def shorten(size):
        monkeypatch.setattr("gatewayfw.odm.jobs.fan_out.BATCH", size)
        monkeypatch.setattr("gatewayfw.odm.jobs.fan_out.SLICE", size)

    return shorten


@pytest.fixture
def waits_at_most(monkeypatch):
    """A function that says for how many seconds a job waits for a source as new as itself."""
    return lambda seconds: monkeypatch.setattr("gatewayfw.odm.jobs.fan_out.VISIBLE", seconds)


def rename(world, model, id_, name="new"):
    return model.find_one_and_update(filter={"_id": id_}, update={"$set": {"name": name}})


def names(world, model, path):
    return [one[path]["name"] for one in world.storage.find(model.name, {}, sort=[("_id", 1)])]


def meeting(monkeypatch, world, method, collection, act):
    """Call ``act`` with the filter before each call of a method of the storage on a collection."""
    inner = getattr(world.storage, method)

    def met(name, filter, *given, **keys):
        if name == collection:
            act(filter)
        return inner(name, filter, *given, **keys)

    monkeypatch.setattr(world.storage, method, met)


def add_land(world, cities):
    """Insert a country with so many cities, and return its id."""
    land = world.add_country("land")
    for number in range(cities):
        world.add_city(str(number), land)
    return land


def told(job):
    return (job.kind, job.model, job.id, job.relation, job.v, job.after, job.again, job.targets)


def test_up_to_the_limit_copies_are_written_with_the_change(few, unattended):
    land = add_land(few, 3)
    rename(few, few.country, land)
    assert few.odm.jobs() == []
    assert names(few, few.city, "country") == ["new"] * 3


def test_above_the_limit_a_job_brings_the_change(few, unattended):
    land = add_land(few, 4)
    assert rename(few, few.country, land)["name"] == "new"
    job = ("copies", "country", land, "city.country", V, None, False, ())
    assert [told(one) for one in few.odm.jobs()] == [job]
    assert names(few, few.city, "country") == ["land"] * 4
    assert few.odm.work() == 0
    assert few.odm.jobs() == []
    assert names(few, few.city, "country") == ["new"] * 4


def test_the_process_works_on_its_own_job_at_once(few):
    land = add_land(few, 9)
    rename(few, few.country, land)
    assert few.odm.jobs() == []
    assert names(few, few.city, "country") == ["new"] * 9


def test_a_newer_change_joins_the_job_that_has_not_begun(few, unattended):
    land = add_land(few, 4)
    rename(few, few.country, land, "first")
    rename(few, few.country, land, "second")
    job = ("copies", "country", land, "city.country", V + 1, None, False, ())
    assert [told(one) for one in few.odm.jobs()] == [job]


def test_new_holders_are_right_while_a_job_is_pending(few, unattended):
    land = add_land(few, 4)
    rename(few, few.country, land)
    few.add_city("late", land)
    assert names(few, few.city, "country") == ["land"] * 4 + ["new"]


def test_a_large_change_in_a_transaction_is_worked_on_after_it(few):
    land = add_land(few, 4)

    def twice():
        rename(few, few.country, land, "first")
        rename(few, few.country, land, "second")
        return names(few, few.city, "country")

    assert few.odm.transaction(twice) == ["land"] * 4
    assert few.odm.jobs() == []
    assert names(few, few.city, "country") == ["second"] * 4


def test_a_transaction_that_fails_leaves_no_job(few):
    land = add_land(few, 4)

    def fail():
        rename(few, few.country, land)
        raise KeyError

    with pytest.raises(KeyError):
        few.odm.transaction(fail)
    assert few.odm.jobs() == []
    assert names(few, few.city, "country") == ["land"] * 4


def test_many_windows_are_set_right_by_a_job(few, unattended):
    lands = [few.add_country(str(number)) for number in range(4)]
    related = {"visited": {"_ids": lands, "relatedRelations": {"visitors": True}}}
    one = few.add_person("one", related, age=1)
    few.add_person("two", related, age=2)
    few.person.find_one_and_update(filter={"_id": one}, update={"$set": {"age": 3}})
    assert [told(job) for job in few.odm.jobs()] == [
        ("windows", "person", one, "person.visited", 1, None, False, tuple(lands))
    ]
    few.odm.work()
    windows = [[copy["name"] for copy in few.raw(few.country, land)["visitors"]] for land in lands]
    assert windows == [["two", "one"]] * 4


def test_a_moment_is_enough_for_a_small_job_of_windows(few, unattended):
    lands = [few.add_country(str(number)) for number in range(4)]
    one = few.add_person("one", {"visited": {"_ids": lands, "relatedRelations": {"visitors": True}}}, age=1)
    few.person.find_one_and_update(filter={"_id": one}, update={"$set": {"age": 3}})
    assert [job.kind for job in few.odm.jobs()] == ["windows"]
    assert few.odm.work(seconds=0.2) == 0
    assert few.odm.jobs() == []


def test_single_reverses_follow_through_a_job(few, unattended):
    clubs = []
    land = few.add_country("land")
    place = few.add_city("place", land)
    for number in range(4):
        clubs.append(few.club.insert_one(doc={"name": str(number)}, relations={"places": {"_ids": [place]}})["_id"])
    related = {"clubs": {"_ids": clubs, "relatedRelations": {"president": True, "members": False}}}
    first, second = few.add_person("first", related), few.add_person("second", related)
    rename(few, few.person, second)
    few.odm.work()
    assert [few.raw(few.club, club)["president"]["name"] for club in clubs] == ["new"] * 4
    few.person.delete_one(filter={"_id": second})
    few.odm.work()
    assert ["president" in few.raw(few.club, club) for club in clubs] == [False] * 4
    assert few.raw(few.person, first)["name"] == "first"


def test_a_large_cascade_deletes_and_unsets_through_jobs(few, unattended):
    land, other = few.add_country("land"), few.add_country("other")
    cities = [few.add_city(str(number), land) for number in range(4)]
    club = few.club.insert_one(doc={"name": "club"}, relations={"places": {"_ids": cities[:2]}})["_id"]
    visitor = few.add_person("visitor", {"visited": {"_ids": [land, other]}, "home": {"_ids": cities[0]}})
    native = few.add_person("native", {"born": {"_ids": land}, "visited": {"_ids": [land]}})
    result = few.country.delete_one(filter={"_id": land}, hard_cascade=True)
    assert result == {"deletedCount": 1, "cascaded": {}, "pending": True}
    assert sorted(job.relation for job in few.odm.jobs()) == ["city.country", "person.born", "person.visited"]
    assert few.odm.work() == 0
    assert few.city.count() == 0
    assert few.raw(few.club, club) is None
    assert few.raw(few.person, native).keys() - {"_gw"} == {"_id", "name", "active"}
    assert [copy["_id"] for copy in few.raw(few.person, visitor)["visited"]] == [other]


def test_a_cascade_that_is_worked_off_at_once_says_what_went_with_it(few):
    land = add_land(few, 5)
    assert few.country.delete_one(filter={"_id": land}, hard_cascade=True) == {
        "deletedCount": 1,
        "cascaded": {"city": 5},
    }


def test_holders_can_be_changed_while_their_source_is_being_removed(few, unattended):
    land, other = few.add_country("land"), few.add_country("other")
    people = [few.add_person(str(number), {"visited": {"_ids": [land]}}) for number in range(5)]
    few.country.delete_one(filter={"_id": land}, hard_cascade=True)
    rename(few, few.person, people[0])
    few.person.add_relation(filters={"_id": people[1]}, relations={"visited": {"_ids": [other]}})
    few.person.remove_relation(filters={"_id": people[2]}, relations={"visited": {"_ids": [land]}})
    few.person.delete_one(filter={"_id": people[3]})
    few.odm.work()
    found = {one["name"]: [copy["_id"] for copy in one.get("visited", [])] for one in few.storage.find("person", {})}
    assert found == {"new": [], "1": [other], "2": [], "4": []}


def test_a_delete_without_cascade_is_refused_whatever_the_number(few):
    land = add_land(few, 5)
    with pytest.raises(StillReferenced) as caught:
        few.country.delete_one(filter={"_id": land})
    assert caught.value.counts == {"city": 5}


def test_the_id_of_a_document_with_a_pending_job_is_not_free(few, unattended):
    land = few.add_country("land")
    for number in range(4):
        few.add_person(str(number), {"born": {"_ids": land}})
    few.country.delete_one(filter={"_id": land}, hard_cascade=True)
    with pytest.raises(Conflict) as caught:
        few.country.insert_one(doc={"_id": land, "name": "again"})
    assert caught.value.message == f"country is still being spread or removed: {land}"
    few.odm.work()
    assert few.country.insert_one(doc={"_id": land, "name": "again"})["_id"] == land


def test_a_worker_leaves_a_job_that_another_holds(few, unattended):
    land = add_land(few, 4)
    rename(few, few.country, land)
    [job] = few.odm.jobs()
    jobs = Jobs(few.storage)
    assert jobs.claim(job.key, "another").leased is not None
    assert few.odm.work() == 1
    assert names(few, few.city, "country") == ["land"] * 4
    jobs.release(job.key, "another")
    assert few.odm.work() == 0
    assert names(few, few.city, "country") == ["new"] * 4


def test_a_worker_that_was_overtaken_changes_nothing_of_the_job(few, unattended):
    land = add_land(few, 4)
    rename(few, few.country, land)
    jobs = Jobs(few.storage)
    [slow] = few.odm.jobs()
    rename(few, few.country, land, "newer")
    assert jobs.advance(slow, {"after": ObjectId()}, "slow") is None
    assert jobs.finish(slow) is False
    few.odm.work()
    rename(few, few.country, land, "newest")
    assert jobs.advance(slow, {"after": ObjectId()}, "slow") is None
    assert jobs.finish(slow) is False


def test_running_out_of_time_is_no_error(few, unattended, monkeypatch):
    land = add_land(few, 4)
    rename(few, few.country, land)

    def late(_filter):
        raise Timeout

    with monkeypatch.context() as patched:
        meeting(patched, few, "update_many", "city", late)
        assert few.odm.work() == 1
    assert [job.leased for job in few.odm.jobs()] == [None]


def test_a_database_that_does_not_answer_leaves_the_job(few, unattended, monkeypatch, caplog):
    land = add_land(few, 4)
    rename(few, few.country, land)

    def gone(_filter):
        raise Unavailable

    with caplog.at_level(logging.INFO, "gatewayfw"), monkeypatch.context() as patched:
        meeting(patched, few, "update_many", "city", gone)
        assert few.odm.work() == 1
    assert [record.getMessage() for record in caplog.records] == [
        f"job country:{land}:city.country:single is left for later: service unavailable, try again"
    ]


def test_after_three_conflicts_a_change_leaves_its_copies_to_jobs(few, unattended, monkeypatch):
    from gatewayfw.storage.mongo.transactions import _Conflict

    land = few.add_country("land")
    few.add_city("city", land)
    spread, failed = few.storage.update_many, []

    def contended(collection, filter, update, **bound):
        if collection == "city" and len(failed) < 3:
            failed.append(collection)
            raise _Conflict
        return spread(collection, filter, update, **bound)

    monkeypatch.setattr(few.storage, "update_many", contended)
    rename(few, few.country, land)
    assert [told(job)[:4] for job in few.odm.jobs()] == [("copies", "country", land, "city.country")]


def test_the_thread_works_on_what_is_left(world_database, unattended, helper_thread):
    odm = Odm(Schemas(Settings()), Settings(inline_limit=3))
    odm.set_db(MongoStorage(world_database))
    odm.database.init_worker()
    world = World(odm, define_world(odm))
    land = world.add_country(str(ObjectId()))
    for number in range(9):
        world.add_city(str(number), land)
    rename(world, world.country, land, str(ObjectId()))
    assert wait_until(lambda: not odm.jobs())


def test_a_holder_that_would_grow_too_large_keeps_its_copy_and_stops_no_other(few, caplog):
    land = add_land(few, 4)
    huge = {"_id": ObjectId(), "name": "huge", "tags": ["x" * (16 * 1024 * 1024 - 200)]}
    few.storage.insert("city", [{**huge, "country": {"_id": land, "name": "land"}}])
    rename(few, few.country, land, "n" * 300)
    assert sorted(names(few, few.city, "country")) == ["land", *["n" * 300] * 4]
    assert few.odm.jobs() == []
    assert [record.getMessage() for record in caplog.records] == [
        f"city {huge['_id']} could not be updated and is stale: the document would be too large"
    ]
    few.storage.delete_many("city", {"_id": huge["_id"]})


def test_a_change_within_the_limit_that_makes_a_holder_too_large_leaves_it_to_a_job(few, caplog):
    land = few.add_country("land")
    few.add_city("city", land)
    huge = {"_id": ObjectId(), "name": "huge", "tags": ["x" * (16 * 1024 * 1024 - 600)]}
    out = {"_gw": {"out": {"country": {"cities": [land], "biggest": [land]}}}}
    few.storage.insert("city", [{**huge, **out, "country": {"_id": land, "name": "land"}}])
    assert rename(few, few.country, land, "n" * 600)["name"] == "n" * 600
    assert sorted(names(few, few.city, "country")) == ["land", "n" * 600]
    assert few.odm.jobs() == []
    assert [record.getMessage() for record in caplog.records] == [
        f"city {huge['_id']} could not be updated and is stale: the document would be too large"
    ]
    assert [(one.id, one.path) for one in few.odm.integrity.check()] == [(huge["_id"], f"country.{land}")]
    rename(few, few.country, land, "short")
    assert names(few, few.city, "country") == ["short"] * 2
    assert few.problems() == []
    few.storage.delete_many("city", {"_id": huge["_id"]})


def test_a_job_that_cannot_be_done_fails_no_request_and_keeps_no_other_from_its_work(few, monkeypatch, caplog):
    land = few.add_country("land")
    for number in range(4):
        few.add_city(str(number), land)
        few.add_person(str(number), {"born": {"_ids": land}})

    def odd(_filter):
        raise KeyError("odd")

    with monkeypatch.context() as patched:
        meeting(patched, few, "update_many", "city", odd)
        assert rename(few, few.country, land)["name"] == "new"
    [lines] = [record.getMessage().splitlines() for record in caplog.records]
    assert (lines[0], lines[-1]) == (f"job country:{land}:city.country:single failed", "KeyError: 'odd'")
    assert names(few, few.city, "country") == ["land"] * 4
    assert names(few, few.person, "born") == ["new"] * 4


def test_a_job_of_a_model_that_is_not_defined_here_is_left(few, unattended):
    few.storage.insert(
        "_gw_jobs",
        [
            {
                **{"_id": "other:x:other.y:single", "kind": "copies", "model": "other", "id": ObjectId(), "v": 1},
                **{
                    "relation": "other.y",
                    "type": "single",
                    "optional": False,
                    "of": "other",
                    "token": ObjectId(),
                    "after": None,
                    "waited": False,
                    "again": False,
                    "needs": "copies other.y other",
                },
                **{"targets": [], "since": datetime(2026, 1, 1), "failures": 0, "lease": None},
            }
        ],
    )
    assert few.odm.work() == 1
    few.storage.delete_many("_gw_jobs", {})


def test_a_job_that_was_overtaken_at_the_end_of_the_time_is_free_at_once(few, unattended, monkeypatch):
    land = add_land(few, 4)
    rename(few, few.country, land)
    passed = []

    def slow(_filter):
        rename(few, few.country, land, "newer")
        passed.append(60)

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + sum(passed))
    with monkeypatch.context() as patched:
        patched.setattr("gatewayfw.odm.jobs.background.time", clock)
        meeting(patched, few, "update_many", "city", slow)
        assert few.odm.work(30.0) == 1
    assert [(job.v, job.leased) for job in few.odm.jobs()] == [(V + 1, None)]


def overtaken(world, key):
    """Let a lease run out, as when its worker was paused."""
    world.storage.update_many("_gw_jobs", {"_id": key}, {"$set": {"lease.until": datetime(2020, 1, 1)}})


def late_step(world, job):
    """What a worker does that was paused after it had claimed a job."""
    model, _, name = job.relation.partition(".")
    relation, jobs = world.odm.schemas.get_schema(model).relations[name], Jobs(world.storage)
    progress = FanOut(world.odm.schemas, world.storage, len).run(job, relation, 3, Drained())
    return jobs.finish(job) if progress is None else jobs.advance(job, progress, "late")


def test_a_late_worker_does_not_touch_a_later_job_of_the_same_key(few, unattended):
    land = few.add_country("land")
    for number in range(10):
        few.add_person(str(number), {"born": {"_ids": land}})
    rename(few, few.country, land)
    [job] = few.odm.jobs()
    late = Jobs(few.storage).claim(job.key, "late")
    overtaken(few, job.key)
    assert few.odm.work() == 0
    few.country.delete_one(filter={"_id": land}, hard_cascade=True)
    assert late_step(few, late) is False
    assert [job.kind for job in few.odm.jobs()] == ["removal"]


def test_a_late_worker_does_not_advance_later_windows_of_the_same_key(few, unattended, pieces_of):
    pieces_of(2)
    lands = [few.add_country(str(number)) for number in range(4)]
    related = {"visited": {"_ids": lands, "relatedRelations": {"visitors": True}}}
    one = few.add_person("one", related, age=1)
    few.person.find_one_and_update(filter={"_id": one}, update={"$set": {"age": 3}})
    [job] = few.odm.jobs()
    late = Jobs(few.storage).claim(job.key, "late")
    overtaken(few, job.key)
    assert few.odm.work() == 0
    few.person.delete_one(filter={"_id": one})
    assert late_step(few, late) is None
    assert [len(job.targets) for job in few.odm.jobs()] == [4]


def test_a_steadily_changed_source_reaches_its_last_holder(few, unattended, pieces_of):
    pieces_of(4)
    land = few.add_country("land")
    for number in range(12):
        few.add_city(f"{number:02}", land)
    seen = []
    for number in range(4):
        rename(few, few.country, land, f"name {number}")

        def once(_job):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            few.odm.work(on_progress=once)
        seen.append(names(few, few.city, "country")[::4])
    assert seen == [
        ["name 0", "land", "land"],
        ["name 0", "name 1", "land"],
        ["name 0", "name 1", "name 2"],
        ["name 0", "name 1", "name 2"],
    ]
    assert few.odm.work() == 0
    assert set(names(few, few.city, "country")) == {"name 3"}


def test_targets_that_change_again_wait_their_turn(few, unattended, pieces_of):
    pieces_of(2)
    lands = [few.add_country(str(number)) for number in range(4)]
    related = {"visited": {"_ids": lands, "relatedRelations": {"visitors": True}}}
    one = few.add_person("one", related, age=1)
    few.person.find_one_and_update(filter={"_id": one}, update={"$set": {"age": 3}})
    [job] = few.odm.jobs()
    jobs = Jobs(few.storage)
    jobs.advance(jobs.claim(job.key, "w"), {"targets": list(job.targets[2:])}, "w")
    jobs.release(job.key, "w")
    few.person.find_one_and_update(filter={"_id": one}, update={"$set": {"age": 4}})
    assert [job.targets for job in few.odm.jobs()] == [(*lands[2:], *lands[:2])]


@pytest.mark.parametrize("version", [None, 3], ids=["no version", "an older version"])
def test_a_source_that_another_tool_put_back_still_reaches_its_holders(few, unattended, monkeypatch, version):
    monkeypatch.setattr("gatewayfw.odm.hidden.time", time)
    land = few.add_country("land")
    for number in range(6):
        few.add_person(str(number), {"born": {"_ids": land}})
    for number in range(9):
        rename(few, few.country, land, f"name {number}")
    assert few.odm.work() == 0
    old = {"_id": land, "name": "old", **({"_gw": {"v": version}} if version else {})}
    few.storage.delete_many("country", {"_id": land})
    few.storage.insert("country", [old])
    rename(few, few.country, land, "newest")
    assert few.odm.work() == 0
    assert set(names(few, few.person, "born")) == {"newest"}
    few.storage.delete_many("country", {"_id": land})
    few.storage.insert("country", [old])
    few.country.delete_one(filter={"_id": land}, hard_cascade=True)
    assert few.odm.work() == 0
    assert few.storage.count("person", {"born._id": land}) == 0


def test_a_source_that_another_tool_replaced_does_not_hold_up_its_job(few, unattended, pieces_of, waits_at_most):
    waits_at_most(0.05)
    pieces_of(2)
    land = add_land(few, 6)
    rename(few, few.country, land, "first")
    few.odm.work()
    rename(few, few.country, land, "second")
    few.storage.delete_many("country", {"_id": land})
    few.storage.insert("country", [{"_id": land, "name": "replaced"}])
    assert few.odm.work() == 0
    assert set(names(few, few.city, "country")) == {"replaced"}
    assert [problem.path for problem in few.odm.integrity.repair()] == ["cities", "biggest"]


def test_short_calls_wait_together_for_a_source_that_another_tool_replaced(few, unattended, waits_at_most):
    waits_at_most(0.3)
    land = add_land(few, 6)
    rename(few, few.country, land, "new")
    few.storage.delete_many("country", {"_id": land})
    few.storage.insert("country", [{"_id": land, "name": "replaced"}])
    assert 0 in (few.odm.work(0.1) for _ in range(50))
    assert set(names(few, few.city, "country")) == {"replaced"}
    list(few.odm.integrity.repair())


def test_jobs_that_cannot_go_on_leave_others_their_turn(few, unattended, monkeypatch):
    lands = [few.add_country(str(number)) for number in range(3)]
    for land in lands:
        for number in range(4):
            few.add_city(str(number), land)
        rename(few, few.country, land, f"new {land}")

    def stuck(filter):
        if filter["_id"] != lands[2]:
            raise Unavailable

    with monkeypatch.context() as patched:
        meeting(patched, few, "find", "country", stuck)
        assert few.odm.work() == 2
    assert [job.id for job in few.odm.jobs()] == lands[:2]


def test_a_window_that_does_not_fit_is_cut_and_stops_no_other_target(few, unattended, caplog):
    lands = [few.add_country(str(number)) for number in range(4)]
    related = {"visited": {"_ids": lands, "relatedRelations": {"visitors": True}}}
    one = few.add_person("one", related, age=1)
    tags = {"$set": {"anthem": "x" * (16 * 1024 * 1024 - 400)}}
    few.storage.update_many("country", {"_id": lands[1]}, tags)
    few.person.find_one_and_update(filter={"_id": one}, update={"$set": {"name": "n" * 600}})
    assert few.odm.work() == 0
    windows = [few.raw(few.country, land).get("visitors", []) for land in lands]
    assert [[one["name"] for one in window] for window in windows] == [["n" * 600], [], ["n" * 600], ["n" * 600]]
    assert [record.getMessage() for record in caplog.records] == [
        f"country {lands[1]} is too large for all of visitors: it keeps those that fit"
    ]
    assert few.problems() == []
    few.storage.update_many("country", {}, {"$unset": {"anthem": ""}})
    few.person.find_one_and_update(filter={"_id": one}, update={"$set": {"name": "short"}})
    assert few.odm.work() == 0
    assert few.raw(few.country, lands[1])["visitors"][0]["name"] == "short"


def test_a_stopped_worker_notes_its_last_batch_and_frees_the_job(few, unattended, pieces_of):
    pieces_of(2)
    land = few.add_country("land")
    cities = [few.add_city(str(number), land) for number in range(6)]
    rename(few, few.country, land)

    def stop(_job):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        few.odm.work(on_progress=stop)
    assert [(job.after, job.leased) for job in few.odm.jobs()] == [(cities[1], None)]


def test_holders_with_ids_of_any_kind_are_reached(few, unattended, pieces_of):
    pieces_of(3)
    land = few.add_country("land")
    copy = {"_id": land, "name": "land"}
    ids = [None, 7, 2.5, "a", "b", {"x": 1}, ObjectId(), True, datetime(2026, 1, 1)]
    few.storage.insert("person", [{"_id": id_, "name": "n", "born": copy} for id_ in ids])
    rename(few, few.country, land)
    assert few.odm.work() == 0
    assert set(names(few, few.person, "born")) == {"new"}
    few.country.delete_one(filter={"_id": land}, hard_cascade=True)
    assert few.odm.work() == 0
    assert few.storage.count("person", {"born._id": land}) == 0
    few.storage.delete_many("person", {})


def test_holders_that_an_index_gives_in_another_order_are_reached(few, unattended, world_database, pieces_of):
    pieces_of(2)
    land, persons = few.add_country("land"), world_database.person
    few.person.count()  # It makes the index that the next line drops, and again in later tests.
    persons.drop_index("born._id_1__id_1")
    persons.create_index("born._id")
    persons.insert_many([{"_id": 1 + number / 100, "name": "n"} for number in range(100)])
    copy = {"_id": land, "name": "land"}
    persons.insert_many([{"_id": number, "name": "n", "born": copy} for number in range(8, 1, -1)])
    rename(few, few.country, land)
    left = few.odm.work()
    found = [one["born"]["name"] for one in persons.find({"born._id": land})]
    persons.delete_many({})
    persons.drop_index("born._id_1")
    assert (left, found) == (0, ["new"] * 7)


def test_a_job_of_a_relation_that_is_defined_otherwise_here_is_left(few, unattended, world_database):
    land = add_land(few, 4)
    rename(few, few.country, land)
    other = Odm(Schemas(Settings()), Settings())
    other.set_db(MongoStorage(world_database))
    other.new_model("nation", {"name": string()})
    other.new_model(
        "city",
        {"name": string()},
        {"country": {"schemaName": "nation", "type": "single", "optional": True, "relatedRelations": {}}},
    )
    assert other.work() == 1
    assert names(few, few.city, "country") == ["land"] * 4


def test_a_gateway_on_the_same_storage_does_not_work_inside_a_transaction_of_another(few, unattended):
    land = add_land(few, 4)
    again = Odm(Schemas(Settings()), Settings(inline_limit=3))
    again.set_db(few.storage)
    same = World(again, define_world(again))
    seen = []

    def both():
        rename(same, same.country, land)
        seen.append(names(few, few.city, "country"))

    few.odm.transaction(both)
    assert seen == [["land"] * 4]


def test_an_id_that_another_client_chose_too_is_no_proof_of_our_insert(few, world_database, monkeypatch):
    land, commits = ObjectId(), []

    def lose(session):
        commits.append(1)
        session.abort_transaction()
        world_database["country"].insert_one({"_id": land, "name": "theirs", "_gw": {"v": 5}})
        raise unanswered()

    with monkeypatch.context() as patched:
        take_a_minute(patched, commits)
        patched.setattr(ClientSession, "commit_transaction", lose)
        with pytest.raises(OutcomeUnknown):
            few.country.insert_one(doc={"_id": land, "name": "mine"})


# -- commands of jobs: no batch reads or writes more than it needs


def walk(model, path, id_, limit):
    """Return the command that looks for the first holders."""
    return ("find", model, {path: id_}, [], {"sort": [("_id", 1)], "limit": limit})


def older(path, comparison, version=V):
    return {path: {"$not": {{"$lt": "$gte", "$lte": "$gt"}[comparison]: version, "$lte": 2**62}}}


def stored(command):
    """Return the command that reads a window, but one that reads it to store it."""
    *given, keys = command
    return (*given, {**keys, "stored": True})


def rename_all(towns):
    rename(None, towns.land, LAND)
    rename(None, towns.town, ROME)


def delete_town(towns):
    towns.town.delete_one({"_id": ROME}, hard_cascade=True)


def delete_land(towns):
    towns.land.delete_one({"_id": LAND}, hard_cascade=True)


def deletion(town, *lost):
    """Return the commands that delete a town whose land is gone, so that no window lists it."""
    mine = {"_id": town, **alone("land", LAND), **older(AT_LAND, "$lte")}
    return [
        ("touch", "town", mine, ["land._id", "_gw"], {"lock": LOCK}),
        ("find", "guest", {"home._id": {"$in": [town]}}, ["visited._id", "home._id", "_gw"], {"limit": 4}),
        asked("land", LAND, towns=[town], largest=[town]),
        ("touch", "land", {"_id": LAND}, (), {"lock": UNCUT}),
        ("delete_many", "town", {"_id": {"$in": [town]}}),
        *lost,
        ("update_many", "land", {"_id": {"$in": [LAND]}, **alone("capital", town)}, {"$unset": {"capital": ""}}),
    ]


def notes(relation):
    """Return what the removal of a relation removes from the hidden field."""
    return {f"_gw.{part}.{relation}": "" for part in ("at", "out", "some", "in")}


AT_LAND, AT_VISITED, AT_HOME = f"_gw.at.land.{LAND}", f"_gw.at.visited.{LAND}", f"_gw.at.home.{ROME}"
HOME = {"_id": {"$in": [ANN]}, **alone("home", ROME)}
VISITED = {"_id": {"$in": [ANN]}, "visited": {"$elemMatch": {"_id": LAND}}}
ROMAN = {"_id": ROME, "name": "new", "size": 5}
#: Jobs: the change that makes one, its relation, its commands, and the seconds beyond its time that a batch may take.
COMMANDS = {
    "copies in lists": (
        rename_all,
        ("copies", "guest.visited"),
        [
            ("find", "land", {"_id": LAND}, ["name", "_gw.v"], {"limit": 1}),
            walk("guest", "visited._id", LAND, 500),
            (
                "update_many",
                "guest",
                {**VISITED, **older(AT_VISITED, "$lt")},
                {"$set": {AT_VISITED: V, "visited.$": {"_id": LAND, "name": "new"}}},
            ),
        ],
        0.0,
    ),
    "single copies": (
        rename_all,
        ("copies", "town.land"),
        [
            ("find", "land", {"_id": LAND}, ["name", "_gw.v"], {"limit": 1}),
            walk("town", "land._id", LAND, 500),
            (
                "update_many",
                "town",
                {"_id": {"$in": [ROME, BONN]}, **alone("land", LAND), **older(AT_LAND, "$lt")},
                {"$set": {AT_LAND: V, "land.name": "new"}, "$unset": {"land.code": ""}},
            ),
        ],
        0.0,
    ),
    "windows": (
        rename_all,
        ("windows", "town.land"),
        [
            ("touch_many", "land", [LAND], {"lock": LOCK}),
            ("find", "land", {"_id": {"$in": [LAND]}, "capital": {"$exists": True}}, ["capital._id"]),
            ("find", "land", {"_id": LAND}, {"limit": 1, "stored": True}),
            *(stored(members(window, LAND)) for window in ("towns", "largest", "guests")),
            (
                "update_each",
                "land",
                [
                    (
                        LAND,
                        {
                            "$set": {"towns": [BONN_COPY, ROMAN], "largest": [ROMAN, BONN_COPY]},
                            "$unset": {"guests": ""},
                        },
                    )
                ],
            ),
        ],
        0.4,
    ),
    "removal from lists": (
        delete_land,
        ("removal", "guest.visited"),
        [
            walk("guest", "visited._id", LAND, 500),
            (
                "update_many",
                "guest",
                {**VISITED, **older(AT_VISITED, "$lte"), "visited.1": {"$exists": False}},
                {"$unset": {"visited": "", **notes("visited")}, "$inc": {"_gw.r": 1}},
            ),
            (
                "update_many",
                "guest",
                {**VISITED, **older(AT_VISITED, "$lte"), "visited.1": {"$exists": True}},
                {
                    "$pull": {"visited": {"_id": LAND}, "_gw.out.visited.guests": LAND, "_gw.in.visited.guests": LAND},
                    "$unset": {AT_VISITED: ""},
                    "$inc": {"_gw.r": 1},
                },
            ),
            ("count", "guest", {"_id": {"$in": [ANN]}, "visited._id": LAND, **older(AT_VISITED, "$lte")}, 1),
        ],
        0.4,
    ),
    "removal of single copies": (
        delete_town,
        ("removal", "guest.home"),
        [
            walk("guest", "home._id", ROME, 500),
            (
                "update_many",
                "guest",
                {**HOME, **older(AT_HOME, "$lte")},
                {"$unset": {"home": "", **notes("home")}, "$inc": {"_gw.r": 1}},
            ),
            ("count", "guest", {"_id": {"$in": [ANN]}, "home._id": ROME, **older(AT_HOME, "$lte")}, 1),
        ],
        0.4,
    ),
    "removal of those that require it": (
        delete_land,
        ("removal", "town.land"),
        [
            walk("town", "land._id", LAND, 20),
            *deletion(ROME, ("update_each", "guest", [(ANN, {"$unset": {"home": ""}, "$inc": {"_gw.r": 1}})])),
            *deletion(BONN),
            ("count", "town", {"_id": {"$in": [ROME, BONN]}, "land._id": LAND, **older(AT_LAND, "$lte")}, 1),
        ],
        0.4,
    ),
}


@pytest.mark.mongo
@pytest.mark.parametrize("row", COMMANDS)
def test_a_job_asks_for_no_more_than_it_needs(towns, monkeypatch, row):
    change, (kind, relation), commands, beyond = COMMANDS[row]
    towns, times, seen = towns(0), [], []
    change(towns)
    before, deadline = len(towns.commands), towns.storage.deadline
    [key] = [job.key for job in towns.odm.jobs() if (job.kind, job.relation) == (kind, relation)]
    monkeypatch.setattr("gatewayfw.odm.jobs.background.time", SimpleNamespace(monotonic=lambda: 100.0))
    monkeypatch.setattr(towns.storage, "deadline", lambda seconds: times.append(seconds) or deadline(30))
    worker, asked = JobWorker(towns.odm.schemas, towns.storage, 3), len(towns.job_commands)
    drained = worker.drain([key], 0.25, seen.append)
    assert (towns.commands[before:], towns.job_commands[asked:]) == (commands, ["update_one", "delete_many"])
    assert (drained.left, [job.key for job in seen][:1]) == (set(), [key])
    assert (0.25 + beyond) in times


# -- runs over jobs


@pytest.fixture
def late(monkeypatch):
    """Let time stand still for workers, but for one second in each rest; a list of the rests."""
    slept = []
    clock = SimpleNamespace(monotonic=lambda: len(slept), sleep=slept.append)
    monkeypatch.setattr("gatewayfw.odm.jobs.fan_out.time", clock)
    monkeypatch.setattr("gatewayfw.odm.jobs.background.time", clock)
    return slept


def worker_of(towns, **keys):
    return JobWorker(towns.odm.schemas, towns.storage, 0, **keys)


def only(towns, kind, relation):
    """Return the key of a job, and delete all others."""
    [key] = [job.key for job in towns.odm.jobs() if (job.kind, job.relation) == (kind, relation)]
    towns.storage.delete_many("_gw_jobs", {"_id": {"$ne": key}})
    return key


@pytest.mark.mongo
def test_a_job_that_is_done_lets_a_run_go_on(towns, monkeypatch):
    towns, tried = towns(0), []
    rename_all(towns)
    worker, good = worker_of(towns), only(towns, "copies", "town.land")
    claim = worker.jobs.claim

    def claimed(key, worker):
        tried.append(key)
        if key != good:
            raise Unavailable
        return claim(key, worker)

    monkeypatch.setattr(worker.jobs, "claim", claimed)
    keys = ["a", "b", good, "c", "d", "e", "f"]
    assert worker.drain(keys, 30).left == {"f"}
    assert tried == keys[:-1]


@pytest.mark.mongo
def test_a_run_that_is_out_of_time_begins_nothing(towns, late, monkeypatch):
    towns = towns(0)
    deadline = towns.storage.deadline
    monkeypatch.setattr(towns.storage, "deadline", lambda seconds: deadline(30))  # however slow the machine is
    rename_all(towns)
    keys, before = {job.key for job in towns.odm.jobs()}, len(towns.commands)
    for seconds in (-1, 0, 0.02):
        assert worker_of(towns).drain(keys, seconds).left == keys
    assert len(towns.commands) - before == 0
    assert len(keys) == 4
    assert worker_of(towns).drain(keys, 0.03).left == set()
    assert towns.jobs() == []


@pytest.mark.mongo
def test_a_run_without_end_gives_each_batch_half_a_minute(towns, late, monkeypatch):
    towns, times, seen = towns(0), [], []
    rename_all(towns)
    deadline = towns.storage.deadline
    monkeypatch.setattr(towns.storage, "deadline", lambda seconds: times.append(seconds) or deadline(30))
    assert worker_of(towns).work(on_progress=seen.append) == 0
    assert set(times) == {30.0}
    assert len(seen) == 4


@pytest.mark.mongo
def test_a_cascade_goes_on_in_the_jobs_it_makes(towns):
    towns, freed = towns(0), []
    delete_land(towns)
    towns.odm.schemas.bytes_keys["town"] = "name"
    key = only(towns, "removal", "town.land")
    drained = worker_of(towns, free=freed.append).drain([key], 30)
    assert drained == Drained(left=set(), made=set(), deleted={"town": 2})
    assert towns.jobs() == []
    assert freed == [{"rome"}, {"bonn"}]
    ann = next(towns.storage.find("guest", {"_id": ANN}))
    assert {name: value for name, value in ann.items() if name in ("home", "visited")} == {"visited": [LAND_COPY]}


@pytest.mark.parametrize("replaced", [False, True], ids=["in time", "replaced"])
@pytest.mark.mongo
def test_a_job_waits_once_for_a_source_as_new_as_itself(towns, late, pieces_of, replaced):
    pieces_of(1)
    towns, seen = towns(0), []
    rename_all(towns)
    key = only(towns, "copies", "town.land")
    if replaced:
        towns.storage.update_one("land", {"_id": LAND}, {"$set": {"_gw.v": 1}}, ())
    assert worker_of(towns).drain([key], 60, seen.append).left == set()
    assert [(job.after, job.waited) for job in seen] == [(None, False), (ROME, replaced), (BONN, replaced)]
    assert late == ([0.01] * 6 if replaced else [])
    assert {one["land"]["name"] for one in towns.storage.find("town", {})} == {"new"}


@pytest.mark.mongo
def test_a_holder_that_refuses_its_removal_stays_as_it_is_and_stops_no_other(towns, monkeypatch, caplog):
    towns = towns(0)
    towns.storage.update_one("guest", {"_id": BOB}, {"$set": {"visited": [LAND_COPY, SEA_COPY]}}, ())
    delete_land(towns)
    key = only(towns, "removal", "guest.visited")

    def refuse(filter):
        if ANN in filter["_id"]["$in"]:
            raise Conflict("not this one")

    meeting(monkeypatch, towns, "update_many", "guest", refuse)
    assert worker_of(towns).drain([key], 30) == Drained()
    assert towns.jobs() == []
    lists = [one["visited"] for one in towns.storage.find("guest", {}, sort=[("_id", 1)])]
    assert lists == [[LAND_COPY], [SEA_COPY]]
    assert set(caplog.messages) == {f"guest {ANN} could not be updated and is stale: not this one"}


@pytest.mark.mongo
def test_a_list_that_shrinks_between_two_updates_is_emptied_by_the_next_batch(towns, monkeypatch):
    towns, met, seen = towns(0), [], []
    towns.storage.update_one("guest", {"_id": BOB}, {"$set": {"visited": [LAND_COPY, SEA_COPY]}}, ())
    delete_land(towns)
    key = only(towns, "removal", "guest.visited")

    def shrink(_filter):
        met.append(1)
        if len(met) == 2:
            towns.storage.update_one("guest", {"_id": BOB}, {"$set": {"visited": [LAND_COPY]}}, ())

    meeting(monkeypatch, towns, "update_many", "guest", shrink)
    assert worker_of(towns).drain([key], 30, seen.append).left == set()
    assert len(seen) == 2
    assert len(met) == 4
    assert ["visited" in one for one in towns.storage.find("guest", {})] == [False, False]


@pytest.mark.mongo
@pytest.mark.parametrize(("most_bytes", "fits"), [(103, True), (98, False)])
def test_a_holder_with_little_room_is_renewed_alone_if_it_has_room_at_all(towns, caplog, most_bytes, fits):
    """All copies in a town may take 66 or 62 bytes here; this one takes 64."""
    towns, name = towns(0), "n" * 20
    towns.land.find_one_and_update({"_id": LAND}, {"$set": {"name": name}})
    key, before = only(towns, "copies", "town.land"), len(towns.commands)
    towns.storage.most_bytes = most_bytes
    assert worker_of(towns).drain([key], 30).left == set()
    holders, rest = {"$in": [ROME, BONN]}, {**alone("land", LAND), **older(AT_LAND, "$lt")}
    update = {"$set": {AT_LAND: V, "land.name": name}, "$unset": {"land.code": ""}}
    assert towns.commands[before + 2 :] == [
        ("update_many", "town", {"_id": holders, **rest}, update, {"most_bytes": 13 if fits else 9}),
        ("find", "town", {"_id": holders, **rest}, []),
        *(
            command
            for town in (ROME, BONN)
            for command in (
                ("find", "town", {"_id": town, **rest}, ["land"], {"limit": 1}),
                ("update_many", "town", {"_id": town, **rest}, update),
                ("find", "town", {"_id": town}, ["land"], {"limit": 1}),
            )
        ),
    ]
    stale = "could not be updated and is stale: its copies have no room for more"
    assert caplog.messages == ([] if fits else [f"town {town} {stale}" for town in (ROME, BONN)])
    assert {one["land"]["name"] for one in towns.storage.find("town", {})} == {name if fits else "land"}


@pytest.mark.mongo
def test_a_cascade_counts_all_that_went_with_it(few):
    land = add_land(few, 5)
    city = few.city.find_one()["_id"]
    few.club.insert_one(doc={"name": "club"}, relations={"places": {"_ids": [city]}})
    result = few.country.delete_one(filter={"_id": land}, hard_cascade=True)
    assert result == {"deletedCount": 1, "cascaded": {"city": 5, "club": 1}}


@pytest.mark.mongo
def test_a_run_ends_with_the_batch_in_which_its_time_is_over(towns, pieces_of, monkeypatch):
    pieces_of(1)
    towns, seen = towns(0), []
    rename_all(towns)
    key, clock = only(towns, "copies", "town.land"), SimpleNamespace(monotonic=lambda: 100.0 + 60 * len(seen))
    monkeypatch.setattr("gatewayfw.odm.jobs.background.time", clock)
    assert worker_of(towns).drain([key], 30, seen.append).left == {key}
    assert len(seen) == 1
    assert [(job.after, job.leased) for job in towns.odm.jobs()] == [(ROME, None)]


@pytest.mark.mongo
def test_a_job_whose_source_is_gone_is_done(towns, caplog):
    towns = towns(0)
    rename_all(towns)
    key = only(towns, "copies", "town.land")
    towns.storage.delete_many("land", {"_id": LAND})
    assert worker_of(towns).drain([key], 30) == Drained()
    assert towns.jobs() == []
    assert caplog.messages == []


@pytest.mark.mongo
def test_a_holder_that_goes_before_room_is_made_in_it_stops_no_other(towns, monkeypatch, caplog):
    towns = towns(0)
    rename_all(towns)
    key = only(towns, "copies", "town.land")

    def go(filter):
        if filter.get("_id") == ROME:
            towns.storage.delete_many("town", {"_id": ROME})

    meeting(monkeypatch, towns, "find", "town", go)
    towns.storage.most_bytes = 103
    assert worker_of(towns).drain([key], 30) == Drained()
    assert towns.jobs() == []
    assert caplog.messages == []
    assert [(one["_id"], one["land"]["name"]) for one in towns.storage.find("town", {})] == [(BONN, "new")]


def test_removal_from_holders_that_require_one_of_several(few, unattended):
    land = few.add_country("land")
    gone, other = (few.add_city(name, land) for name in ("gone", "other"))
    for number in range(6):
        places = [gone, other] if number % 2 else [gone]
        few.club.insert_one(doc={"name": str(number)}, relations={"places": {"_ids": places}})
    few.city.delete_one(filter={"_id": gone}, hard_cascade=True)
    assert [job.relation for job in few.odm.jobs()] == ["club.places"]
    assert few.odm.work() == 0
    left = [(one["name"], [place["_id"] for place in one["places"]]) for one in few.storage.find("club", {})]
    assert sorted(left) == [(name, [other]) for name in "135"]


def test_a_cascade_in_a_job_takes_care_of_lists_that_are_cut(storage):
    schemas = Schemas(Settings())
    schemas.add("land", {})
    schemas.add("union", {})
    listed = {"schemaName": "union", "type": "single", "relatedRelations": {"towns": {"type": "multiple"}}}
    schemas.add("town", {}, {"land": {"schemaName": "land", "type": "single"}, "union": listed})
    storage.insert("union", [{"_id": SEA, "towns": [{"_id": ROME}], "_gw": {"cut": {"towns": 5}}}])
    storage.insert("town", [{"_id": ROME, "land": {"_id": LAND}, "union": {"_id": SEA}}])
    worker = JobWorker(schemas, storage, 3)
    key = worker.jobs.put("removal", ("land", LAND), schemas.get_relations("town")["land"], V)
    assert worker.drain([key], 30) == Drained(deleted={"town": 1})
    union = next(storage.find("union", {}))
    assert "towns" not in union
    assert "cut" not in union.get("_gw", {})
