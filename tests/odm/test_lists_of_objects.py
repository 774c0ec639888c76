"""Lists of what Schemas describe, and tuples: a part is set, added and asked for as the whole would be."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from bson import Decimal128, ObjectId
from marshmallow import INCLUDE, Schema, ValidationError, post_load, pre_load, validate, validates_schema
from marshmallow import fields as mm

from gatewayfw.errors import UsageError
from gatewayfw.odm import Operators
from tests.models import read_stored
from tests.schemas.calls import refusals


class Line(Schema):
    """A line of an order."""

    price = mm.Decimal(required=True, places=2)
    day = mm.Date(data_key="Day")
    note = mm.String(load_default="-")
    secret = mm.String()

    @pre_load
    def cut(self, data, **_):
        """Take prices with their sign."""
        is_text = isinstance(data, dict) and isinstance(data.get("price"), str)
        return {**data, "price": data["price"].lstrip("$")} if is_text else data


class Lines(Line):
    """Lines that are judged, and put in order, as a whole."""

    @validates_schema(pass_collection=True)
    def judge(self, data, many, **_):
        """Refuse two lines of one price."""
        if many and len({line["price"] for line in data}) < len(data):
            raise ValidationError("Prices twice.")

    @post_load(pass_collection=True)
    def order(self, data, many, **_):
        """Put the dearest first."""
        return sorted(data, key=lambda line: -line["price"]) if many else data


LISTS = {
    "many": lambda: mm.Nested(Line, many=True, exclude=("secret",), validate=validate.Length(max=3)),
    "a list": lambda: mm.List(mm.Nested(Line, exclude=("secret",)), validate=validate.Length(max=3)),
    "a Schema of many": lambda: mm.Nested(Line(many=True, exclude=("secret",)), validate=validate.Length(max=3)),
}
SENT, PYTHON = {"price": "$1.5", "Day": "2026-11-27"}, {"price": Decimal("1.5"), "day": date(2026, 11, 27)}
KEPT = {"price": Decimal128("1.50"), "Day": "2026-11-27", "note": "-"}
#: The one document; a write does not take an empty filter.
ONE = {"v": Operators({"$exists": True})}
FIRST = {"price": Decimal128("9.00"), "note": "-"}


@pytest.fixture(params=LISTS)
def orders(odm, request):
    """A model with a list of lines, and one document."""
    model = odm.new_model("order", {"v": LISTS[request.param]()})
    model.insert_one(doc={"v": [{"price": 9}]})
    return model


@pytest.mark.parametrize("line", [SENT, PYTHON])
@pytest.mark.parametrize(
    ("update", "after"),
    [
        (lambda line: {"$push": {"v": line}}, [FIRST, KEPT]),
        (lambda line: {"$push": {"v": {"$each": [line], "$position": 0, "$slice": 1}}}, [KEPT]),
        (lambda line: {"$push": {"v": {"$each": [line], "$sort": {"price": 1}}}}, [KEPT, FIRST]),
        (lambda line: {"$addToSet": {"v": {"$each": [line, {"price": "9"}]}}}, [FIRST, KEPT]),
        (lambda line: {"$pull": {"v": {"price": Decimal(9)}}}, []),
        (lambda line: {"$pull": {"v": {"price": {"$gt": "8.99"}}}}, []),
        (lambda line: {"$pull": {"v": {"Day": date(2026, 11, 27)}}}, [FIRST]),
        (lambda line: {"$pop": {"v": 1}}, []),
    ],
)
def test_an_element_is_added_and_found_by_both_its_forms(odm, orders, line, update, after):
    orders.find_one_and_update(ONE, update(line))
    assert read_stored(odm, orders, {})["v"] == after


def test_what_was_pushed_is_found_and_pulled(odm, orders):
    for line in (SENT, PYTHON):
        orders.find_one_and_update(ONE, {"$push": {"v": SENT}})
        assert orders.count({"v": {"$elemMatch": {"price": "1.5", "Day": date(2026, 11, 27)}}}) == 1
        orders.find_one_and_update(ONE, {"$pull": {"v": Operators({"$eq": {**line, "note": "-"}})}})
        assert read_stored(odm, orders, {})["v"] == [FIRST]


@pytest.mark.parametrize(
    ("update", "errors"),
    [
        ({"$push": {"v": {"price": "x"}}}, {"update.v.price": ["Not a valid number."]}),
        ({"$push": {"v": {**SENT, "secret": "s"}}}, {"update.v.secret": ["Unknown field."]}),
        ({"$addToSet": {"v": {"Day": "2026-11-27"}}}, {"update.v.price": ["Missing data for required field."]}),
        ({"$push": {"v": {"$each": [SENT] * 3}}}, {"update.v": ["Longer than maximum length 3."]}),
        ({"$set": {"v.0.price": 1}}, {"update.v.0.price": ["An element has no name: set the whole list."]}),
        ({"$set": {"v.$.price": 1}}, {"update.v.$.price": ["Not a key the database can hold."]}),
    ],
    ids=str,
)
def test_what_the_whole_list_could_not_be_is_refused(odm, orders, update, errors):
    assert refusals(lambda: orders.find_one_and_update(ONE, update)) == errors
    assert read_stored(odm, orders, {})["v"] == [FIRST]


def test_hooks_for_the_whole_list_judge_it_after_a_push(odm):
    orders = odm.new_model("order", {"v": mm.Nested(Lines, many=True)})
    orders.insert_one(doc={"v": [{"price": 1}, {"price": 9}]})
    dear, mid, cheap = [{"price": Decimal128(price), "note": "-"} for price in ("9.00", "5.00", "1.00")]
    assert read_stored(odm, orders, {})["v"] == [dear, cheap]
    twice = refusals(lambda: orders.find_one_and_update(ONE, {"$push": {"v": {"price": 9}}}))
    assert twice == {"update.v": ["Prices twice."]}
    behind = refusals(lambda: orders.find_one_and_update(ONE, {"$push": {"v": {"price": 5}}}))
    assert behind == {"update.v": ["Would come back as another value."]}
    orders.find_one_and_update(ONE, {"$push": {"v": {"$each": [{"price": 5}], "$position": 1}}})
    assert read_stored(odm, orders, {})["v"] == [dear, mid, cheap]


class Sum(Schema):
    """An object with a part that its hook computes."""

    a = mm.Integer()
    b = mm.Integer(load_default=2)
    total = mm.Integer()

    @post_load
    def add(self, data, **_):
        """Compute the total."""
        return {**data, "total": data.get("a", 0) + data["b"]}


def test_a_part_is_not_set_if_its_object_would_come_back_as_another(odm):
    model = odm.new_model("sum", {"v": mm.Nested(Sum)})
    model.insert_one(doc={"v": {"a": 1}})
    for update in ({"$set": {"v.a": 5}}, {"$inc": {"v.a": 1}}):
        part = refusals(lambda: model.find_one_and_update(ONE, update))  # noqa: B023
        assert part == {"update.v": ["Would come back as another value."]}
    assert read_stored(odm, model, {})["v"] == {"a": 1, "b": 2, "total": 3}
    assert model.find_one_and_update(ONE, {"$set": {"v.a": 5, "v.total": 7}})["v"] == {"a": 5, "b": 2, "total": 7}


def test_an_object_from_before_a_part_had_a_default_is_changed(odm):
    model = odm.new_model("line", {"v": mm.Nested(Line)})
    odm.storage.insert("line", [{"_id": ObjectId(), "v": {"price": Decimal128("1.00")}}])
    assert model.find_one_and_update(ONE, {"$set": {"v.secret": "s"}})["v"] == {"price": Decimal("1.00"), "secret": "s"}


def test_further_keys_are_stored_in_one_order(odm):
    model = odm.new_model("open", {"v": mm.Nested(Line, unknown=INCLUDE, exclude=("day",))})
    names = [f"key {number}" for number in range(9)]
    model.insert_one(doc={"v": {**dict.fromkeys(reversed(names), 1), "price": 1}})
    assert [*read_stored(odm, model, {})["v"]] == ["price", "note", *names]


# -- tuples: a name across their places could mean several


@pytest.fixture
def pairs(odm):
    """A model with tuples of which one place is a line."""
    pair = [mm.Raw(), mm.Nested(Line)]
    model = odm.new_model("pair", {"v": mm.Tuple(pair), "by": mm.Dict(values=mm.Tuple(pair))})
    model.insert_one(doc={"v": (1, PYTHON), "by": {"a": [2, SENT]}})
    return model


ACROSS = "has no field {}; below a tuple name a place, such as 0"


@pytest.mark.parametrize(
    ("filter", "told"),
    [
        ({"v.price": "1.50"}, f"filter: model pair {ACROSS.format('v.price')}"),
        ({"v.2.price": "1.50"}, f"filter: model pair {ACROSS.format('v.2.price')}"),
        ({"v": {"$elemMatch": {"price": "1.50"}}}, "filter: v is a tuple: name a place of it, such as v.0"),
        ({"v": Operators({"$size": 2})}, "filter: v is a tuple: name a place of it, such as v.0"),
    ],
    ids=str,
)
def test_a_filter_across_the_places_of_a_tuple_is_refused(pairs, filter, told):
    with pytest.raises(UsageError) as caught:
        pairs.count({key: Operators(one) if isinstance(one, dict) else one for key, one in filter.items()})
    assert caught.value.message == told


def test_no_sort_distinct_value_or_update_is_across_the_places_of_a_tuple(pairs):
    for ask in (lambda: pairs.find().sort("v.price").to_list(), lambda: pairs.distinct("v.price")):
        with pytest.raises(UsageError, match="below a tuple name a place, such as 0"):
            ask()
    refused = refusals(lambda: pairs.find_one_and_update(ONE, {"$set": {"v.price": 1, "v.1.price": 1}}))
    assert refused == {
        "update.v.price": ["Not a field of this object."],
        "update.v.1.price": ["An element has no name: set the whole list."],
    }
    assert refusals(lambda: pairs.count({"by.a.price": 1})) == {"filter.by.a.price": ["Not a field of this object."]}


@pytest.mark.parametrize("price", ["1.50", Decimal("1.5")])
def test_a_place_of_a_tuple_is_asked_for_in_both_forms(pairs, price):
    for path in ("v.1.price", "by.a.1.price"):
        assert [pairs.count({path: one}) for one in (price, {"$in": [price]}, {"$gt": price})] == [1, 1, 0]
        assert pairs.distinct(path) == [Decimal("1.50")]
