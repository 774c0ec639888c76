"""Strategies for the fields that only acts have."""

from __future__ import annotations

import hashlib
from typing import Any

import mongomock
import pytest
from hypothesis import strategies as st

from gatewayfw import schemas as gws
from gatewayfw.core import gateway
from gatewayfw.schemas.fields import KINDS
from tests.fuzz.details import MAKERS, DetailsMaker, selections
from tests.fuzz.search import drawn
from tests.fuzz.zoo import KIND_FIELDS


def test_every_kind_has_fields_to_draw_for() -> None:
    assert sorted(KIND_FIELDS) == sorted(KINDS.keys() - {"file"})  # files come beside the JSON


@pytest.mark.parametrize("name", KIND_FIELDS)
def test_a_kind_is_drawn_by_a_strategy_of_its_own(name: str) -> None:
    assert {field.kind for field in KIND_FIELDS[name]} <= set(MAKERS)


def values(field: Any, **given: Any) -> list[Any]:
    return drawn(DetailsMaker(gateway().schemas, "assert", **given).values(field))


def test_ids_may_be_those_of_some_documents() -> None:
    assert set(values(gws.object_id(), ids=st.just("f" * 24))) == {"f" * 24}


def test_a_file_is_drawn_as_the_parser_reads_it() -> None:
    found = values(gws.file(most=3, types=["image/png", "text/plain"]))
    assert {one.type for one in found} == {"image/png", "text/plain"}
    assert {one.size for one in found} == {0, 1, 2, 3}
    for one in found:
        data = one.stream.getvalue()
        assert (one.size, one.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert {one.type for one in values(gws.file(most=3))} == {"application/octet-stream"}


def depth(get: Any) -> int:
    return 1 + max((depth(inner) for inner in get.values()), default=0) if isinstance(get, dict) else 0


def test_a_selection_names_each_field_at_each_depth_that_is_allowed() -> None:
    gw = gateway()
    gw.schemas.add("shop", {"name": gws.string()}, {})
    lists = {"items": {"type": "multiple", "limit": 3}}
    shop = {"schemaName": "shop", "type": "single", "relatedRelations": lists}
    gw.schemas.add("item", {"price": gws.integer()}, {"shop": shop})
    for deepest in (1, 2):
        found = drawn(selections(gw.schemas, "item", 3, deepest), 60)
        assert {key for get in found for key in get} == {"_id", "price", "shop"}
        assert {get["price"] for get in found if "price" in get} == {0, 1}
        assert max(map(depth, found)) == deepest
        assert {type(get["shop"]) for get in found if "shop" in get} == ({int} if deepest == 1 else {int, dict})


def test_a_filter_asks_by_each_of_its_operators() -> None:
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    item = gw.odm.new_model("item", {"name": gws.string(size=(1, 9)), "price": gws.integer()})
    operators = ["eq", "ne", "in", "nin", "exists", "prefix", "contains"]
    listing = item.listing(filter={"name": operators, "price": ["gt"]})
    found = drawn(DetailsMaker(gw.schemas, "create").values(listing.set["filter"]), 120)
    asked = [one["name"] for one in found if "name" in one]
    used = [one for one in asked if isinstance(one, dict)]
    assert {key for one in used for key in one} == set(operators)
    assert {} not in used
    assert {type(one) for one in asked} == {str, type(None), dict}
    assert {type(value) for one in used for value in one.get("in", [])} == {str, type(None)}
    assert {type(one["exists"]) for one in used if "exists" in one} == {bool}
    prices = [one["price"] for one in found if "price" in one]
    assert ({type(one) for one in prices}, {type(one["gt"]) for one in prices}) == ({dict}, {int})
