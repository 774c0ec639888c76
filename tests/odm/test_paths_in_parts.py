"""Paths given as parts: a client's key is one key, whatever it holds; what no key can be is its mistake."""

from __future__ import annotations

import pytest

from gatewayfw.errors import BadRequest, UsageError, ValidationError
from gatewayfw.odm import Operators
from gatewayfw.schemas import any_, array, boolean, integer, mapping, object_, optional, string
from tests.models import read_stored
from tests.schemas.calls import refusals

UNUSABLE = ["Not a key the database can hold."]
#: Keys that the database cannot hold, as messages show them.
BAD = {"": "", "a.b": "a.b", "$x": "$x", "a\0": "a\\x00", "x.paid": "x.paid", ".": "."}
GOOD = ["a", "5", "get", "__proto__", "a b", "ä", "0", "300000", "a$"]
#: What leads to a key in an update; each with the operand.
UPDATES = {
    "$set": ("hits", 5),
    "$unset": ("hits", ""),
    "$inc": ("hits", 1),
    "$mul": ("hits", 2),
    "$min": ("hits", 1),
    "$max": ("hits", 1),
    "$push": ("lists", "x"),
    "$addToSet": ("lists", "x"),
    "$pull": ("lists", "x"),
    "$pop": ("lists", 1),
}


@pytest.fixture
def things(odm):
    """A model with one document."""
    fields = {
        "name": string(),
        "hits": optional(mapping(integer())),
        "lists": optional(mapping(array(string()))),
        "orders": optional(mapping(object_({"paid": optional(boolean()), "no": optional(integer())}))),
        "free": optional(any_()),
        "open": optional(object_()),
    }
    thing = odm.new_model("thing", fields)
    thing.insert_one(doc={"name": "a", "hits": {"a": 1}, "lists": {"a": ["x"]}, "orders": {"x": {"no": 1}}})
    return thing


@pytest.mark.parametrize("key", GOOD)
def test_a_part_is_one_key_in_updates_filters_sorts_and_distinct(odm, things, key):
    things.find_one_and_update(filter={"name": "a"}, update={"$inc": {("hits", key): 7}})
    expected = 8 if key == "a" else 7
    assert read_stored(odm, things, {})["hits"] == {"a": 1, key: expected}
    seen = [
        things.count(filter={("hits", key): expected}),
        things.count(filter={"$or": [{("hits", key): expected}]}),
        things.count(filter={("hits", key): {"$gt": expected}}),
        len(things.find().sort([(("hits", key), -1)]).to_list()),
        things.distinct(("hits", key)),
    ]
    assert seen == [1, 1, 0, 1, [expected]]


@pytest.mark.parametrize("key", BAD, ids=repr)
@pytest.mark.parametrize("operator", UPDATES)
def test_what_no_key_can_be_is_refused_with_its_path_and_changes_nothing(odm, things, operator, key):
    field, operand = UPDATES[operator]
    before = read_stored(odm, things, {})
    update = {operator: {(field, key): operand}}
    expected = {f"update.{field}.{BAD[key]}": UNUSABLE}
    calls = [
        refusals(lambda: things.find_one_and_update(filter={"name": "a"}, update=update)),
        refusals(lambda: things.update_many(filter={"name": "a"}, update=update)),
    ]
    assert calls == [expected] * 2
    assert read_stored(odm, things, {}) == before


@pytest.mark.parametrize("operator", UPDATES)
@pytest.mark.parametrize("key", ["", "$x", "a\0", "a.", ".a", "a..b"], ids=repr)
def test_a_text_with_what_no_key_can_be_is_the_clients_mistake(things, operator, key):
    field, operand = UPDATES[operator]
    update = {operator: {f"{field}.{key}": operand}}
    with pytest.raises(ValidationError) as caught:
        things.find_one_and_update(filter={"name": "a"}, update=update)
    assert list(caught.value.errors.values()) == [UNUSABLE]


def test_a_text_that_leads_beyond_the_values_of_a_mapping_is_the_clients_mistake(things):
    errors = refusals(lambda: things.find_one_and_update(filter={"name": "a"}, update={"$inc": {"hits.a.b": 1}}))
    assert errors == {"update.hits.a.b": ["Not a field of this object."]}
    assert refusals(lambda: things.count(filter={"hits.a.b": 1})) == {
        "filter.hits.a.b": ["Not a field of this object."]
    }


def test_a_text_reaches_into_an_object_where_its_parts_do_not(odm, things):
    things.find_one_and_update(filter={"name": "a"}, update={"$set": {"orders.x.paid": True}})
    assert refusals(
        lambda: things.find_one_and_update(filter={"name": "a"}, update={"$set": {("orders", "x.paid"): {"no": 2}}})
    ) == {"update.orders.x.paid": UNUSABLE}
    things.find_one_and_update(filter={"name": "a"}, update={"$set": {("orders", "x", "no"): 2}})
    assert read_stored(odm, things, {})["orders"] == {"x": {"no": 2, "paid": True}}


