"""Revisions: what raises them, what shows them, and what a write makes of them."""

from __future__ import annotations

import threading

import pytest
from bson import ObjectId

from gatewayfw.errors import Stale, ValidationError
from gatewayfw.odm.hidden import of_revision, revision_of
from gatewayfw.schemas import string

ID = ObjectId("a" * 24)
REV = {"_rev": 1}


def rev(model, id_):
    return model.find_one({"_id": id_}, projection=REV)["_rev"]


@pytest.fixture
def person(world):
    return world.add_person("p")


def rename(model, id_, **options):
    return model.find_one_and_update({"_id": id_}, {"$set": {"name": "new"}}, projection=REV, **options)


@pytest.mark.parametrize("document", [{}, {"_gw": None}, {"_gw": {}}, {"_gw": {"r": "x"}}, {"_gw": {"r": True}}])
def test_a_document_without_a_counter_is_at_revision_0(document):
    assert revision_of(document) == 0


def test_revision_0_is_also_an_absent_one():
    assert of_revision({"a": 1}, 0) == {"a": 1, "_gw.r": {"$in": [0, None]}}
    assert of_revision({}, 2) == {"_gw.r": 2}
    assert of_revision({}, None) == {}
    assert of_revision({}, 2**63 - 1) == {"_gw.r": 2**63 - 1}


@pytest.mark.parametrize("given", [True, -1, 1.0, "1", 2**63, [1], {"$gt": 0}])
def test_only_whole_numbers_are_revisions(world, person, given):
    with pytest.raises(ValidationError) as raised:
        rename(world.person, person, rev=given)
    assert raised.value.errors == {"rev": ["Must be a whole number from 0."]}


# -- what raises it


def test_each_change_of_a_document_raises_its_revision(world, land, person):
    model, wanted, visit = world.person, {"_id": person}, {"visited": {"_ids": [land]}}
    seen = [
        model.find_one(wanted, projection=REV),
        model.find_one_and_update(wanted, {"$set": {"name": "b"}}, projection=REV),
        model.find_one_and_update(wanted, {"$inc": {"age": 1}}, projection=REV),
        model.add_relation(wanted, relations=visit, projection=REV),
        model.add_relation(wanted, relations=visit, projection=REV),
        model.remove_relation(wanted, relations=visit, projection=REV),
        model.remove_relation(wanted, relations={"visited": {"_ids": []}}, projection=REV),
    ]
    assert seen == [{"_id": person, "_rev": number} for number in range(7)]
    model.update_many(wanted, {"$set": {"name": "c"}})
    assert rev(model, person) == 7


def test_what_is_kept_up_to_date_in_a_document_does_not(world, land):
    city = world.add_city("city", land)
    world.country.find_one_and_update({"_id": land}, {"$set": {"name": "new"}})
    world.city.find_one_and_update({"_id": city}, {"$set": {"population": 1}})
    world.storage.update_one("city", {"_id": city}, {"$set": {"country.name": "wrong"}}, ())
    list(world.odm.integrity.repair())
    assert rev(world.country, land) == 1
    assert rev(world.city, city) == 1
    assert world.city.find_one({"_id": city})["country"]["name"] == "new"


def test_a_lost_copy_does(world, land):
    ways = {"visited": {"_ids": [land]}, "born": {"_ids": land}}
    person = world.add_person("p", ways)
    world.country.delete_one({"_id": land}, hard_cascade=True)
    assert world.raw(world.person, person) == {"_id": person, "name": "p", "active": True, "_gw": {"r": 1}}


def test_a_copy_that_a_job_takes_away_does(world, land):
    other = world.add_country("other")
    one = world.add_person("one", {"visited": {"_ids": [land]}})
    both = world.add_person("both", {"visited": {"_ids": [land, other]}})
    with world.odm.leave_to_jobs():
        world.country.delete_one({"_id": land}, hard_cascade=True)
        assert rev(world.person, one) == 0
        assert rev(world.person, both) == 0
    assert rev(world.person, one) == 1
    assert rev(world.person, both) == 1


def test_a_document_with_its_predecessors_id_has_no_revision_of_it(world):
    given = {"_id": ID, "name": "a"}
    before = world.person.insert_one(given, projection=REV)["_rev"]
    assert rev(world.person, ID) == before
    assert type(rev(world.person, ID)) is int
    assert rename(world.person, ID, rev=before) == {"_id": ID, "_rev": before + 1}
    world.person.delete_one({"_id": ID})
    after = world.person.insert_one(given, projection=REV)["_rev"]
    assert 1_000_000_000_000_000 < before < before + 1 < after < 2**53


# -- what shows it


