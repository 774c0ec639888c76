"""What a pending job will correct is not told copy by copy; what it will not is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bson import Binary, ObjectId

from gatewayfw.odm import Odm, Problem
from gatewayfw.odm.jobs.records import COLLECTION, Jobs
from gatewayfw.odm.upkeep import inspection
from gatewayfw.odm.upkeep.inspection import Pending, concerns
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings
from tests.odm.noted import note_commands

DIFFERS = "differs from its source"
#: Cities in a batch, and in two.
BATCH, CITIES = 20, 40


@pytest.fixture
def odm(storage, monkeypatch):
    """Two batches of cities of a land whose new name a job has still to bring to all of them."""
    monkeypatch.setattr(inspection, "BATCH", BATCH)
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(storage, memory=True)
    names = {"name": string()}
    odm.new_model("land", names)
    reverse = {"type": "multiple", "limit": 3}
    odm.new_model(
        "city", names, {"land": {"schemaName": "land", "type": "single", "relatedRelations": {"cities": reverse}}}
    )
    odm.land = odm.model("land").insert_one({"name": "old"})["_id"]
    odm.cities = [ObjectId() for _ in range(CITIES)]
    copy = {"_id": odm.land, "name": "old"}
    storage.insert("city", [{"_id": id_, "name": "city", "land": copy} for id_ in odm.cities])
    list(odm.integrity.repair())
    return odm


def rename(odm):
    """Change the land, and leave all copies to a job."""
    with pytest.raises(KeyError), odm.leave_to_jobs():
        odm.model("land").find_one_and_update({"_id": odm.land}, {"$set": {"name": "new"}})
        raise KeyError
    [job] = odm.jobs()
    return job


def told(job):
    return Problem(job.model, job.id, job.relation, "some copies are old", pending=True)


def damage(odm, *numbers):
    """Let cities say that they have the newest copy, which no job renews."""
    version = next(odm.storage.find("land", {}))["_gw"]["v"]
    ids = [odm.cities[number] for number in numbers]
    odm.storage.update_many("city", {"_id": {"$in": ids}}, {"$set": {f"_gw.at.land.{odm.land}": version}})
    return [Problem("city", id_, f"land.{odm.land}", DIFFERS) for id_ in ids]


@pytest.mark.parametrize("run", ["check", "repair"])
def test_a_job_is_one_problem_without_transactions_and_hardly_more_commands(odm, monkeypatch, run):
    commands = note_commands(odm.storage)
    assert list(getattr(odm.integrity, run)()) == []
    usual = len(commands)
    job = rename(odm)
    commands.clear()
    monkeypatch.setattr(odm.storage, "transaction", pytest.fail)
    assert list(getattr(odm.integrity, run)()) == [told(job)]
    assert len(commands) <= usual + CITIES // BATCH


def test_what_the_job_will_not_mend_is_found_beside_it(odm):
    job = rename(odm)
    wrong = damage(odm, 3, 28)
    assert list(odm.integrity.check()) == [told(job), *wrong]
    assert list(odm.integrity.repair()) == [told(job), *(replace(one, state="mended") for one in wrong)]
    assert odm.work() == 0
    assert list(odm.integrity.check()) == []


@pytest.mark.parametrize("again", [False, True])
def test_copies_that_the_job_has_passed_are_found(odm, again):
    job = rename(odm)
    odm.storage.update_one(COLLECTION, {"_id": job.key}, {"$set": {"after": odm.cities[1], "again": again}}, ())
    passed = [Problem("city", id_, f"land.{odm.land}", DIFFERS) for id_ in odm.cities[:2]]
    assert list(odm.integrity.check()) == ([told(job)] if again else [told(job), *passed])


def test_a_copy_in_a_form_that_the_job_passes_over_is_found(odm):
    job = rename(odm)
    other = odm.cities[0]
    odm.storage.update_one("city", {"_id": other}, {"$set": {"land": [{"_id": odm.land, "name": "old"}]}}, ())
    found = [(one.id, one.path, one.pending) for one in odm.integrity.check()]
    assert found == [(job.id, "city.land", True), (other, "land", False), (other, f"land.{odm.land}", False)]


def test_a_job_that_cannot_be_read_hides_nothing(odm):
    rename(odm)
    odm.storage.update_many(COLLECTION, {}, {"$set": {"token": "strange"}})
    assert len(list(odm.integrity.check())) == CITIES


def test_a_job_is_told_once_for_all_models_and_batches(odm, monkeypatch):
    monkeypatch.setattr(inspection, "BATCH", 4)
    job = rename(odm)
    wrong = damage(odm, *range(0, CITIES, 2))
    found = list(odm.integrity.check())
    assert (found.count(told(job)), [one for one in found if not one.pending]) == (1, wrong)


def test_a_removal_is_one_problem(odm):
    with pytest.raises(KeyError), odm.leave_to_jobs():
        odm.model("land").delete_one({"_id": odm.land}, hard_cascade=True)
        raise KeyError
    [job] = odm.jobs()
    found = Problem("land", odm.land, "city.land", "some copies are not removed", pending=True)
    assert list(odm.integrity.check()) == [found]
    assert list(odm.integrity.repair(delete_orphans=True)) == [found]
    assert odm.storage.count("city", {}) == CITIES
    odm.storage.delete_many(COLLECTION, {"_id": job.key})
    assert len(list(odm.integrity.check())) == CITIES


def test_windows_that_a_job_corrects_are_one_problem(odm, monkeypatch):
    relation = odm.schemas.get_schema("city").relations["land"]
    lands = [ObjectId() for _ in range(5)]
    odm.storage.insert("land", [{"_id": id_, "name": "x", "cities": [{"_id": id_}]} for id_ in lands])
    Jobs(odm.storage).put("windows", ("city", odm.cities[0]), relation, 1, lands[1:])
    job = Problem("city", odm.cities[0], "city.land", "some windows are old", pending=True)
    wrong = Problem("land", lands[0], "cities", "differs from its members")
    assert list(odm.integrity.check()) == [job, wrong]
    assert odm.work() == 0
    assert list(odm.integrity.check()) == [wrong]


IDS = [None, 7, "text", {"a": 1}, Binary(b"x", 4), ObjectId("a" * 24), ObjectId("b" * 24), False]


@pytest.mark.mongo
@pytest.mark.parametrize("passed", [1, 4, 6])
def test_a_job_comes_to_ids_of_all_kinds_in_the_order_of_the_database(world, passed):
    """It has passed some of them."""
    relation = world.odm.schemas.get_schema("city").relations["country"]
    land = ObjectId()
    documents = [{"_id": id_, "country": {"_id": land, "name": "x"}} for id_ in IDS]
    world.storage.insert("city", documents)
    key = Jobs(world.storage).put("copies", ("country", land), relation, 2)
    world.storage.update_one(COLLECTION, {"_id": key}, {"$set": {"after": IDS[passed]}}, ())
    pending = Pending(world.storage, "city", documents)
    found = [pending.of_copy(relation, one, land, 0, False) for one in documents]
    world.storage.delete_many("city", {"country._id": land})
    world.storage.delete_many(COLLECTION, {})
    assert [job is not None for job in found] == [False] * (passed + 1) + [True] * (len(IDS) - passed - 1)


@pytest.mark.parametrize(
    ("kind", "type", "version", "is_gone", "expected"),
    [
        ("copies", "single", 0, False, True),
        ("copies", "multiple", 0, False, False),
        ("copies", "single", 0, True, False),
        ("removal", "single", 0, False, False),
        ("removal", "single", 5, True, True),
        ("removal", "single", 6, True, False),
        ("removal", "multiple", 5, True, False),
    ],
)
def test_a_job_concerns_copies_of_its_kind_form_and_version(odm, kind, type, version, is_gone, expected):
    relation = odm.schemas.get_schema("city").relations["land"]
    job = replace(rename(odm), kind=kind, type=type, v=5)
    assert concerns(job, relation, {"land": {"_id": odm.land}}, version, is_gone) is expected
