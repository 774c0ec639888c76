"""What the exports say of listings, and what the generated TypeScript does with them."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import ValidationError
from gatewayfw.export.jsonschema.document import details_schema, json_schema
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from gatewayfw.odm.listings.conditions import MOST_CONTAINED
from gatewayfw.schemas.kinds.descriptions import operands_of
from tests.export.checking import assert_told
from tests.export.compiling import COMPILERS
from tests.export.listed import listed
from tests.export.test_typescript_live import run
from tests.fuzz.details import DetailsMaker

RIGHT = """\
from gateway_types import BookListSet, AnyClient
from gatewayfw.client import HttpClient

client: AnyClient = HttpClient("https://example.com")
given: BookListSet = {
    "filter": {
        "title": {"prefix": "B", "contains": "oo"},
        "year": {"gte": 2000, "in": [2001, None], "exists": True},
        "price": {"lte": 12},
        "out": "2026-11-22",
        "state": {"nin": ["lent", None]},
        "tags": {"in": ["new"]},
        "author": None,
        "author.name": {"eq": None, "prefix": "A"},
    },
    "sort": "-year",
    "limit": 2,
    "after": "x",
}


def run() -> None:
    first = client.call("book", "list", set=given, get={"title": 1})
    following: str | None = first["next"]
    for page in client.pages("book", "list", set={"filter": {"year": 5}}, get={"title": 1, "author": {"name": 1}}):
        names: list[str] = [row["author"]["name"] for row in page["rows"]]
        total = page.get("total", 0)  # of the first page
        counted: int = total if isinstance(total, int) else total["atLeast"]
        print(following, names, counted)
    for each in client.pages("author", "list", service="main"):
        number: int | None = each.get("total")
        print(number, client.pages("book", "stuck"))
"""

WRONG = """\
from gateway_types import AnyClient


def run(client: AnyClient) -> None:
    client.call("book", "list", set={"filter": {"pages": 5}})  #! call-overload
    client.call("book", "list", set={"filter": {"year": {"gt": 5}}})  #! call-overload
    client.call("book", "list", set={"filter": {"year": {"gte": 5, "lte": 5}}})  #! call-overload
    client.call("book", "list", set={"filter": {"title": "B"}})  #! call-overload
    client.call("book", "list", set={"filter": {"year": "2000"}})  #! call-overload
    client.call("book", "list", set={"filter": {"year": {"gte": None}}})  #! call-overload
    client.call("book", "list", set={"filter": {"state": "lost"}})  #! call-overload
    client.call("book", "list", set={"filter": {"tags": {"in": "new"}}})  #! call-overload
    client.call("book", "list", set={"filter": {"year": {"exists": "yes"}}})  #! call-overload
    client.call("book", "list", set={"sort": "price"})  #! call-overload
    client.call("author", "list", set={"filter": {}})  #! call-overload
    client.pages("book", "list", set={"filter": {"pages": 5}})  #! call-overload
    client.pages("book", "list", get={"pages": 1})  #! call-overload
    client.pages("book", "numbered")  #! call-overload
    client.pages("book", "needed", set={"after": "x"})  #! call-overload
    client.pages("book", "endless")  #! call-overload
    client.pages("book", "unnamed")  #! call-overload
    client.pages("book", "whole")  #! call-overload
    for page in client.pages("book", "list"):
        page["rows"][0]["pages"]  #! typeddict-item
        page["next"].lower()  #! union-attr
