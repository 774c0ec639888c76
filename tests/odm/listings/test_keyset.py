"""Orders, and what comes after a row: gatewayfw.odm.listings.keyset."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.listings.keyset import Order

ID = ObjectId()
UP, DOWN = {"_id": {"$gt": ID}}, {"_id": {"$lt": ID}}

SAME_UP, SAME_DOWN = {"n": {"$eq": 5}, **UP}, {"n": {"$eq": 5}, **DOWN}
MORE, LESS, NULL = {"n": {"$gt": 5}}, {"n": {"$lt": 5}}, {"n": {"$eq": None}}

AFTER = {
    "ids up": ("_id", None, UP),
    "ids down": ("-_id", None, DOWN),
    "up": ("n", 5, {"$or": [SAME_UP, MORE]}),
    "down": ("-n", 5, {"$or": [SAME_DOWN, LESS, NULL]}),
    "from null up": ("n", None, {"$or": [{**NULL, **UP}, {"n": {"$ne": None}}]}),
    "from null down": ("-n", None, {**NULL, **DOWN}),
}


@pytest.mark.parametrize(("text", "value", "condition"), AFTER.values(), ids=AFTER)
def test_what_comes_after_a_row(text, value, condition):
    assert Order.of(text).after(value, ID, []) == condition


def test_each_alternative_meets_all_conditions():
    wide, narrow = {"open": {"$eq": True}}, {"shelf": {"$in": [1, 2]}}
    first, second = {"shelf": {"$eq": 1}}, {"shelf": {"$eq": 2}}
    assert Order.of("n").after(5, ID, [wide, narrow]) == {
        "$or": [
            {"$and": [wide, first, SAME_UP]},
            {"$and": [wide, first, MORE]},
            {"$and": [wide, second, SAME_UP]},
            {"$and": [wide, second, MORE]},
        ]
    }


@pytest.mark.parametrize(
    "among", [{"shelf": {"$in": []}}, {"shelf": {"$in": [1], "$gt": 0}}, {"a": 1, "b": {"$in": [1]}}]
)
def test_other_conditions_stay_whole(among):
    assert Order.of("n").after(5, ID, [among]) == {"$or": [{"$and": [among, SAME_UP]}, {"$and": [among, MORE]}]}


@pytest.mark.parametrize(
    ("text", "value", "condition"),
    [
        ("n", 5, {"n": {"$gte": 5}, "$or": [SAME_UP, MORE]}),
        ("-n", 5, {"n": {"$not": {"$gt": 5}}, "$or": [SAME_DOWN, LESS, NULL]}),
        ("n", None, {"$or": [{**NULL, **UP}, {"n": {"$ne": None}}]}),
    ],
)
def test_too_many_alternatives_are_one_stretch_that_passes_over_the_rows_before(text, value, condition):
    among = {"shelf": {"$in": list(range(31))}}
    assert Order.of(text).after(value, ID, [among]) == {"$and": [among, condition]}


@pytest.mark.parametrize(("values", "alternatives"), [(20, 40), (21, None)])
def test_up_to_forty_alternatives_are_written_out(values, alternatives):
    found = Order.of("n").after(5, ID, [{"shelf": {"$in": list(range(values))}}])
    assert len(found.get("$or", [])) == (alternatives or 0)


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
