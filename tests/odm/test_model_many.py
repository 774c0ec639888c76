"""The contract's spellings of operations on many documents."""

from __future__ import annotations

import pytest

ALL = {"_id": {"$exists": True}}


@pytest.fixture
def cities(world, land):
    """Forty cities of one country, which lists some; more than one batch has."""
    docs = [{"name": f"city {number}", "population": number} for number in range(40)]
    links = {"country": {"_ids": land, "relatedRelations": {"cities": True, "biggest": True}}}
    return [one["_id"] for one in world.city.insert_many(docs, relations=links, projection={"_id": 1})]


def populations(world):
    return [one.get("population") for one in world.storage.find("city", {}, ["population"], sort=[("_id", 1)])]


def test_the_contracts_spellings_take_one_object_or_keywords(world, cities):
    update = {"$inc": {"population": 100}}
    one = world.city.updateMany({"filter": {"population": {"$lt": 5}}, "update": update})
    two = world.city.updateMany(filters={"population": {"$gte": 100}}, update=update)
    assert (one, two) == ({"matched": 5, "modified": 5}, {"matched": 5, "modified": 5})
    world.add_person("p", {"home": {"_ids": cities[0]}})
    gone = world.city.deleteMany({"filter": {"population": {"$gte": 200}}, "hardCascade": True})
    assert (gone, world.city.deleteMany(filter=ALL)["deletedCount"]) == ({"deletedCount": 5, "cascaded": {}}, 35)
    with pytest.raises(TypeError):
        world.city.deleteMany({"filter": ALL, "reveal": ["password"]})
