"""The value kinds in models, on both adapters: stored, found, sorted, changed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from bson import Decimal128

from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.schemas import Schemas, compile_struct, decimal, integer, mapping, nullable, number, string
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.settings import Settings
from tests.models import add_shop, define_offers, read_stored
from tests.schemas.test_every_kind import SAMPLES


def refused(function, **arguments):
    """The errors of a call that is refused."""
    with pytest.raises(ValidationError) as caught:
        function(**arguments)
    return caught.value.errors


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "file"])  # documents refer to files
def test_a_kind_is_stored_found_and_shown(odm, name):
    sample = SAMPLES[name]
    thing = odm.new_model("thing", {"x": sample.field})
    expected, loaded = sample.as_stored, sample.as_loaded
    made = thing.insert_one(doc={"x": sample.good}, projection={"_id": 1, "x": 1})
    assert read_stored(odm, thing, {"_id": made["_id"]}) == {"x": expected}
    assert made["x"] == loaded
    assert thing.find_one({"_id": made["_id"]})["x"] == loaded
    assert [thing.count({"x": form}) for form in (sample.good, loaded, expected)] == [1, 1, 1]
    thing.find_one_and_update({"_id": made["_id"]}, {"$set": {"x": loaded}})
    assert read_stored(odm, thing, {"_id": made["_id"]}) == {"x": expected}
    assert read_stored(odm, thing, {"_id": thing.insert_one(doc={"x": loaded})["_id"]}) == {"x": expected}
    assert refused(thing.insert_one, doc={"x": sample.bad}).keys() == {
        path.replace("set.x", "doc.x") for path in _refused_by_acts(sample)
    }
    if as_kind(sample.field).sorts:
        assert [one["x"] for one in thing.find().sort({"x": -1})] == [loaded] * 2


def _refused_by_acts(sample):
    struct = compile_struct({"set": {"x": sample.field}, "get": {}}, Schemas(Settings()))
    return refused(struct.check, details={"set": {"x": sample.bad}, "get": {}}, mode="assert")


def test_a_nullable_field_can_be_cleared(odm):
    thing = odm.new_model("thing", {"a": nullable(string()), "n": nullable(number()), "o": nullable({"b": integer})})
    id_ = thing.insert_one(doc={"a": "x", "n": 1, "o": {"b": 1}}, projection={"_id": 1})["_id"]
    thing.find_one_and_update({"_id": id_}, {"$set": {"a": None, "n": None, "o": None}})
    assert read_stored(odm, thing, {"_id": id_}) == {"a": None, "n": None, "o": None}
    assert thing.count({"a": None}) == 1
    thing.find_one_and_update({"_id": id_}, {"$set": {"o": {"b": 2}}})
    assert read_stored(odm, thing, {"_id": id_}) == {"a": None, "n": None, "o": {"b": 2}}
    assert refused(thing.find_one_and_update, filter={"_id": id_}, update={"$set": {"o": {"b": None}}}) == {
        "update.o.b": ["Field may not be null."]
    }


def test_a_mapping_is_changed_and_compared_key_by_key(odm):
    thing = odm.new_model("thing", {"prices": mapping(number(minimum=0))})
    id_ = thing.insert_one(doc={"prices": {"de": 1, "fr": 2}}, projection={"_id": 1})["_id"]
    thing.find_one_and_update(
        {"_id": id_}, {"$set": {"prices.it": 3}, "$inc": {"prices.de": 4}, "$unset": {"prices.fr": ""}}
    )
    assert read_stored(odm, thing, {"_id": id_}) == {"prices": {"de": 5, "it": 3}}
    assert [thing.count({"prices.de": {"$gt": at}}) for at in (4, 5)] == [1, 0]
    assert refused(thing.count, filter={"prices.de": "x"}) == {"filter.prices.de": ["Not a valid number."]}
    update = {"$set": {"prices.es": -1}}
    assert refused(thing.find_one_and_update, filter={"_id": id_}, update=update) == {
        "update.prices.es": ["Must be greater than or equal to 0."]
    }
    assert refused(thing.insert_one, doc={"prices": {"a.b": 1}}) == {
        "doc.prices.a.b": ["Not a key the database can hold."]
    }
    with pytest.raises(UsageError, match=r"^update: \$push prices.de: not a list$"):
        thing.find_one_and_update({"_id": id_}, {"$push": {"prices.de": 1}})


AMOUNTS = ["10.00", "9.50", "-1.00", "100.00", "9.51"]


@pytest.fixture
def prices(odm):
    """Documents with a price each."""
    model = odm.new_model("price", {"x": decimal(places=2, maximum=1000), "n": integer})
    model.insert_many(docs=[{"x": amount, "n": n} for n, amount in enumerate(AMOUNTS)])
    return model


def texts(found):
    """The prices found, as text."""
    return [str(one["x"]) for one in found]


def test_decimals_sort_and_compare_as_numbers(prices):
    assert texts(prices.find().sort({"x": 1})) == ["-1.00", "9.50", "9.51", "10.00", "100.00"]
    assert texts(prices.find({"x": {"$gt": "9.5"}}).sort({"x": -1})) == ["100.00", "10.00", "9.51"]
    assert texts(prices.find({"x": {"$in": [Decimal("10"), 100]}}).sort({"n": 1})) == ["10.00", "100.00"]
    assert prices.count({"x": {"$lte": "9.505"}}) == 2
    assert refused(prices.count, filter={"x": 9.5}) == {"filter.x": ['Not a valid decimal (text such as "12.50").']}


def test_decimals_are_increased_exactly(odm, prices):
    def add(amount):
        return prices.find_one_and_update({"n": 1}, {"$inc": {"x": amount}}, projection={"x": 1, "_id": 0})

    assert texts([add("0.10"), add(Decimal("0.2")), add(1), add("-10.8")]) == ["9.60", "9.80", "10.80", "0.00"]
    assert read_stored(odm, prices, {"n": 1}) == {"x": Decimal128("0.00"), "n": 1}
    assert refused(add, amount="0.001") == {"update.x": ["Must have at most 2 decimal places."]}
    for amount in (0.5, "x", None):
        assert refused(add, amount=amount) == {"update.x": ['Not a valid decimal (text such as "12.50").']}
    assert refused(add, amount="1000.01") == {"update.x": ["Must be less than or equal to 1000.00."]}
    assert texts([prices.find_one({"n": 1})]) == ["0.00"]


def test_copies_and_windows_are_ordered_by_decimals(odm):
    shop, offer = define_offers(odm, {"x": decimal(places=2)})
    id_, link = add_shop(shop)
    made = [
        offer.insert_one(doc={"x": x}, relations=link, projection={"_id": 1})["_id"] for x in ("9.00", "10.00", "2.00")
    ]
    assert texts(shop.find_one({"_id": id_}, projection={"first": 1})["first"]) == ["10.00", "9.00"]
    offer.find_one_and_update({"_id": made[2]}, {"$inc": {"x": "98.00"}})
    assert texts(shop.find_one({"_id": id_}, projection={"first": 1})["first"]) == ["100.00", "10.00"]
    assert list(odm.integrity.check()) == []
