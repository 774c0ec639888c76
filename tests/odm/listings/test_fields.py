"""The fields of a listing: gatewayfw.odm.listings.fields."""

from __future__ import annotations

import pytest

from gatewayfw import array, decimal, defaulted, enums, integer, nullable, string
from gatewayfw.odm.listings.fields import CountField
from gatewayfw.schemas.fields import described
from gatewayfw.schemas.kinds.foreign import describe


@pytest.fixture
def fields(shop):
    return shop.books.listing(filter={"year": ["eq", "gt"], "author": ["in"]}, sort=["title"], most=50).set


def test_the_catalog_describes_filters_with_their_operators(fields):
    assert describe(fields["filter"]) == {
        "kind": "filter",
        "fields": {
            "year": {"value": {"kind": "integer", "presence": "required"}, "operators": ["eq", "gt"]},
            "author": {"value": {"kind": "object_id", "of": "author", "presence": "required"}, "operators": ["in"]},
        },
        "presence": "optional",
    }


def test_the_catalog_describes_types_of_what_is_compared_and_no_bounds(shop):
    shop.gateway.odm.new_model(
        "part",
        {
            "name": described(string(size=(2, 9), pattern="[a-z]+"), "Its name."),
            "price": defaulted(decimal(places=2, minimum=0), "1.00"),
            "grade": nullable(enums("a", "b")),
            "sizes": array(integer(minimum=1), size=3),
        },
    )
    names = ["name", "price", "grade", "sizes"]
    listing = shop.odm.model("part").listing(filter={name: ["eq"] for name in names})
    found = describe(listing.set["filter"])["fields"]
    assert [name for name in names if "list" in found[name]] == ["sizes"]
    assert {name: found[name]["value"] for name in names} == {
        "name": {"kind": "string", "presence": "required", "description": "Its name."},
        "price": {"kind": "decimal", "places": 2, "whole": True, "presence": "required"},
        "grade": {"kind": "enums", "choices": ["a", "b"], "presence": "required"},
        "sizes": {"kind": "integer", "presence": "required"},
    }


def test_the_other_fields_are_kinds_as_any(fields):
    assert {name: (describe(field)["kind"], describe(field)["presence"]) for name, field in fields.items()} == {
        "filter": ("filter", "optional"),
        "sort": ("enums", "optional"),
        "limit": ("integer", "optional"),
        "after": ("string", "optional"),
    }


def test_what_is_not_declared_is_not_there(shop):
    assert list(shop.books.listing().set) == ["limit", "after"]


def test_a_filter_is_loaded_as_it_was_sent(fields):
    given = {"year": {"gt": 5}, "author": {"in": []}}
    assert fields["filter"].deserialize(given) is given
    assert fields["filter"].takes(given)
    assert not fields["filter"].takes({"year": {"lt": 5}})


def test_a_bounded_count_is_described(shop):
    assert describe(CountField(1_000)) == {"kind": "count", "most": 1_000, "presence": "required"}