def test_only_who_names_it_sees_it(world, person):
    rename(world.person, person)
    shown = world.person.find_one({"_id": person}, projection={"_rev": 1, "name": 1})
    assert shown == {"_id": person, "_rev": 1, "name": "new"}
    assert "_rev" not in world.person.find_one({"_id": person})
    assert world.person.find_one({"_id": person}, projection={"_rev": 0, "name": 1}) == {"_id": person, "name": "new"}
    assert world.person.find({"_id": person}, projection={"_id": 0, "_rev": 1}).to_list() == [{"_rev": 1}]


def test_a_document_beside_copies_shows_it(world, land):
    city = world.add_city("city", land)
    get = {"_rev": 1, "country": {"name": 1, "cities": {"name": 1}}}
    country = {"name": "land", "cities": [{"name": "city"}]}
    assert world.city.find_one({"_id": city}, projection=get) == {"_id": city, "_rev": 0, "country": country}


@pytest.mark.parametrize(
    ("get", "path"),
    [
        ({"country": {"_rev": 1}}, "get.country._rev"),
        ({"country": {"cities": {"_rev": 0}}}, "get.country.cities._rev"),
    ],
)
def test_a_copy_has_none(world, get, path):
    with pytest.raises(ValidationError) as raised:
        world.city.find_one({}, projection=get)
    assert raised.value.errors == {path: ["A copy has no revision: ask for it at the top."]}


def test_rows_of_a_listing_show_it(world, person):
    rename(world.person, person)
    page = world.person.listing(default_sort="_id").page({"set": {}, "get": {"_rev": 1}})
    assert page == {"rows": [{"_id": person, "_rev": 1}], "next": None}


# -- what a write makes of it


def test_an_operation_changes_the_revision_that_it_asks_for(world, land, person):
    model, wanted, visit = world.person, {"_id": person}, {"visited": {"_ids": [land]}}
    rename(model, person, rev=0)
    model.add_relation(wanted, relations=visit, rev=1)
    model.remove_relation(wanted, relations=visit, rev=2)
    model.find_one_and_update(wanted, {"$set": {}}, rev=3)
    assert model.delete_one(wanted, rev=3) == {"deletedCount": 1, "cascaded": {}}


OPERATIONS = {
    "update": lambda model, wanted, land, rev: model.find_one_and_update(wanted, {"$set": {"name": "x"}}, rev=rev),
    "empty update": lambda model, wanted, land, rev: model.find_one_and_update(wanted, {"$set": {}}, rev=rev),
    "delete": lambda model, wanted, land, rev: model.delete_one(wanted, rev=rev) or None,
    "add": lambda model, wanted, land, rev: model.add_relation(wanted, relations={"home": {"_ids": land}}, rev=rev),
    "remove": lambda model, wanted, land, rev: model.remove_relation(
        wanted, relations={"home": {"_ids": land}}, rev=rev
    ),
}


@pytest.mark.parametrize("given", [0, 2])
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_another_revision_is_stale_and_nothing_changes(world, person, refused, operation, given):
    rename(world.person, person)
    message = "the document has changed: its revision is 1"
    refused(Stale, message, lambda: operation(world.person, {"_id": person}, ID, given))


def test_a_miss_is_judged_by_the_revision_alone(odm, asked):
    model = odm.new_model("thing", {"name": string()})
    id_ = model.insert_one({"name": "a"})["_id"]
    calls = asked("find")
    for get, fields in (({"name": 1}, ("_id", "name")), (REV, ("_id", "_gw.r"))):
        with pytest.raises(Stale):
            model.find_one_and_update({"_id": id_}, {"$set": {}}, rev=5, projection=get)
        assert calls == [
            ("find", ("thing", {"_id": id_, "_gw.r": 5}, fields), {"limit": 1}),
            ("find", ("thing", {"_id": id_}, ["_gw.r"]), {"limit": 1}),
        ]
        calls.clear()


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_what_does_not_match_otherwise_is_not_stale(world, person, operation):
    assert operation(world.person, {"_id": person, "name": "other"}, ID, 5) is None
    assert operation(world.person, {"_id": ID}, ID, 0) is None


def test_of_two_that_ask_for_one_revision_one_wins(world, person):
    def edit(number):
        try:
            world.person.find_one_and_update({"_id": person}, {"$set": {"age": number}}, rev=0)
            won.append(number)
        except Stale as error:
            lost.append(error.revision)

    won, lost = [], []
    threads = [threading.Thread(target=edit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert lost == [1, 1, 1]
    assert world.person.find_one({"_id": person}, projection={"age": 1}) == {"_id": person, "age": won[0]}
