"""Deletes: refused while others embed the document, or with all that need it."""

from __future__ import annotations

import pytest

from gatewayfw.errors import StillReferenced


@pytest.fixture
def country(world):
    """A country with two cities, and a visitor."""
    country = world.add_country("land")
    world.add_city("one", country)
    world.add_city("two", country)
    world.add_person("guest", {"visited": {"_ids": [country]}})
    return country


def test_a_document_that_others_embed_stays(world, country):
    before = world.digest()
    with pytest.raises(StillReferenced):
        world.country.delete_one(filter={"_id": country})
    assert world.digest() == before


def test_a_cascade_takes_those_that_need_it_and_frees_the_others(world, country):
    done = world.country.delete_one(filter={"_id": country}, hard_cascade=True)
    assert (done["cascaded"], world.city.count(), world.person.count()) == ({"city": 2}, 0, 1)
    assert next(iter(world.person.find()))["visited"] == []


def test_nothing_matched_is_nothing_deleted(world, country):
    before = world.digest()
    done = world.country.delete_one(filter={"name": "sea"}, hard_cascade=True)
    assert (done["deletedCount"], world.digest()) == (0, before)


def test_an_embedding_document_leaves_the_windows_of_its_targets(world, country):
    world.city.delete_one(filter={"name": "two"})
    (found,) = world.country.find()
    assert [city["name"] for city in found["cities"]] == ["one"]