"""

FILTERS = {
    "nothing": {},
    "a value": {"year": 5},
    "a value below the field's least": {"year": {"gte": 0}},
    "null": {"year": None, "author": None},
    "operators": {"year": {"gte": 5, "lt": 9, "in": [5, None], "exists": False}},
    "texts": {"title": {"prefix": "", "contains": "x"}},
    "whole decimal": {"price": {"lte": 5}},
    "decimal": {"price": {"lte": "5.50"}},
    "date": {"out": {"gt": "2026-11-22"}},
    "id": {"author": "0" * 24},
    "copy": {"author.name": "Ann"},
    "none of the choices": {"state": {"nin": ["in", None]}},
}
REFUSED = {
    "no object": [],
    "unknown name": {"pages": 5},
    "unknown operator": {"year": {"gt": 5}},
    "no operator": {"year": {}},
    "a value without eq": {"title": "x"},
    "another type": {"year": "5"},
    "null in a range": {"year": {"gte": None}},
    "no list": {"tags": {"in": "x"}},
    "a list": {"year": [5]},
    "no boolean": {"year": {"exists": 1}},
    "contains nothing": {"title": {"contains": ""}},
    "contains much": {"title": {"contains": "x" * 201}},
    "no id": {"author": "x"},
    "no date": {"out": {"gt": "soon"}},
    "no decimal": {"price": {"lte": "x"}},
}

each_compiler = pytest.mark.parametrize("compiler", COMPILERS)


@pytest.mark.slow
@each_compiler
def test_filters_sorts_and_pages_that_are_declared_compile_and_no_others(compiler, project):
    made = project("shape", "listed_ok", "listed_wrong", gateway=typescript(listed().catalog()))
    made.compiles(compiler, "--noEmit")


def test_a_program_reads_a_list_by_page_to_its_end(project):
    assert run(project, listed(), "listed_live") == "read\n"


@pytest.mark.slow
def test_type_checkers_accept_filters_sorts_and_pages_that_are_declared_and_no_others(tmp_path):
    assert_told(tmp_path, python(listed().catalog()), RIGHT, WRONG)


@pytest.fixture(scope="module")
def both():
    """What takes the same filters: the act's struct, and the schema of its request."""
    gw = listed()
    schema = jsonschema.Draft202012Validator(json_schema(gw.catalog()))
    struct = gw.acts.get_acts("book")["list"].struct

    def take(filter):
        details = {"set": {"filter": filter}, "get": {}}
        try:
            struct.check(details, "create")
            by_struct = True
        except ValidationError:
            by_struct = False
        return by_struct, schema.is_valid({"model": "book", "act": "list", "details": details})

    return take


@pytest.fixture(scope="module")
def filters():
    """What draws filters of the listing, by mode."""
    gw = listed()
    field = gw.acts.get_acts("book")["list"].struct.fields["set"].fields["filter"]
    return {mode: DetailsMaker(gw.schemas, mode).values(field) for mode in ("assert", "create")}


@pytest.mark.parametrize("filter", FILTERS.values(), ids=FILTERS)
def test_the_schema_takes_the_filters_that_the_act_takes(both, filter):
    assert both(filter) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["assert", "create"])
@given(data=st.data())
def test_act_and_schema_take_every_filter_that_is_drawn(both, filters, mode, data):
    assert both(data.draw(filters[mode])) == (True, True)


@pytest.mark.parametrize("filter", REFUSED.values(), ids=REFUSED)
def test_the_schema_refuses_the_filters_that_the_act_refuses(both, filter):
    assert both(filter) == (False, False)


def test_the_schema_says_how_much_may_be_contained():
    assert operands_of({"value": {}, "operators": ["contains"]})["contains"]["maxLength"] == MOST_CONTAINED


def test_the_schema_of_a_page():
    reply = json_schema(listed().catalog())["$defs"]["main.book.list.reply"]
    beyond = {"type": "object", "properties": {"atLeast": {"const": 5}}, "additionalProperties": False}
    assert reply == {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"$ref": "#/$defs/shown.book.1"}},
            "next": {"type": ["string", "null"]},
            "total": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 5}, {**beyond, "required": ["atLeast"]}]},
        },
        "required": ["rows", "next"],
    }


def test_the_input_of_a_tool_has_the_filter():
    catalog = listed().catalog()
    given = details_schema(catalog, catalog["services"]["main"]["acts"]["book"]["list"])["properties"]["set"]
    identity = {"type": "string", "pattern": "^[0-9a-fA-F]{24}$", "maxLength": 24}
    nullable = {**identity, "type": ["string", "null"]}
    eq = {"type": "object", "properties": {"eq": nullable}, "additionalProperties": False, "minProperties": 1}
    assert given["properties"]["filter"]["properties"]["author"] == {
        "anyOf": [nullable, eq],
        "description": "An _id of the model author.",
    }
    assert given["properties"]["filter"]["additionalProperties"] is False
    assert given["properties"]["after"] == {
        "type": "string",
        "minLength": 1,
        "maxLength": 2048,
        "description": "The next of the previous page. Keep filter and sort the same.",
    }
