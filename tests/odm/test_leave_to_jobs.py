"""Tests see a large change half done, on mongomock as on MongoDB."""

from __future__ import annotations

import threading

import pytest

from gatewayfw import gateway
from gatewayfw.errors import Conflict, UsageError
from gatewayfw.odm.jobs.background import PAUSE, JobWorker
from tests.odm.world import World, define_world


@pytest.fixture
def land(world):
    """A country with 3 cities, all of them in its lists."""
    land = world.add_country("old")
    for number in range(3):
        world.add_city(str(number), land)
    return land


def rename(world, land, name="new"):
    world.country.find_one_and_update({"_id": land}, {"$set": {"name": name}})


def names(world):
    return [city["country"]["name"] for city in world.city.find().sort("_id")]


def told(world):
    return [(job.kind, job.relation) for job in world.odm.jobs()]


def test_a_change_is_seen_before_its_copies_and_done_at_the_end(world, land):
    with world.odm.leave_to_jobs():
        rename(world, land)
        assert world.country.find_one({"_id": land}, projection={"_id": 0, "name": 1}) == {"name": "new"}
        assert (names(world), told(world)) == (["old"] * 3, [("copies", "city.country")])
    assert (names(world), told(world)) == (["new"] * 3, [])


def test_even_one_copy_is_left_to_a_job(world):
    land = world.add_country("old")
    world.add_city("only", land, flags=())
    with world.odm.leave_to_jobs():
        rename(world, land)
        assert (names(world), told(world)) == (["old"], [("copies", "city.country")])


def test_outside_of_the_block_everything_happens_at_once(world, land):
    with world.odm.leave_to_jobs():
        pass
    rename(world, land)
    assert (names(world), told(world)) == (["new"] * 3, [])


@pytest.mark.parametrize(("beyond", "shown"), [(2, "old"), (3, "new")])
def test_a_change_within_the_limit_leaves_no_job(world, land, beyond, shown):
    with world.odm.leave_to_jobs(beyond):
        rename(world, land)
        assert names(world) == [shown] * 3


def test_work_does_the_jobs_inside_the_block(world, land):
    with world.odm.leave_to_jobs():
        rename(world, land)
        assert world.odm.work() == 0
        assert names(world) == ["new"] * 3
        assert told(world) == []


def test_what_is_embedded_meanwhile_is_right(world, land):
    with world.odm.leave_to_jobs():
        rename(world, land)
        world.add_city("late", land)
        assert names(world) == ["old"] * 3 + ["new"]


def test_lists_of_reverse_relations_are_left_too(world, land):
    city = world.city.find_one()["_id"]
    with world.odm.leave_to_jobs():
        world.city.find_one_and_update({"_id": city}, {"$set": {"name": "renamed"}})
        shown = {one["name"] for one in world.raw(world.country, land)["cities"]}
        assert (shown, told(world)) == ({"0", "1", "2"}, [("windows", "city.country")])
    assert {one["name"] for one in world.raw(world.country, land)["cities"]} == {"renamed", "1", "2"}


def test_a_cascade_is_pending_until_its_job_is_done(world, land):
    with world.odm.leave_to_jobs():
        assert world.country.delete_one({"_id": land}, hard_cascade=True) == {
            "deletedCount": 1,
            "cascaded": {},
            "pending": True,
        }
        assert (world.city.count(), told(world)) == (3, [("removal", "city.country")])
        with pytest.raises(Conflict):
            world.country.insert_one(doc={"_id": land, "name": "again"})
    assert (world.city.count(), told(world)) == (0, [])


def test_a_transaction_leaves_its_jobs_when_it_commits_and_none_when_it_fails(world, land):
    def fail():
        rename(world, land, "undone")
        raise KeyError

    with world.odm.leave_to_jobs():
        with pytest.raises(KeyError):
            world.odm.transaction(fail)
        assert (names(world), told(world)) == (["old"] * 3, [])
        world.odm.transaction(lambda: rename(world, land))
        assert (names(world), told(world)) == (["old"] * 3, [("copies", "city.country")])


def test_an_exception_leaves_the_jobs_as_they_are(world, land):
    with pytest.raises(KeyError), world.odm.leave_to_jobs():
        rename(world, land)
        raise KeyError
    assert (names(world), told(world)) == (["old"] * 3, [("copies", "city.country")])
    assert world.odm.work() == 0
    assert names(world) == ["new"] * 3
    assert told(world) == []


def test_an_inner_block_ends_alone(world, land):
    with world.odm.leave_to_jobs():
        with world.odm.leave_to_jobs(5):
            rename(world, land, "first")
            assert names(world) == ["first"] * 3
        rename(world, land, "second")
        assert names(world) == ["first"] * 3


def test_other_threads_of_the_gateway_leave_jobs_too(world, land):
    with world.odm.leave_to_jobs():
        thread = threading.Thread(target=rename, args=(world, land))
        thread.start()
        thread.join()
        assert names(world) == ["old"] * 3


def test_who_attends_to_jobs_passes_over_those_that_wait(world, land):
    worker = JobWorker(world.odm.schemas, world.storage, 3)
    with pytest.raises(KeyError), world.odm.leave_to_jobs():
        rename(world, land)
        raise KeyError
    with worker.leave(0):
        assert (worker.attend(), names(world)) == (PAUSE, ["old"] * 3)
    assert (worker.attend(), names(world)) == (PAUSE, ["new"] * 3)


@pytest.mark.parametrize("beyond", [-1, 0.5, True, "1", None])
def test_a_limit_that_is_none_is_refused(world, beyond):
    with pytest.raises(UsageError) as raised, world.odm.leave_to_jobs(beyond):
        pass
    assert raised.value.message == "leave_to_jobs: beyond must be a whole number, 0 or more"


def test_requests_see_a_change_half_done(database):
    gw = gateway()
    gw.odm.set_db(database)
    world = World(gw.odm, define_world(gw.odm))
    land = world.add_country("old")
    world.add_city("city", land)
    gw.acts.act("country", "rename")(lambda body: rename(world, land))
    gw.acts.act("city", "names", get={"country": {"name": 1}})(
        lambda body: world.city.find(projection=body["details"]["get"])
    )
    client = gw.create_app().test_client()

    def ask(model, act, get):
        body = {"model": model, "act": act, "details": {"set": {}, "get": get}}
        return client.post("/gateway", json=body).json["body"]

    get = {"_id": 0, "country": {"name": 1}}
    with gw.odm.leave_to_jobs():
        ask("country", "rename", {})
        assert ask("city", "names", get) == [{"country": {"name": "old"}}]
    assert ask("city", "names", get) == [{"country": {"name": "new"}}]
