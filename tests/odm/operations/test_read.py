"""Reads: cursors, pipelines, and what is read for them."""

from __future__ import annotations

import pytest

from gatewayfw.errors import BadRequest, UsageError
from gatewayfw.schemas import array, integer


def test_cursor_sorts_skips_and_limits_lazily(world, people):
    cursor = world.person.find(projection={"name": 1, "_id": 0}).sort({"age": -1}).skip(1).limit(1)
    assert cursor.to_list() == [{"name": "b"}]
    world.person.delete_one(filter={"name": "c"})
    assert cursor.toArray() == [{"name": "a"}]
    assert [*cursor.limit(0).skip(0)] == [{"name": "b"}, {"name": "a"}]


@pytest.mark.parametrize("count", [-1, 2**31, 1.0, "1", True, None])
def test_cursor_refuses_odd_counts(world, count):
    with pytest.raises(BadRequest, match="^skip: expected an integer from 0$"):
        world.person.find().skip(count)
    with pytest.raises(BadRequest, match="^limit: expected an integer from 0$"):
        world.person.find().limit(count)


def test_cursor_takes_counts_up_to_what_a_command_can_hold(world):
    assert world.person.find().skip(2**31 - 1).limit(2**31 - 1).to_list() == []


def test_cursor_sorts_by_as_many_keys_as_mongodb_takes(odm):
    names = [f"f{number:02}" for number in range(31)]
    model = odm.new_model("wide", {name: integer() for name in names} | {"a": array(integer()), "b": array(integer())})
    model.insert_many([dict.fromkeys(names, number) | {"a": [number], "b": [-number]} for number in (1, 2)])
    both = [[one["f00"] for one in model.find().sort(dict.fromkeys(names, order)).limit(2)] for order in (1, -1)]
    assert both == [[1, 2], [2, 1]]
    assert [one["f00"] for one in model.find().sort({"a": -1, "f00": 1})] == [2, 1]
    with pytest.raises(UsageError, match="^sort: a and b are lists; sort by at most one list$"):
        model.find().sort({"f00": 1, "a": 1, "b": -1})


def test_aggregate_reads_without_hidden_and_excluded_fields(world, people):
    pipeline = [{"$match": {"age": {"$gte": 2}}}, {"$sort": {"age": 1}}]
    shown = world.person.aggregate(pipeline).to_list()
    assert [sorted(one) for one in shown] == [["_id", "active", "address", "age", "name", "visited"], sorted(shown[1])]
    assert sorted(shown[1]) == ["_id", "active", "age", "name"]
    assert [one["name"] for one in world.person.aggregation({"pipeline": pipeline}).sort("age", -1).limit(1)] == ["c"]


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
    with pytest.raises(UsageError) as raised:
        world.person.aggregate(pipeline)
    assert raised.value.message == message
