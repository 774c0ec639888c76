"""Reading: filters, projections, cursors, counts, aggregation."""

from __future__ import annotations

from datetime import datetime

import pytest
from bson import ObjectId

from gatewayfw.errors import BadRequest, ValidationError


@pytest.fixture
def people(world):
    """Three people, the first born in a country."""
    land = world.add_country("land", population=1)
    born = {"born": {"_ids": land, "relatedRelations": {"natives": True}}}
    ids = [
        world.add_person("a", born, age=1, born_on="2001-02-03T04:05:06.789+01:00", badge="a" * 24),
        world.add_person("b", {"visited": {"_ids": [land]}}, age=2, address={"street": "s"}),
        world.add_person("c", age=3, password="hash"),
    ]
    return [land, *ids]


def found(world, filters, **options):
    return [one["name"] for one in world.person.find(filters=filters, projection={"name": 1}).sort("name")]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, "abc"),
        (None, "abc"),
        ({"name": "b"}, "b"),
        ({"age": {"$gt": 1, "$lte": 3}}, "bc"),
        ({"age": {"$in": [1, 3]}}, "ac"),
        ({"age": {"$nin": [1, 3]}}, "b"),
        ({"age": {"$ne": 1}}, "bc"),
        ({"born": {"$exists": True}}, "a"),
        ({"$or": [{"age": 1}, {"name": "c"}]}, "ac"),
        ({"$and": [{"age": {"$gte": 1}}, {"name": "c"}]}, "c"),
        ({"badge": "a" * 24}, "a"),
        ({"badge": ObjectId("A" * 24)}, "a"),
        ({"born_on": "2001-02-03T03:05:06.789Z"}, "a"),
        ({"born_on": {"$lt": "2002-01-01"}}, "a"),
        ({"address.street": "s"}, "b"),
        ({"visited.name": "land"}, "b"),
        ({"visited": {"$elemMatch": {"name": "land"}}}, "b"),
        ({"name": 5}, ""),
        ({"_id": "a" * 25}, ""),
        ({"_id": "a" * 23}, ""),
        ({"_id": 5}, ""),
        ({"_id": None}, ""),
    ],
)
def test_filters_select(world, people, filters, names):
    assert found(world, filters) == list(names)


@pytest.mark.parametrize("more", [{"name": "b"}, {"age": {"$gt": 1}}, {"$or": [{"name": "c"}]}])
def test_an_id_and_another_condition_must_both_hold(world, people, more):
    first = people[1]
    wanted = {"_id": first, **more}
    changed = world.person.find_one_and_update(filter=wanted, update={"$set": {"name": "other"}})
    related = world.person.add_relation(filters=wanted, relations={"visited": {"_ids": [people[0]]}})
    assert (found(world, wanted), world.person.find_one(filters=wanted), world.person.count(wanted)) == ([], None, 0)
    assert (changed, related, world.person.delete_one(filter=wanted)["deletedCount"]) == (None, None, 0)
    assert found(world, {}) == ["a", "b", "c"]
    assert found(world, {"_id": first, "name": "a"}) == ["a"]


def test_ids_may_be_hexadecimal_wherever_ids_are_expected(world, people):
    land, first, second, _ = people
    assert found(world, {"_id": str(first)}) == ["a"]
    assert found(world, {"_id": {"$in": [str(first), second]}}) == ["a", "b"]
    assert found(world, {"born._id": str(land)}) == ["a"]
    assert found(world, {"$or": [{"visited._id": str(land)}, {"_id": {"$eq": str(first)}}]}) == ["a", "b"]
    assert found(world, {"visited": {"$elemMatch": {"_id": str(land), "name": "land"}}}) == ["b"]
    assert world.country.count({"natives._id": str(first)}) == 1


def test_dates_and_ids_come_back_in_their_stored_form(world, people):
    _, first, _, _ = people
    shown = world.person.find_one(filters={"_id": first}, projection={"born_on": 1, "badge": 1, "active": 1})
    expected = {"born_on": datetime(2001, 2, 3, 3, 5, 6, 789000), "badge": ObjectId("a" * 24), "active": True}
    assert shown == {"_id": first, **expected}


