"""`check` finds every kind of damage and nothing else, whatever goes on meanwhile."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime

import pytest
from bson import ObjectId

from gatewayfw import string
from gatewayfw.errors import NotFound
from gatewayfw.odm import Integrity, Place, Problem
from gatewayfw.odm.jobs.records import Jobs
from gatewayfw.odm.upkeep import inspection
from tests.odm.damage import DIFFERS, MENDABLE, UNDECIDED, WRONG, damaged, furnish
from tests.odm.world import populate_once


@pytest.fixture
def here(world, populations):
    """The ids of a furnished world."""
    return populate_once(world, furnish, populations)


@pytest.fixture
def integrity(world):
    """The integrity of the world."""
    return Integrity(world.odm.schemas, world.storage)


def test_an_intact_world_has_no_problems(integrity, here):
    assert list(integrity.check()) == []


@pytest.mark.parametrize("row", [pytest.param(row.values, id=row.id) for row in MENDABLE + UNDECIDED])
def test_each_damage_is_found_alone_and_nothing_is_written(world, integrity, here, row):
    with damaged(world, here, row) as expected:
        before = world.digest()
        assert list(integrity.check()) == expected
        assert world.digest() == before


def test_a_copy_of_not_a_number_is_right(world, integrity):
    land = world.add_country("land", population=1)
    city = world.add_city("city", land)
    for model, id_, path in (("country", land, "population"), ("city", city, "country.population")):
        world.storage.update_one(model, {"_id": id_}, {"$set": {path: float("nan")}}, ())
    assert list(integrity.check()) == []
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"population": 2}})


@pytest.mark.parametrize("value", [True, 1.0])
def test_a_copy_that_only_python_takes_for_equal_is_found(world, integrity, value):
    land = world.add_country("land", population=1)
    city = world.add_city("city", land)
    world.storage.update_one("city", {"_id": city}, {"$set": {"country.population": value}}, ())
    found = Problem("city", city, f"country.{land}", "differs from its source")
    assert list(integrity.check()) == [found]
    assert [one.state for one in integrity.repair()] == ["mended"]


@pytest.mark.parametrize("id_", [{"x": 1}, [ObjectId()], "text", 7])
def test_a_single_reverse_of_no_id_is_found(world, integrity, here, id_):
    world.storage.update_one("country", {"_id": here.land}, {"$set": {"capital": {"_id": id_, "name": "x"}}}, ())
    found = [(problem.id, problem.path, problem.reason) for problem in integrity.check()]
    assert found == [(here.land, "capital", "differs from its members")]
    assert [one.state for one in integrity.repair()] == ["mended"]


def test_what_a_job_is_about_to_set_right_is_pending(world, integrity, here):
    born = world.person.schema.relations["born"]
    jobs = Jobs(world.storage)
    keys = [jobs.put("copies", ("country", here.land), born, 2)]
    keys.append(jobs.put("windows", ("person", here.ann), born, 2, [here.land]))
    world.storage.update_one("country", {"_id": here.land}, {"$set": {"_gw.v": 2}}, ())
    intact = world.digest()
    world.storage.update_one("person", {"_id": here.ann}, {"$set": {"born.name": "x", "home.name": "x"}}, ())
    world.storage.update_one("country", {"_id": here.land}, {"$unset": {"natives": "", "biggest": ""}}, ())
    found = [
        Problem("country", here.land, "biggest", WRONG),
        Problem("person", here.ann, "person.born", "some windows are old", pending=True),
        Problem("person", here.ann, f"home.{here.city}", DIFFERS),
        Problem("country", here.land, "person.born", "some copies are old", pending=True),
    ]
    assert list(integrity.check()) == found
    mended = [problem if problem.pending else replace(problem, state="mended") for problem in found]
    assert list(integrity.repair()) == mended
    for key in keys:
        world.storage.delete_many("_gw_jobs", {"_id": key})
    # The windows of a document are recomputed together, so that of the job was mended with the other.
    assert [problem.state for problem in integrity.repair()] == ["mended"]
    person = intact["person"][0]
    person["_gw"]["at"]["born"] = {str(here.land): 2}
    assert world.digest() == {**intact, "person": [person, *intact["person"][1:]]}


def test_a_copy_that_no_job_will_renew_is_not_pending(world, integrity, here):
    key = Jobs(world.storage).put("copies", ("country", here.land), world.person.schema.relations["born"], 1)
    world.storage.update_one("person", {"_id": here.ann}, {"$set": {"born.name": "x"}}, ())
    assert list(integrity.repair()) == [Problem("person", here.ann, f"born.{here.land}", DIFFERS, state="mended")]
    world.storage.delete_many("_gw_jobs", {"_id": key})


# -- batches


IDS = [None, 7, 7.5, "text", "", {"a": 1}, b"bytes", ObjectId(), ObjectId(), False, datetime(2020, 1, 2)]


@pytest.fixture
def strange(world, monkeypatch):
    """Persons with ids of every kind, each of them wrong, and batches of two documents."""
    monkeypatch.setattr(inspection, "BATCH", 2)
    world.storage.insert("person", [{"_id": id_, "name": "x", "visited": []} for id_ in IDS])
    yield
    for id_ in IDS:
        world.storage.delete_many("person", {"_id": id_})


def test_documents_with_ids_of_every_kind_are_found_in_order(integrity, strange):
    ordered = [None, 7, 7.5, "", "text", {"a": 1}, b"bytes", *sorted(IDS[7:9]), False, datetime(2020, 1, 2)]
    assert [problem.id for problem in integrity.check()] == ordered


def test_a_run_goes_on_from_every_place(world, integrity, here, strange):
    places, found, at = [], [], []

    def note(place):
        places.append(Place(**json.loads(json.dumps(asdict(place)))))
        at.append(len(found))

    for problem in integrity.check(on_progress=note):
        found.append(problem)
    assert len(found) == len(IDS)
    assert [list(integrity.check(after=place)) for place in places] == [found[count:] for count in at]
    assert (places[-1].done, {place.total for place in places}) == (24, {24})
    assert [(place.last, place.done) for place in places if place.model == "person" and "oid" not in place.last] == [
        ('{"$numberInt": "7"}', 12),
        ('{"$numberDouble": "7.5"}', 13),
        ('"text"', 15),
        ('{"a": {"$numberInt": "1"}}', 16),
        ('{"$binary": {"base64": "Ynl0ZXM=", "subType": "00"}}', 17),
        ("false", 22),
        ('{"$date": {"$numberLong": "1577923200000"}}', 23),
    ]


def test_documents_are_counted_only_to_tell_how_far_a_run_has_come(world, integrity, here, asked):
    counts = asked("count", of=world.storage)
    assert list(integrity.check()) == []
    assert counts == []
    assert list(integrity.check(on_progress=len_of)) == []
    assert [given for _, given, _ in counts] == [(name, {}) for name in ("country", "city", "person", "club", "trip")]


def len_of(place):
    """Be called with a place."""


def test_progress_goes_on_too(integrity, here, monkeypatch):
    monkeypatch.setattr(inspection, "BATCH", 2)
    whole, rest = [], []
    assert list(integrity.check(on_progress=whole.append)) == []
    assert list(integrity.check(after=whole[2], on_progress=rest.append)) == []
    assert rest == whole[3:]


def test_a_place_in_an_unknown_model_is_refused(integrity):
    with pytest.raises(NotFound, match="^model not found: nothing$"):
        list(integrity.check(after=Place("nothing", "1", 0, 0)))


def test_a_model_that_embeds_nothing_is_checked_for_its_hidden_field(odm):
    plain = odm.new_model("plain", {"name": string()})
    id_ = plain.insert_one({"name": "x"})["_id"]
    odm.storage.update_one("plain", {"_id": id_}, {"$set": {"_gw": None}}, ())
    assert list(odm.integrity.check()) == [Problem("plain", id_, "_gw", "is damaged")]


@pytest.mark.parametrize(
    "parts",
    [
        (1, "1", 0, 0),
        ("city", 1, 0, 0),
        ("city", "garbage", 0, 0),
        ("city", '{"$oid": "x"}', 0, 0),
        ("city", "1", "0", 0),
        ("city", "1", 0, "0"),
        ("city", "1", 0, True),
        ("city", "1", None, 0),
    ],
)
def test_a_place_that_cannot_be_is_refused(parts):
    whole = "a place has a model, its last _id, and two numbers of documents"
    text = "last is not an _id in extended JSON" if parts[1] in ("garbage", '{"$oid": "x"}') else whole
    with pytest.raises(ValueError, match=f"^{text}$"):
        Place(*parts)


def test_a_place_keeps_an_id_of_any_kind():
    dates = '{"$date": {"$numberLong": "1577923200000"}}', datetime(2020, 1, 2)
    for last, id_ in (dates, ('"text"', "text"), ("null", None), ('{"$oid": "' + "a" * 24 + '"}', ObjectId("a" * 24))):
        assert Place("city", last, 0, 0).last_id() == id_


def test_no_more_than_a_batch_is_read_at_once(world, integrity, here, monkeypatch):
    monkeypatch.setattr(inspection, "BATCH", 5)
    countries = [world.add_country(f"land {number}") for number in range(12)]
    for country in countries:
        world.add_city("city", country, flags=("cities",))
    friends = [world.add_person(f"friend {number}") for number in range(7)]
    world.add_person("popular", {"friends": {"_ids": friends}})
    find, sizes = world.storage.find, []

    def counted(*args, **keys):
        sizes.append(0)
        for document in find(*args, **keys):
            sizes[-1] += 1
            yield document

    monkeypatch.setattr(world.storage, "find", counted)
    assert list(integrity.check()) == []
    assert max(sizes) == 5


def test_an_absent_window_is_found_among_members_that_opted_out(world, integrity, monkeypatch):
    monkeypatch.setattr(inspection, "BATCH", 2)
    lands = [world.add_country(name) for name in "ab"]
    for land, flags in ((lands[0], ()), (lands[0], ()), (lands[1], ("cities",))):
        world.add_city("city", land, flags=flags)
    world.storage.update_one("country", {"_id": lands[1]}, {"$unset": {"cities": ""}}, ())
    assert list(integrity.check()) == [Problem("country", lands[1], "cities", WRONG)]
    assert [problem.state for problem in integrity.repair()] == ["mended"]


def test_a_batch_ends_when_it_holds_many_copies(world, integrity, here, monkeypatch):
    monkeypatch.setattr(inspection, "MOST_COPIES", 2)
    places = []
    assert list(integrity.check(on_progress=places.append)) == []
    assert [place.done for place in places if place.model == "country"] == [1, 5]


def test_a_batch_ends_when_it_holds_many_bytes(world, integrity, here, monkeypatch):
    monkeypatch.setattr(inspection, "MOST_BYTES", 400)
    places = []
    assert list(integrity.check(on_progress=places.append)) == []
    assert [place.done for place in places if place.model == "country"] == [1, 5]


# -- writers at work


@contextmanager
def writers(world, here, count=3):
    """Threads that rename, move and add until the block ends; their errors are raised then."""
    stop, errors = threading.Event(), []

    def write(number):
        try:
            turn = 0
            while not stop.is_set():
                turn += 1
                city = here.cities[(turn + number) % 4]
                flags = {"cities": True, "biggest": turn % 2 == 0, "capital": True}
                to = {"_ids": (here.land, here.other)[turn % 2], "relatedRelations": flags}
                world.country.find_one_and_update(
                    filter={"_id": here.land}, update={"$set": {"name": f"{number} {turn}"}}
                )
                world.city.find_one_and_update(filter={"_id": city}, update={"$set": {"population": turn}})
                world.city.add_relation(filters={"_id": city}, relations={"country": to}, replace=True)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []


def test_writers_cause_no_false_alarm(world, integrity, here):
    """Conflicts may leave a job; what it is about to set right is pending, and no false alarm."""
    with writers(world, here):
        rounds = [list(integrity.check()) for _ in range(15)]
    world.odm.work()
    assert [problem for found in rounds for problem in found if not problem.pending] == []


def test_a_difference_that_is_set_right_meanwhile_is_no_problem(world, integrity, here):
    """The test before this one has something to see: a document read before a write differs after it."""
    inspector = inspection.Inspector(world.odm.schemas, world.storage)
    batches = list(inspector.batches(world.country.schema))
    world.city.find_one_and_update(filter={"_id": here.cities[3]}, update={"$set": {"name": "renamed"}})
    assert [inspector.suspects(world.country.schema, batch) for batch in batches] == [([here.land], [])]
    assert list(integrity.check()) == []
