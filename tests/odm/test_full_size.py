"""The two ways to fill a parent, at MongoDB's own 16 MB: it stays writable, renameable and readable by everybody."""

from __future__ import annotations

import pytest
from bson import encode

from gatewayfw.errors import TooLarge
from gatewayfw.schemas import any_, array, object_, string
from tests.odm.oracle import check

MOST = 16 * 1024 * 1024
#: 786 kB, as large as a text of a request can be.
LONG = "中" * 262_000


def right(odm):
    """Whether the judge of the tests, `check`, and the jobs find everything as it should be."""
    return (odm.work(), check(odm.schemas, odm.storage), list(odm.integrity.check())) == (0, [], [])


@pytest.fixture
def lands(odm):
    """Countries and cities as in the sample, without its sizes."""
    odm.new_model("country", {"name": string(size=(0, 262_144))})
    newest = {"type": "multiple", "limit": 50, "sort": {"field": "_id", "order": "desc"}}
    country = {"schemaName": "country", "type": "single", "relatedRelations": {"cities": newest}}
    odm.new_model("city", {"name": string(size=(0, 262_144))}, {"country": country})
    odm.ready()
    return odm


def add_city(odm, country, name):
    relation = {"_ids": country, "relatedRelations": {"cities": True}}
    return odm.model("city").insert_one(doc={"name": name}, relations={"country": relation})["_id"]


@pytest.mark.slow
def test_cities_with_long_names_do_not_lock_their_country(lands):
    countries, cities = lands.model("country"), lands.model("city")
    country = countries.insert_one(doc={"name": "land"})["_id"]
    long = [add_city(lands, country, LONG) for _ in range(23)]
    stored = next(lands.storage.find("country", {}))
    assert len(encode(stored)) < MOST
    assert [one["_id"] for one in stored["cities"]] == long[:-3:-1]
    assert stored["_gw"]["cut"] == {"cities": 2 * 1024 * 1024}
    short = add_city(lands, country, "short")
    changed = countries.find_one_and_update(filter={"_id": country}, update={"$set": {"name": "renamed"}})
    assert [one["_id"] for one in changed["cities"]] == [short, *long[:-3:-1]]
    cities.find_one_and_update(filter={"_id": long[-1]}, update={"$set": {"name": LONG + "x"}})
    cities.delete_one(filter={"_id": long[-2]})
    assert len(countries.find_one(filters={"_id": country})["cities"]) == 3
    assert right(lands)
    for city in long[:20]:
        cities.delete_one(filter={"_id": city})
    whole = next(lands.storage.find("country", {}))
    assert len(whole["cities"]) == 3
    assert whole["_gw"]["cut"] == {"cities": None}
    assert right(lands)


@pytest.fixture
def staff(odm):
    """Users with free fields, in organizations that list them twice and name a head, and in units below."""
    by_name = {"type": "multiple", "limit": 40, "sort": {"field": "name", "order": "asc"}}
    reverses = {"users": by_name, "latest": {"type": "multiple", "limit": 40}, "head": {"type": "single"}}
    odm.new_model("org", {"name": string(size=(0, 262_144))})
    in_unit = {"org": {"schemaName": "org", "type": "single", "relatedRelations": {"units": {"type": "multiple"}}}}
    odm.new_model("unit", {"name": string(size=(0, 100))}, in_unit)
    features = array(object_({"feature": any_()}))
    in_org = {"orgs": {"schemaName": "org", "type": "multiple", "optional": True, "relatedRelations": reverses}}
    odm.new_model("user", {"name": string(size=(0, 100)), "features": features}, in_org)
    odm.ready()
    return odm


def add_user(odm, org, name, features=()):
    flags = {"users": True, "latest": True, "head": True}
    doc = {"name": name, "features": [{"feature": one} for one in features]}
    return odm.model("user").insert_one(doc=doc, relations={"orgs": {"_ids": [org], "relatedRelations": flags}})["_id"]


@pytest.mark.slow
def test_users_with_large_features_do_not_lock_their_organization(staff):
    org = staff.model("org").insert_one(doc={"name": "org"})["_id"]
    large = [add_user(staff, org, f"{number:02}", ["x" * 260_000]) for number in range(72)]
    stored = next(staff.storage.find("org", {}))
    assert set(stored["_gw"]["cut"].values()) == {2 * 1024 * 1024 // 3}
    assert [one["_id"] for one in stored["users"]] == large[: len(stored["users"])]
    staff.model("unit").insert_one(
        doc={"name": "unit"}, relations={"org": {"_ids": org, "relatedRelations": {"units": True}}}
    )
    add_user(staff, org, "00a")
    staff.model("user").find_one_and_update(filter={"_id": large[0]}, update={"$set": {"name": "a longer name"}})
    staff.model("org").find_one_and_update(filter={"_id": org}, update={"$set": {"name": "n" * 262_144}})
    staff.model("user").remove_relation(filters={"_id": large[3]}, relations={"orgs": {"_ids": [org]}})
    shown = staff.model("org").find_one(filters={"_id": org})
    assert shown["name"] == "n" * 262_144
    assert shown["head"]["name"] == "00a"
    assert len(shown["units"]) == 1
    assert [one["name"] for one in shown["users"]] == ["00a", "01", "02"]
    assert right(staff)


def test_a_document_that_its_writer_makes_too_large_is_refused(staff):
    org = staff.model("org").insert_one(doc={"name": "org"})["_id"]
    with pytest.raises(TooLarge):
        add_user(staff, org, "huge", ["x" * 260_000] * 66)
    assert "users" not in next(staff.storage.find("org", {}))
    assert right(staff) is True
