"""Changes of relations: what is refused."""

from __future__ import annotations

from gatewayfw.errors import (
    Conflict,
)
from tests.odm.refusing import invalid


def test_a_relation_is_never_filled_over_its_limit(world, refused):
    lands = [world.add_country(f"land {number}") for number in range(5)]
    person = world.add_person("p", {"visited": {"_ids": lands[:3]}})
    more = {"visited": {"_ids": lands[3:]}}
    text = invalid("relations.visited._ids", "More than 4 ids.")
    refused(*text, lambda: world.person.add_relation(filters={"_id": person}, relations=more))


def test_a_required_relation_is_never_emptied(world, land, refused):
    place = world.add_city("place", land)
    club = world.club.insert_one(doc={"name": "x"}, relations={"places": {"_ids": [place]}})["_id"]
    emptied = {"filters": {"_id": club}, "relations": {"places": {"_ids": []}}}
    refused(Conflict, "places is required", lambda: world.club.add_relation(**emptied, replace=True))


def test_relating_to_nothing_is_refused(world, refused):
    person = world.add_person("p")
    error = invalid("relations", "Name at least one relation.")
    refused(*error, lambda: world.person.add_relation(filters={"_id": person}, relations={}))
    refused(*error, lambda: world.person.remove_relation(filters={"_id": person}, relations={}))
