"""Documents whose hidden field another tool has damaged stop nothing, and are mended."""

from __future__ import annotations

import logging
from functools import partial

import pytest
from bson import Decimal128

from gatewayfw.errors import StorageError, ValidationError
from gatewayfw.odm.upkeep.integrity import Integrity
from gatewayfw.odm.writing.plan import attempt
from tests.odm.noted import note_commands
from tests.odm.oracle import copy_to_memory
from tests.odm.world import populate_once

NAN, LAST = float("nan"), 2**63 - 1
#: Damaged hidden fields. In them ``LAND`` stands for the id of the country that a city embeds.
FORMS = [
    *(None, "text", 5, True, [], [{"v": 1}], Decimal128("NaN")),
    *({"v": value} for value in ("text", None, LAST, -1, NAN, 5.0, Decimal128("5"), True, [], {"x": 1})),
    *({part: value} for part in ("rev", "r") for value in (None, LAST, NAN, 5.0)),
    *({"at": value} for value in (None, [1], {"country": None}, {"country": []})),
    *({"at": {"country": {"LAND": value}}} for value in (None, "text", LAST, NAN, {})),
    *({"out": value} for value in (None, {"country": []}, {"country": {"cities": "text"}})),
    *({"out": {"country": {"cities": value}}} for value in (None, ["text"])),
    *({"some": {"country": {"cities": value}}} for value in (None, "text", False)),
    *({"in": {"country": {"cities": value}}} for value in (None, ["text"])),
    *({"cut": value} for value in (None, [5], {"cities": "text"}, {"cities": NAN})),
]
#: Of each part one that an operator refuses, and one that it takes or that is of another form.
SOME = [
    *(None, "text", [{"v": 1}], {"v": "text"}, {"v": LAST}, {"v": NAN}, {"rev": LAST}, {"r": None}, {"at": None}),
    *({"at": {"country": value}} for value in ([], {"LAND": "text"}, {"LAND": LAST})),
    *({"out": {"country": value}} for value in ([], {"cities": "text"})),
    *({"cut": value} for value in ([5], {"cities": "text"})),
]
with_some = pytest.mark.parametrize("form", SOME, ids=repr, indirect=True)


@pytest.fixture(params=FORMS, ids=repr)
def form(request):
    """A damaged hidden field."""
    return request.param


def settle(world):
    """Add a country with a version and four cities, of which the third is in no window of it; return the ids."""
    land = world.add_country("land")
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"population": 1}})
    flags = [("cities", "biggest", "capital"), ("cities",), (), ("cities", "biggest")]
    return land, [world.add_city(f"city {one}", land, flags=names, population=5) for one, names in enumerate(flags)]


@pytest.fixture
def settled(world, populations):
    """What `settle` returns; after the test everything must be mended, or be so by one repair."""
    yield populate_once(world, settle, populations)
    list(world.odm.integrity.repair())  # after it the fixture `world` finds nothing
    stored = copy_to_memory(world.odm.schemas, world.storage)
    assert list(Integrity(world.odm.schemas, stored).check()) == []


@pytest.fixture
def land(settled):
    """The id of a country with a version."""
    return settled[0]


@pytest.fixture
def cities(settled):
    """The ids of four cities in it, of which the third is in no window of it."""
    return settled[1]


@pytest.fixture
def damaged(world, land, cities, form):
    """The country and the second city, each as (model, id), with a damaged hidden field."""
    documents = [("country", land), ("city", cities[1])]
    for model, id_ in documents:
        world.storage.update_one(model, {"_id": id_}, {"$set": {"_gw": named(form, land)}}, ())
    return documents


def named(form, land):
    """A form with an id in the place of its name."""
    if isinstance(form, dict):
        return {str(land) if name == "LAND" else name: named(part, land) for name, part in form.items()}
    return form


def names_of(world, land):
    """The name of the country in each city, in order."""
    found = world.storage.find("city", {"country._id": land}, ["country.name"], sort=[("_id", 1)])
    return [one["country"]["name"] for one in found]


def problems_of(found):
    return [(one.model, one.id, one.reason, one.state) for one in found if one.path.startswith("_gw")]


def test_check_names_it_and_repair_mends_it(world, damaged):
    assert problems_of(world.odm.integrity.check()) == [(*one, "is damaged", "found") for one in damaged]
    assert problems_of(world.odm.integrity.repair()) == [(*one, "is damaged", "mended") for one in damaged]
    assert list(world.odm.integrity.check()) == []


def test_a_source_is_renamed_in_all_its_holders(world, land, damaged):
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new"}})
    assert names_of(world, land) == ["new"] * 4


