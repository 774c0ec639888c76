"""The fields of a listing: gatewayfw.odm.listings.listing."""

from __future__ import annotations

import pytest
from marshmallow import ValidationError as Refused

from gatewayfw import array, date, decimal, defaulted, enums, integer, nullable, string, uuid
from gatewayfw.odm.listings.listing import CountField
from gatewayfw.schemas.fields import described
from gatewayfw.schemas.kinds.descriptions import describe


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
            "code": uuid(),
            "made": date(),
        },
    )
    names = ["name", "price", "grade", "sizes", "code", "made"]
    listing = shop.odm.model("part").listing(filter={name: ["eq"] for name in names})
    found = describe(listing.set["filter"])["fields"]
    assert [name for name in names if "list" in found[name]] == ["sizes"]
    assert {name: found[name]["value"] for name in names} == {
        "name": {"kind": "string", "presence": "required", "description": "Its name."},
        "price": {"kind": "decimal", "places": 2, "whole": True, "presence": "required"},
        "grade": {"kind": "enums", "choices": ["a", "b"], "presence": "required"},
        "sizes": {"kind": "integer", "presence": "required"},
        "code": {"kind": "string", "format": "uuid", "presence": "required"},
        "made": {"kind": "date", "presence": "required"},
    }


def test_the_other_fields_are_kinds_as_any(fields):
    del fields["filter"]
    assert {name: describe(field) for name, field in fields.items()} == {
        "sort": {
            "kind": "enums",
            "choices": ["title", "-title"],
            "presence": "optional",
            "description": "Order of rows; - in front means descending. Default -_id.",
        },
        "limit": {
            "kind": "integer",
            "minimum": 1,
            "maximum": 50,
            "presence": "optional",
            "description": "Max rows per page. Default 20.",
        },
        "after": {
            "kind": "string",
            "minLength": 1,
            "maxLength": 2048,
            "presence": "optional",
            "description": "The next of the previous page. Keep filter and sort the same.",
        },
    }


@pytest.mark.parametrize(
    ("count", "total"),
    [
        (False, {}),
        (True, {"total": {"kind": "integer", "presence": "optional"}}),
        (9, {"total": {"kind": "count", "most": 9, "presence": "optional"}}),
    ],
)
def test_what_a_page_is_is_described(shop, count, total):
    returned = shop.books.listing(count=count).returns
    assert returned.pop("rows") == "many"
    assert {name: describe(field) for name, field in returned.items()} == {
        "next": {"kind": "string", "presence": "required", "nullable": True},
        **total,
    }


def test_kinds_say_what_they_are(fields):
    assert (fields["filter"].kind, CountField(5).kind) == ("filter", "count")
    assert fields["filter"].required is False
    assert CountField(5).required is True


def test_a_filter_is_refused_by_path_in_both_modes(fields):
    for given, errors in (
        (5, ["Not a valid mapping type."]),
        ({"year": "x"}, {"year": ["Not a valid integer."]}),
        ({"x": 1, "year": {"gt": None}}, {"x": ["Unknown field."], "year.gt": ["Invalid value."]}),
    ):
        with pytest.raises(Refused) as refused:
            fields["filter"].deserialize(given)
        assert not fields["filter"].takes(given)
        assert refused.value.messages == errors


def test_a_list_has_at_most_as_many_values_as_the_setting_allows(fields, shop):
    most = shop.gateway.settings.max_ids
    found = [fields["filter"].takes({"author": {"in": ["a" * 24] * count}}) for count in (most, most + 1)]
    assert found == [True, False]


def test_what_is_not_declared_is_not_there(shop):
    assert list(shop.books.listing().set) == ["limit", "after"]


def test_a_filter_is_loaded_as_it_was_sent(fields):
    given = {"year": {"gt": 5}, "author": {"in": []}}
    assert fields["filter"].deserialize(given) is given
    assert fields["filter"].takes(given)
    assert not fields["filter"].takes({"year": {"lt": 5}})


def test_a_bounded_count_is_described(shop):
    assert describe(CountField(1_000)) == {"kind": "count", "most": 1_000, "presence": "required"}
