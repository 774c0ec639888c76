"""Inserts of many documents: what is refused, and how they are told to be done."""

from __future__ import annotations

import pytest

from gatewayfw.errors import (
    DuplicateKey,
    ValidationError,
)
from tests.odm.refusing import REQUIRED, invalid


def test_insert_many_names_the_document(world, refused):
    docs = [{"name": "a"}, {"name": 5}]
    refused(*invalid("docs.1.name", "Not a valid string."), lambda: world.country.insert_many(docs=docs))
    for wrong in ({"name": "a"}, "ab", b"ab", 5, None):
        refused(*invalid("docs", "Expected a list."), lambda wrong=wrong: world.country.insert_many(docs=wrong))
    message = "Expected one object, or as many as docs."
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=5))
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=[None]))


def test_insert_many_of_nothing_judges_its_get_all_the_same(world, refused):
    assert world.country.insert_many([]) == []
    refused(*invalid("get.nme", "Unknown field."), lambda: world.country.insert_many([], projection={"nme": 1}))


def test_insert_collects_every_refused_value(world, land, refused):
    doc = {"nme": "x", "population": "5", "tags": "t"}
    message = (
        f"validation error: doc.name: {REQUIRED}; doc.population: Not a valid number.;"
        " doc.tags: Not a valid list.; doc.nme: Unknown field."
    )
    relations = {"country": {"_ids": land}}
    refused(ValidationError, message, lambda: world.city.insert_one(doc=doc, relations=relations))


@pytest.mark.parametrize("doc", [None, [], "x", 5])
def test_insert_takes_an_object(world, refused, doc):
    refused(*invalid("doc", "Expected an object."), lambda: world.country.insert_one(doc=doc))


def test_a_duplicate_key_leaves_no_trace_in_targets(world, land, refused):
    person = world.add_person("taken")
    relations = {"born": {"_ids": land, "relatedRelations": {"natives": True}}}
    refused(DuplicateKey, "Duplicate key error", lambda: world.add_person("x", relations, _id=person))
    docs = [{"name": "a"}, {"name": "b", "_id": person}]
    refused(DuplicateKey, "Duplicate key error", lambda: world.person.insert_many(docs=docs, relations=relations))
