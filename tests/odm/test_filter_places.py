"""Where a call may have its filter: by position, as ``filter``, as ``filters``."""

from __future__ import annotations

import pytest

from gatewayfw.errors import UsageError

UPDATE = {"update": {"$set": {"age": 9}}, "projection": {"_id": 0, "age": 1}}
#: Calls, each with what it gives for the person ``b``.
CALLS = {
    "find": (lambda model, *args, **keys: [one["name"] for one in model.find(*args, **keys)], ["b"]),
    "find_one": (lambda model, *args, **keys: model.find_one(*args, **keys)["name"], "b"),
    "count": (lambda model, *args, **keys: model.count(*args, **keys), 1),
    "exists": (lambda model, *args, **keys: model.exists(*args, **keys), True),
    "distinct": (lambda model, *args, **keys: model.distinct("age", *args, **keys), [2]),
    "find_one_and_update": (
        lambda model, *args, **keys: model.find_one_and_update(*args, **keys, **UPDATE),
        {"age": 9},
    ),
    "delete_one": (lambda model, *args, **keys: model.delete_one(*args, **keys), {"deletedCount": 1, "cascaded": {}}),
    "findOne": (lambda model, **keys: model.findOne(**keys)["name"], "b"),
    "countDocument": (lambda model, **keys: model.countDocument(**keys), 1),
    "findOneAndUpdate": (lambda model, **keys: model.findOneAndUpdate({**keys, **UPDATE}), {"age": 9}),
    "deleteOne": (lambda model, **keys: model.deleteOne(keys), {"deletedCount": 1, "cascaded": {}}),
}
WRITES = ("find_one_and_update", "delete_one", "findOneAndUpdate", "deleteOne")
BY_POSITION = [name for name in CALLS if name.islower()]
WANTED = {"$nor": [{"name": {"$regex": "^[ac]$"}}]}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("word", ["filter", "filters"])
def test_a_filter_is_given_by_name(world, people, name, word):
    call, expected = CALLS[name]
    assert call(world.person, **{word: WANTED}) == expected


@pytest.mark.parametrize("name", BY_POSITION)
def test_a_filter_is_given_by_position(world, people, name):
    call, expected = CALLS[name]
    assert call(world.person, WANTED) == expected


@pytest.mark.parametrize("name", BY_POSITION)
def test_a_filter_is_given_once(world, people, name):
    for args, keys in (([WANTED], {"filters": WANTED}), ([], {"filter": WANTED, "filters": WANTED})):
        with pytest.raises(TypeError, match="^the filter is given twice: filter and filters mean the same$"):
            CALLS[name][0](world.person, *args, **keys)
    assert world.person.distinct("age") == [1, 2, 3]


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_filter_is_named_by_the_callers_word(world, people, name):
    for word in ("filter", "filters"):
        with pytest.raises(UsageError, match=rf"^{word}: model person has no field nme$"):
            CALLS[name][0](world.person, **{word: {"nme": "b"}})


@pytest.mark.parametrize("name", WRITES)
def test_writes_need_a_filter(world, people, name):
    for keys in ({}, {"filter": {}}, {"filters": {"$nor": [{}]}}):
        with pytest.raises(UsageError):
            CALLS[name][0](world.person, **keys)
    assert world.person.distinct("age") == [1, 2, 3]
