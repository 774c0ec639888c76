"""Operations on many documents: what they refuse, and what they leave."""

from __future__ import annotations

from tests.odm.refusing import invalid


def test_insert_many_names_the_document(world, refused):
    docs = [{"name": "a"}, {"name": 5}]
    refused(*invalid("docs.1.name", "Not a valid string."), lambda: world.country.insert_many(docs=docs))
    refused(*invalid("docs", "Expected a list."), lambda: world.country.insert_many(docs={"name": "a"}))
    message = "Expected one object, or as many as docs."
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=5))
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=[None]))
