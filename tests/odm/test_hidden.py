"""What the hidden field says, and when it is absent."""

from __future__ import annotations

from bson import ObjectId


def hidden(world, model, id_):
    return world.raw(model, id_).get("_gw")


def test_a_document_that_says_nothing_has_no_hidden_field(world):
    land = world.add_country("land")
    city = world.add_city("city", land, flags=("cities", "biggest", "capital"))
    assert (hidden(world, world.country, land), hidden(world, world.city, city)) == (None, None)


def test_opting_out_is_noted_by_relation_and_reverse(world):
    land = world.add_country("land")
    city = world.add_city("city", land, flags=("cities",))
    assert hidden(world, world.city, city) == {"out": {"country": {"biggest": [land]}}}


def test_versions_count_updates_and_travel_with_every_copy(world):
    land = world.add_country("land")
    before = world.add_city("before", land)
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new"}})
    after = world.add_city("after", land)
    assert hidden(world, world.country, land) == {"v": 1, "r": 1}
    at = {"at": {"country": {str(land): 1}}}
    assert (hidden(world, world.city, before), hidden(world, world.city, after)) == (at, at)


def test_removal_forgets_version_and_opt_out(world):
    first, second = world.add_country("first"), world.add_country("second")
    world.country.find_one_and_update(filter={"_id": first}, update={"$set": {"population": 1}})
    person = world.add_person("p", {"visited": {"_ids": [first, second]}})
    out = {"visited": {"visitors": [first, second]}}
    assert hidden(world, world.person, person) == {"out": out, "at": {"visited": {str(first): 1}}}
    world.person.remove_relation(filters={"_id": person}, relations={"visited": {"_ids": [first]}})
    assert hidden(world, world.person, person) == {"r": 1, "out": {"visited": {"visitors": [second]}}}
    world.person.remove_relation(filters={"_id": person}, relations={"visited": {"_ids": [second]}})
    assert hidden(world, world.person, person) == {"r": 2}


def test_replacing_a_single_relation_forgets_the_old_source(world):
    first, second = world.add_country("first"), world.add_country("second")
    world.country.find_one_and_update(filter={"_id": first}, update={"$set": {"population": 1}})
    city = world.add_city("city", first, flags=())
    flags = {"cities": True, "biggest": True}
    world.city.add_relation(
        filters={"_id": city}, relations={"country": {"_ids": second, "relatedRelations": flags}}, replace=True
    )
    assert hidden(world, world.city, city) == {"r": 1}


def test_a_cascade_forgets_what_left_the_holders(world):
    land = world.add_country("land")
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"population": 1}})
    person = world.add_person("p", {"visited": {"_ids": [land]}, "born": {"_ids": land}})
    world.country.delete_one(filter={"_id": land}, hard_cascade=True)
    assert world.raw(world.person, person) == {"_id": person, "name": "p", "active": True, "_gw": {"r": 1}}


def test_an_own_id_starts_at_a_later_version_and_revision(world):
    id_ = ObjectId()
    assert world.add_country("land", _id=id_) == id_
    found = hidden(world, world.country, id_)
    assert found == dict.fromkeys(("v", "r"), found["v"])
    assert found["v"] > 1_700_000_000_000_000


def test_an_update_of_no_pure_field_changes_nothing(world):
    land = world.add_country("land")
    before = world.digest()
    shown = world.country.find_one_and_update(filter={"_id": land}, update={"$set": {}}, projection={"name": 1})
    assert shown == {"_id": land, "name": "land"}
    assert world.digest() == before
