"""The relation input of an insert: what it may be, and that each id must exist."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.errors import (
    NotFound,
)
from tests.odm.refusing import REQUIRED, invalid


@pytest.mark.parametrize("id_", ["0" * 12, "0" * 24 + "\n", "g" * 24, 5, None, b"0" * 12, {"$oid": "0" * 24}])
def test_insert_takes_only_real_ids(world, refused, id_):
    refused(*invalid("doc._id", "Not a valid id."), lambda: world.country.insert_one(doc={"_id": id_, "name": "x"}))


@pytest.mark.parametrize(
    "relations",
    [None, {}, {"country": {"_ids": []}}],
    ids=["none", "empty", "no ids"],
)
def test_insert_needs_required_relations(world, land, refused, relations):
    missing = "Expected one id." if relations and relations.get("country") else REQUIRED
    path = "relations.country._ids" if missing != REQUIRED else "relations.country"
    refused(*invalid(path, missing), lambda: world.city.insert_one(doc={"name": "x"}, relations=relations))


def test_insert_needs_an_id_in_a_required_multiple(world, refused):
    relations = {"places": {"_ids": []}}
    refused(
        *invalid("relations.places", REQUIRED), lambda: world.club.insert_one(doc={"name": "x"}, relations=relations)
    )


@pytest.mark.parametrize(
    ("given", "path", "text"),
    [
        ({"nothing": {"_ids": []}}, "relations.nothing", "Unknown field."),
        ({"born": "0" * 24}, "relations.born", "Expected an object with _ids."),
        ({"born": {}}, "relations.born", "Expected an object with _ids."),
        ({"born": {"_ids": "x"}}, "relations.born._ids", "Not a valid id."),
        ({"born": {"_ids": ["0" * 24, "1" * 24]}}, "relations.born._ids", "Expected one id."),
        ({"born": {"_ids": {"$ne": None}}}, "relations.born._ids", "Not a valid id."),
        ({"visited": {"_ids": "0" * 24}}, "relations.visited._ids", "Expected a list of ids."),
        ({"visited": {"_ids": ["0" * 24, "0" * 24]}}, "relations.visited._ids", "Ids may not repeat."),
        ({"visited": {"_ids": [f"{n:024x}" for n in range(5)]}}, "relations.visited._ids", "More than 4 ids."),
        ({"born": {"_ids": "0" * 24, "x": 1}}, "relations.born.x", "Unknown field."),
        ({"born": {"_ids": "0" * 24, "relatedRelations": 1}}, "relations.born.relatedRelations", "Expected an object."),
        (
            {"born": {"_ids": "0" * 24, "relatedRelations": {"users": True}}},
            "relations.born.relatedRelations.users",
            "Unknown field.",
        ),
        (
            {"born": {"_ids": "0" * 24, "relatedRelations": {"natives": 1}}},
            "relations.born.relatedRelations.natives",
            "Not a valid boolean.",
        ),
    ],
)
def test_relation_input_is_checked(world, refused, given, path, text):
    person = world.add_person("p")
    refused(*invalid(path, text), lambda: world.person.insert_one(doc={"name": "x"}, relations=given))
    refused(*invalid(path, text), lambda: world.person.add_relation(filters={"_id": person}, relations=given))
    refused(*invalid(path, text), lambda: world.person.remove_relation(filters={"_id": person}, relations=given))


def test_missing_ids_are_all_named(world, land, refused):
    missing = [ObjectId(), ObjectId()]
    message = f"country not found: {min(missing)}, {max(missing)}"
    relations = {"visited": {"_ids": [missing[0], land, missing[1]], "relatedRelations": {"visitors": True}}}
    refused(NotFound, message, lambda: world.add_person("x", relations))
