"""Orders, and what comes after a row: gatewayfw.odm.listings.keyset."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.listings.keyset import Order

ID = ObjectId()
UP, DOWN = {"_id": {"$gt": ID}}, {"_id": {"$lt": ID}}

AFTER = {
    "ids up": ("_id", None, UP),
    "ids down": ("-_id", None, DOWN),
    "up": ("n", 5, {"n": {"$gte": 5}, "$or": [{"n": {"$gt": 5}}, UP]}),
    "down": (
        "-n",
        5,
        {"n": {"$not": {"$gt": 5}}, "$or": [{"n": {"$lt": 5}}, {"n": {"$lte": 5}, **DOWN}, {"n": {"$eq": None}}]},
    ),
    "from null up": ("n", None, {"$or": [{"n": {"$eq": None}, **UP}, {"n": {"$ne": None}}]}),
    "from null down": ("-n", None, {"n": {"$eq": None}, **DOWN}),
}


@pytest.mark.parametrize(("text", "value", "condition"), AFTER.values(), ids=AFTER)
def test_what_comes_after_a_row(text, value, condition):
    assert Order.of(text).after(value, ID) == condition


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("_id", [("_id", 1)]),
        ("-_id", [("_id", -1)]),
        ("a.b", [("a.b", 1), ("_id", 1)]),
        ("-n", [("n", -1), ("_id", -1)]),
    ],
)
def test_ids_have_the_direction_of_the_field(text, keys):
    assert Order.of(text).keys == keys
