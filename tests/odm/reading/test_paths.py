"""What a path leads to, and which lead to nothing that a model shows."""

from __future__ import annotations

import pytest

from gatewayfw.errors import UsageError
from gatewayfw.odm.reading.paths import Copies, find_in_elements, find_in_model, is_free, is_key, is_list
from gatewayfw.schemas import Schemas, any_, array, integer, object_, string
from gatewayfw.settings import Settings


@pytest.fixture
def schemas():
    """A library's books, with copies of their authors, who list their books."""
    schemas = Schemas(Settings())
    schemas.add("author", {"name": string(), "secret": string(), "born": integer()}, {}, {"excludes": ["secret"]})
    pure = {"title": string(), "pages": array(object_({"no": integer()})), "free": any_(), "key": string()}
    relations = {
        "authors": {
            "schemaName": "author",
            "type": "multiple",
            "optional": True,
            "excludes": ["born"],
            "relatedRelations": {"books": {"type": "multiple"}, "best": {"type": "single"}},
        }
    }
    schemas.add("book", pure, relations, {"excludes": ["key"]})
    return schemas


def find(schemas, model, path, **more):
    return find_in_model(schemas, schemas.get_schema(model), path, "filter", **more)


def kind(found):
    return found if found is None else found.link.name if isinstance(found, Copies) else found.kind


@pytest.mark.parametrize(
    ("model", "path", "leads"),
    [
        ("book", "_id", "object_id"),
        ("book", "title", "string"),
        ("book", "pages", "array"),
        ("book", "pages.no", "integer"),
        ("book", "pages.3.no", "integer"),
        ("book", "free.at.all", None),
        ("book", "authors", "authors"),
        ("book", "authors.name", "string"),
        ("book", "authors.0.name", "string"),
        ("book", "authors._id", "object_id"),
        ("author", "books.title", "string"),
        ("author", "best.pages.no", "integer"),
    ],
)
def test_paths_lead_to_fields_and_copies(schemas, model, path, leads):
    assert kind(find(schemas, model, path)) == leads


@pytest.mark.parametrize(
    ("model", "path", "message"),
    [
        ("book", "x", "filter: model book has no field x"),
        ("book", "title.x", "filter: model book has no field title.x"),
        ("book", "key", "filter: model book excludes key; reveal=['key'] admits it"),
        ("book", "authors.secret", "filter: the copies in authors leave out secret"),
        ("book", "authors.born", "filter: the copies in authors leave out born"),
        ("book", "authors.x", "filter: model author has no field x"),
        *(("book", f"pages.{no}.no", f"filter: model book has no field pages.{no}.no") for no in ("²", "١", "01")),
        *(("book", f"authors.{no}.name", f"filter: model author has no field {no}") for no in ("²", "١", "01")),
        ("author", "best.0.title", "filter: model book has no field 0"),
    ],
)
def test_paths_that_lead_to_nothing_shown_are_refused(schemas, model, path, message):
    with pytest.raises(UsageError) as caught:
        find(schemas, model, path)
    assert caught.value.message == message


def test_an_excluded_field_may_be_revealed_but_not_in_copies(schemas):
    assert kind(find(schemas, "book", "key", reveal=["key"])) == "string"
    with pytest.raises(UsageError):
        find(schemas, "book", "authors.secret", reveal=["secret"])


def test_elements_are_followed_in_lists_only(schemas):
    def inside(path, below):
        return kind(find_in_elements(find(schemas, "book", path), path, "filter")(below))

    assert [inside("pages", "no"), inside("authors", "name"), inside("free", "x")] == ["integer", "string", None]
    with pytest.raises(UsageError) as caught:
        inside("title", "x")
    assert caught.value.message == "filter: title is not a list"


def test_a_single_reverse_is_no_list(schemas):
    with pytest.raises(UsageError) as caught:
        find_in_elements(find(schemas, "author", "best"), "best", "filter")
    assert caught.value.message == "filter: best is not a list; write best._id or another field of it"
    author = schemas.get_schema("author")
    assert [is_list(schemas, author, name) for name in ("books", "best", "name", "x")] == [True, False, False, False]


def test_free_fields_say_nothing_about_what_is_inside():
    assert [is_free(field) for field in (any_(), object_(), object_({}), string())] == [True, True, False, False]


@pytest.mark.parametrize(("part", "expected"), [("a", True), ("0", True), ("", False), ("$a", False), ("a\0", False)])
def test_parts_that_can_be_keys(part, expected):
    assert is_key(part) is expected
