"""The judge of all other tests: it must find every kind of damage."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm import Problem


@pytest.fixture
def damaged(world):
    """Damage one stored document, see what is found, and mend it again."""

    def find(model, id_, update):
        intact = world.raw(model, id_)
        world.storage.update_one(model.name, {"_id": id_}, update, ())
        found = world.problems()
        world.storage.delete_many(model.name, {"_id": id_})
        world.storage.insert(model.name, [intact])
        return found

    return find


@pytest.fixture
def rich(world):
    """A country with four cities, three of them in its window, one opted out."""
    land = world.add_country("land")
    cities = [world.add_city(name, land, population=5, flags=("cities", "biggest", "capital")) for name in "abcd"]
    return land, cities, world.add_city("hidden", land, flags=())


def test_an_intact_world_has_no_problems(world, rich):
    assert world.problems() == []


@pytest.mark.parametrize(
    ("path", "damage"),
    [
        ("cities", lambda window: window[:2]),
        ("cities", lambda window: window[::-1]),
        ("cities", lambda window: [*window, window[0]]),
        ("cities", lambda window: [{**window[0], "name": "stale"}, *window[1:]]),
        ("cities", lambda window: [{**window[0], "extra": 1}, *window[1:]]),
        ("cities", lambda window: [{"_id": ObjectId(), "name": "dangling"}, *window[1:]]),
        ("biggest", lambda window: []),
        ("capital", lambda copy: {**copy, "name": "stale"}),
        ("capital", lambda copy: {"_id": ObjectId(), "name": "dangling"}),
    ],
)
def test_a_wrong_reverse_is_found(world, rich, damaged, path, damage):
    land, _, _ = rich
    value = damage(world.raw(world.country, land)[path])
    found = damaged(world.country, land, {"$set": {path: value}})
    assert found == [Problem("country", land, path, "differs from its members")]


def test_an_opted_out_member_in_a_window_is_found(world, rich, damaged):
    land, _, hidden = rich
    window = [{"_id": hidden, "name": "hidden"}, *world.raw(world.country, land)["cities"][:2]]
    found = damaged(world.country, land, {"$set": {"cities": window}})
    assert found == [Problem("country", land, "cities", "differs from its members")]


def test_a_single_reverse_of_a_member_that_left_is_found(world, rich, damaged):
    other = world.add_country("other")
    city = world.raw(world.country, rich[0])["capital"]
    found = damaged(world.country, other, {"$set": {"capital": city}})
    assert found == [Problem("country", other, "capital", "differs from its members")]


@pytest.mark.parametrize(
    ("value", "reason"),
    [({"name": "stale"}, "differs from its source"), ({"extra": 1}, "differs from its source")],
)
def test_a_wrong_copy_is_found(world, rich, damaged, value, reason):
    land, cities, _ = rich
    copy = {**world.raw(world.city, cities[0])["country"], **value}
    found = damaged(world.city, cities[0], {"$set": {"country": copy}})
    assert found == [Problem("city", cities[0], f"country.{land}", reason)]


def test_dangling_missing_and_doubled_copies_are_found(world):
    land, gone = world.add_country("land"), ObjectId()
    person = world.add_person("p")
    copies = [{"_id": land, "name": "land"}, {"_id": land, "name": "land"}, {"_id": gone, "name": "gone"}]
    world.storage.update_one("person", {"_id": person}, {"$set": {"visited": copies}}, ())
    found = {(problem.path, problem.reason) for problem in world.problems() if problem.model == "person"}
    assert found == {("visited", "embeds a document twice"), (f"visited.{gone}", "its source does not exist")}
    world.storage.update_one("person", {"_id": person}, {"$unset": {"visited": ""}}, ())


def test_a_required_relation_that_is_absent_is_found(world, rich, damaged):
    _, _, hidden = rich
    found = damaged(world.city, hidden, {"$unset": {"country": ""}})
    assert found == [Problem("city", hidden, "country", "is required")]