def test_an_insert_returns_what_a_find_reads(world):
    land = world.add_country("land")
    doc = {"name": "x", "born_on": datetime(2001, 1, 1, 1, 1, 1, 999999), "badge": "a" * 24, "password": "p"}
    inserted = world.person.insert_one(doc=doc, relations={"born": {"_ids": str(land)}})
    assert inserted == world.person.find_one(filters={"_id": inserted["_id"]})
    assert "password" not in inserted


def test_find_one_reveals_what_server_code_asks_for(world, people):
    last = people[3]
    get = {"name": 1}
    shown = world.person.find_one(filters={"_id": last}, projection=get, reveal=("password",))
    assert shown == {"_id": last, "name": "c", "password": "hash"}
    assert world.person.find_one(filters={"_id": last}, projection={"password": 1}) == {"_id": last}
    assert world.person.find_one(filters={"_id": last}, reveal="password")["password"] == "hash"


def test_reveal_names_excluded_fields_only(world):
    with pytest.raises(ValidationError) as raised:
        world.person.find_one(filters={}, reveal=("name",))
    assert raised.value.errors == {"reveal": ["'name' is no excluded field."]}


def test_cursor_sorts_skips_and_limits_lazily(world, people):
    cursor = world.person.find(projection={"name": 1, "_id": 0}).sort({"age": -1}).skip(1).limit(1)
    assert cursor.to_list() == [{"name": "b"}]
    world.person.delete_one(filter={"name": "c"})
    assert cursor.toArray() == [{"name": "a"}]
    assert [*cursor.limit(0).skip(0)] == [{"name": "b"}, {"name": "a"}]


@pytest.mark.parametrize("count", [-1, 1.0, "1", True, None])
def test_cursor_refuses_odd_counts(world, count):
    with pytest.raises(BadRequest, match="^skip: expected an integer from 0$"):
        world.person.find().skip(count)
    with pytest.raises(BadRequest, match="^limit: expected an integer from 0$"):
        world.person.find().limit(count)


@pytest.mark.parametrize(
    "sort", [(5,), ([("name",)],), ([("name", [])],), ("a..b",), ("a.$b",), ("a\0",), ("r._gw.v",)]
)
def test_cursor_refuses_odd_names(world, sort):
    with pytest.raises(BadRequest, match="^sort: expected field names with 1, -1, 'asc' or 'desc'$"):
        world.person.find().sort(*sort)


@pytest.mark.parametrize("sort", [("name", 2), ("name", True), ("$name", 1), ("", 1), ("_gw.v", 1), ([(1, 1)],)])
def test_cursor_refuses_odd_orders(world, sort):
    with pytest.raises(BadRequest, match="^sort: expected field names with 1, -1, 'asc' or 'desc'$"):
        world.person.find().sort(*sort)


def test_count_counts(world, people):
    assert (world.person.count(), world.person.count({"age": {"$gt": 1}}), world.city.countDocument()) == (3, 2, 0)


def test_aggregate_reads_without_hidden_and_excluded_fields(world, people):
    pipeline = [{"$match": {"age": {"$gte": 2}}}, {"$sort": {"age": 1}}]
    shown = world.person.aggregate(pipeline).to_list()
    assert [sorted(one) for one in shown] == [["_id", "active", "address", "age", "name", "visited"], sorted(shown[1])]
    assert sorted(shown[1]) == ["_id", "active", "age", "name"]
    assert [one["name"] for one in world.person.aggregation(pipeline).sort("age", -1).limit(1)] == ["c"]


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ([{"$out": "x"}], "pipeline: $out is not allowed"),
        ([{"$merge": {"into": "x"}}], "pipeline: $merge is not allowed"),
        ([{"$facet": {"a": [{"$out": "x"}]}}], "pipeline: $out is not allowed"),
        ({"$match": {}}, "pipeline: expected a list of stages"),
        (["x"], "pipeline: a stage is an object with one operator"),
    ],
)
def test_aggregate_never_writes(world, pipeline, message):
    with pytest.raises(BadRequest) as raised:
        world.person.aggregate(pipeline)
    assert raised.value.message == message