@with_some
def test_a_job_renews_all_copies(world, land, damaged):
    with world.odm.leave_to_jobs():
        world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new"}})
    assert names_of(world, land) == ["new"] * 4
    assert world.odm.jobs() == []


@with_some
def test_many_are_updated(world, land, damaged):
    assert world.city.update_many({"country._id": land}, {"$inc": {"population": 1}})["matched"] == 4
    assert [one["population"] for one in world.storage.find("city", {})] == [6] * 4


@with_some
@pytest.mark.parametrize("at", [0, 1], ids=["source", "holder"])
def test_it_is_changed_itself(world, damaged, at):
    name, id_ = damaged[at]
    model = getattr(world, name)
    before = model.find_one({"_id": id_}, projection={"_rev": 1})["_rev"]
    model.find_one_and_update({"_id": id_}, {"$set": {"population": 7}})
    shown = model.find_one({"_id": id_}, projection={"population": 1, "_rev": 1})
    assert shown["population"] == 7
    assert shown["_rev"] > before


@with_some
def test_others_enter_and_leave(world, land, cities, damaged):
    world.add_city("new", land)
    assert world.city.delete_one({"_id": cities[0]})
    other = world.add_country("other")
    related = {"country": {"_ids": other, "relatedRelations": {"cities": True}}}
    for id_ in cities[1:3]:
        world.city.add_relation({"_id": id_}, relations=related, replace=True)
    listed = world.country.find_one({"_id": other}, projection={"cities": {"name": 1}})["cities"]
    assert [one["name"] for one in listed] == ["city 2", "city 1"]


@with_some
def test_all_are_deleted(world, land, damaged):
    assert world.country.delete_one({"_id": land}, hard_cascade=True)["cascaded"] == {"city": 4}
    assert set(map(len, world.digest().values())) == {0}


def test_a_damaged_version_goes_on_above_all_that_copies_may_have(world, land, cities):
    world.storage.update_one("country", {"_id": land}, {"$set": {"_gw": {"v": "text"}}}, ())
    world.country.find_one_and_update({"_id": land}, {"$set": {"name": "new"}})
    assert world.raw(world.country, land)["_gw"]["v"] > 1_700_000_000_000_000


def test_the_log_names_the_document_that_a_write_resets(world, land, cities, caplog):
    world.storage.update_one("city", {"_id": cities[1]}, {"$set": {"_gw": {"at": None, "v": 2}}}, ())
    with caplog.at_level(logging.WARNING, "gatewayfw.odm"):
        world.country.find_one_and_update({"_id": land}, {"$set": {"name": "new"}})
    told = f"city {cities[1]}: another tool damaged _gw.at, which is reset: flask gateway repair mends what follows"
    assert caplog.messages == [told]


def test_a_write_begins_again_after_another_writer_has_mended_it(world, land, cities, monkeypatch):
    mend = attempt.mend_met
    monkeypatch.setattr(attempt, "mend_met", lambda storage, error: mend(storage, error) and False)
    world.storage.update_one("city", {"_id": cities[1]}, {"$set": {"_gw": None}}, ())
    world.country.find_one_and_update({"_id": land}, {"$set": {"name": "new"}})
    assert names_of(world, land) == ["new"] * 4


@pytest.mark.parametrize("hidden", [None, {"later": NAN}])
def test_a_value_that_an_operator_does_not_fit_is_still_the_callers_error(world, cities, hidden):
    world.storage.update_one("city", {"_id": cities[1]}, {"$set": {"_gw": hidden, "population": "text"}}, ())
    with pytest.raises(ValidationError, match="^validation error: update.population: "):
        world.city.find_one_and_update({"_id": cities[1]}, {"$inc": {"population": 1}})
    world.storage.update_one("city", {"_id": cities[1]}, {"$set": {"population": 5}}, ())


def test_only_damaged_documents_are_looked_at_one_by_one(world, land, cities):
    world.storage.update_one("city", {"_id": cities[1]}, {"$set": {"_gw": None}}, ())
    noted = note_commands(world.storage)
    world.country.find_one_and_update({"_id": land}, {"$set": {"name": "new"}})
    alone = [given for name, *given in noted if name == "find" and given[0] == "city" and given[-1] == {"limit": 1}]
    assert alone == [["city", {"_id": cities[1]}, ["_gw"], {"limit": 1}]]


def test_nothing_is_reset_within_another_transaction(world, cities):
    world.storage.update_one("city", {"_id": cities[1]}, {"$set": {"_gw": None}}, ())
    rename = partial(world.city.find_one_and_update, {"_id": cities[1]}, {"$set": {"name": "new"}})
    with pytest.raises(StorageError):
        world.storage.transaction(rename)
    assert [one["_gw"] for one in world.storage.find("city", {"_id": cities[1]})] == [None]
