"""Relations and reverse relations as the catalog describes them."""

from __future__ import annotations

from gatewayfw.catalog import links_of
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings


def test_a_relation_and_its_reverse_are_described_from_either_side():
    schemas = Schemas(Settings())
    schemas.add("author", {"name": string(), "secret": string()}, {}, {"excludes": ["secret"]})
    reverse = {"type": "multiple", "limit": 5, "sort": {"field": "title", "order": "desc"}, "excludes": ["isbn"]}
    relation = {"schemaName": "author", "type": "single", "optional": True, "relatedRelations": {"books": reverse}}
    schemas.add("book", {"title": string(), "isbn": string()}, {"author": relation}, {})
    assert links_of(schemas, schemas.get_schema("book")) == {
        "author": {
            "model": "author",
            "type": "single",
            "optional": True,
            "fields": ["_id", "name"],
            "limit": None,
            "sort": None,
            "reverses": ["books"],
        }
    }
    assert links_of(schemas, schemas.get_schema("author")) == {
        "books": {
            "model": "book",
            "type": "multiple",
            "optional": False,
            "fields": ["_id", "title"],
            "limit": 5,
            "sort": {"field": "title", "order": "desc"},
            "of": "author",
        }
    }


def test_a_reverse_relation_tells_that_members_are_listed_by_default():
    schemas = Schemas(Settings())
    schemas.add("author", {"name": string()}, {}, {})
    reverse = {"books": {"type": "multiple", "limit": 5, "default": True}, "featured": {"type": "single"}}
    schemas.add("book", {}, {"author": {"schemaName": "author", "type": "single", "relatedRelations": reverse}}, {})
    links = links_of(schemas, schemas.get_schema("author"))
    assert [link.get("default") for link in links.values()] == [True, None]


def test_a_relation_tells_that_its_copies_are_frozen():
    schemas = Schemas(Settings())
    schemas.add("author", {"name": string()}, {}, {})
    author = {"schemaName": "author", "type": "single"}
    schemas.add("book", {}, {"author": author, "first": {**author, "frozen": True}}, {})
    links = links_of(schemas, schemas.get_schema("book"))
    assert [link.get("frozen") for link in links.values()] == [None, True]


def test_a_model_that_is_related_to_nothing_has_no_links():
    schemas = Schemas(Settings())
    schemas.add("lake", {"name": string()}, {}, {})
    assert links_of(schemas, schemas.get_schema("lake")) == {}