@pytest.mark.parametrize("key", BAD, ids=repr)
def test_filters_sorts_and_distinct_refuse_what_no_key_can_be(things, key):
    calls = {
        "filter": lambda: things.count(filter={("hits", key): 1}),
        "sort": lambda: things.find().sort([(("hits", key), 1)]),
        "distinct": lambda: things.distinct(("hits", key)),
    }
    assert {where: refusals(call) for where, call in calls.items()} == {
        where: {f"{where}.hits.{BAD[key]}": UNUSABLE} for where in calls
    }


def test_an_upsert_takes_parts(odm, things):
    named = {"_id": "0" * 24}
    update = {"$set": {("hits", "b"): 2, "name": "b"}, "$setOnInsert": {("orders", "y", "no"): 1}}
    things.find_one_and_update(filter=named, update=update, upsert=True)
    assert read_stored(odm, things, {"name": "b"}) == {"name": "b", "hits": {"b": 2}, "orders": {"y": {"no": 1}}}


def test_a_path_in_both_forms_is_a_mistake_of_the_code(things):
    with pytest.raises(UsageError, match=r"update: \$set has a path as text and in parts"):
        things.update_many(filter={"name": "a"}, update={"$set": {("hits", "a"): 1, "hits.a": 2}})
    with pytest.raises(UsageError, match="filter: a path is there as text and in parts"):
        things.count(filter={("hits", "a"): 1, "hits.a": 2})


@pytest.mark.parametrize("path", [(), (5,), ("hits", 5), 5, None, ("hits", None)], ids=repr)
def test_what_is_no_path_is_a_mistake_of_the_code(things, path):
    with pytest.raises(UsageError):
        things.update_many(filter={"name": "a"}, update={"$inc": {path: 1}})


HIGH = ["free.300000", "free.a.300000", "free.a.1500001.b", "open.a.10000", "free." + "9" * 400]


@pytest.mark.parametrize("path", HIGH, ids=lambda path: path[:12])
def test_no_number_in_a_path_fills_a_list_with_nulls(odm, things, path):
    things.find_one_and_update(filter={"name": "a"}, update={"$set": {"free": {"a": []}, "open": {"a": []}}})
    for operator in ("$set", "$unset"):
        with pytest.raises(ValidationError) as caught:
            things.find_one_and_update(filter={"name": "a"}, update={operator: {path: 1}})
        (message,) = caught.value.errors.values()
        assert message == ["A number above 9999 may be a place in a list: set the whole value."]


def test_a_number_that_must_be_a_key_or_is_low_is_taken(odm, things):
    update = {"$set": {"open.300000": 1, "free.2026": {"a": 1}, "hits.300000": 5}}
    things.find_one_and_update(filter={"name": "a"}, update=update)
    expected = {"open": {"300000": 1}, "free": {"2026": {"a": 1}}, "hits": {"a": 1, "300000": 5}}
    assert read_stored(odm, things, {}).items() >= expected.items()


@pytest.mark.parametrize("operator", ["$set", "$unset", "$inc"])
@pytest.mark.parametrize(("names", "refused"), [(80, False), (81, True), (190, True), (1_000, True)])
def test_updates_refuse_a_path_of_too_many_names(things, operator, names, refused):
    path = ".".join(["open", *"a" * (names - 1)])
    for given in (path, tuple(path.split("."))):
        update = {operator: {given: UPDATES[operator][1]}}
        errors = refusals(lambda: things.find_one_and_update(filter={"name": "a"}, update=update))  # noqa: B023
        assert list((errors or {}).values()) == [["Has too many names."]] * refused


@pytest.mark.parametrize(("names", "refused"), [(80, False), (81, True), (190, True), (1_000, True)])
def test_reads_refuse_a_path_of_too_many_names(things, names, refused):
    path = ".".join(["open", *"a" * (names - 1)])
    calls = [
        lambda: things.count(filter={path: 1}),
        lambda: things.count(filter={"$or": [{path: Operators({"$gt": 1})}]}),
        lambda: things.count(filter={"open.l": Operators({"$elemMatch": {f"x.{path.partition('.')[2]}": 1}})}),
        lambda: things.find().sort(path, 1).to_list(),
        lambda: things.distinct(path),
    ]
    assert [list((refusals(call) or {}).values()) for call in calls] == [[["Has too many names."]] * refused] * len(
        calls
    )


@pytest.mark.parametrize("depth", [50, 80, 100])
def test_a_deep_value_at_a_long_path_is_refused(things, depth):
    value = 1
    for _ in range(depth):
        value = {"a": value}
    path = ".".join(["open", *"a" * 79])
    assert refusals(lambda: things.find_one_and_update(filter={"name": "a"}, update={"$set": {path: value}}))


def test_no_client_names_one_place_in_two_ways(odm):
    """The server of MongoDB 6 ends if one update changes `a.1` and `a.01` of a list."""
    things = odm.new_model("thing", {"notes": any_()})
    things.insert_one(doc={"notes": [1, {"b": 1}]})
    for first, second in (("1", "01"), ("01.b", "1.b"), ("00", "0"), ("1", "01.b")):
        with pytest.raises(BadRequest, match="is changed twice$"):
            things.update_many(filter={"notes.0": 1}, update={"$set": {f"notes.{first}": 1, f"notes.{second}": 2}})
    things.find_one_and_update(filter={"notes.0": 1}, update={"$set": {"notes.01.b": 2}})
    assert things.find_one(projection={"notes": 1})["notes"] == [1, {"b": 2}]
