"""What the subset takes, and what it refuses with which words."""

from __future__ import annotations

import re

import pytest
from bson import Regex

from gatewayfw.errors import BadRequest, GatewayError, UsageError
from gatewayfw.storage.subset import Rules, check_update


def nested(depth):
    """A filter that is ``depth`` filters deep."""
    filter = {"a": 1}
    for _ in range(depth - 1):
        filter = {"$and": [filter]}
    return filter


def negated(depth):
    """A condition of ``depth`` ``$not``."""
    condition = {"$gt": 1}
    for _ in range(depth):
        condition = {"$not": condition}
    return condition


def matched(depth):
    """A filter of ``depth`` ``$elemMatch``."""
    filter = {"b": 1}
    for _ in range(depth):
        filter = {"a": {"$elemMatch": filter}}
    return filter


TEXT = "filter: a: write a regular expression as text, in $regex"


def refusal(check, value, expected=UsageError):
    with pytest.raises(GatewayError) as caught:
        check(value)
    assert type(caught.value) is expected
    return caught.value.message


@pytest.mark.parametrize(
    "filter",
    [
        {},
        {"a": 1, "a.b.0": None, "_gw.out.r.x": "y"},
        {"a": {"b": 1, "c": {"$gt": 1}}},
        {"a": {}},
        {"a": [{"$where": "1"}]},
        {"a": {"$eq": 1, "$ne": 2, "$gt": 3, "$gte": 4, "$lt": 5, "$lte": 6, "$exists": True}},
        {"a": {"$in": [1], "$nin": (2,)}},
        {"a": {"$in": []}},
        {"a": {"$elemMatch": {"b": 1, "$or": [{"c": {"$in": [2]}}]}}},
        {"a": {"$elemMatch": {}}},
        {"$and": [{"a": 1}, {"$or": [{"b": 1}, {}]}], "c": 1},
        {"$nor": [{"a": 1}, {"$nor": [{}]}]},
        {"a": {"$not": {"$gt": 1, "$not": {"$in": [3]}}}},
        {"a": {"$all": [1, {"b": 1}], "$size": 0}},
        {"a": {"$size": 2**31 - 1}},
        {"a": {"$type": "number", "$elemMatch": {"$type": ["int", "minKey"]}}},
        {"a": negated(31)},
        matched(31),
        {"a": {"$elemMatch": {"$gt": 1, "$not": {"$size": 2}, "$elemMatch": {"$regex": "x"}}}},
        {"a": {"$regex": "^a[b-d]?$", "$options": "i", "$ne": "ab"}},
        nested(32),
    ],
    ids=str,
)
def test_filters_inside_the_subset(filter):
    assert Rules().check_filter(filter) is None


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        (None, "filter: expected an object"),
        ([{"a": 1}], "filter: expected an object"),
        ("a", "filter: expected an object"),
        ({1: 1}, "filter: keys must be non-empty strings"),
        ({"": 1}, "filter: keys must be non-empty strings"),
        ({"a\0": 1}, "filter: keys must be non-empty strings"),
        ({"$where": "1"}, "filter: unknown operator $where"),
        ({"$expr": {}}, "filter: unknown operator $expr"),
        ({"$nor": []}, "filter: $nor takes a list of filters"),
        ({"$nor": {"a": 1}}, "filter: $nor takes a list of filters"),
        ({"$not": {"a": 1}}, "filter: unknown operator $not"),
        ({"$gt": 1}, "filter: unknown operator $gt"),
        ({"$and": []}, "filter: $and takes a list of filters"),
        ({"$or": {"a": 1}}, "filter: $or takes a list of filters"),
        ({"$or": "ab"}, "filter: $or takes a list of filters"),
        ({"$or": b"ab"}, "filter: $or takes a list of filters"),
        ({"$or": [1]}, "filter: expected an object"),
        ({"$and": [{"$or": [{"$text": 1}]}]}, "filter: unknown operator $text"),
        ({"a": {"$not": 1}}, "filter: $not takes operators"),
        ({"a": {"$not": {}}}, "filter: $not takes operators"),
        ({"a": {"$not": {"b": 1}}}, "filter: $not takes operators"),
        ({"a": {"$not": re.compile("x")}}, TEXT),
        ({"a": {"$not": {"$gt": 1, "b": 1}}}, "filter: a mixes operators and fields"),
        ({"a": {"$not": {"$where": 1}}}, "filter: unknown operator $where"),
        ({"a": {"$all": 1}}, "filter: a: $all takes a list"),
        ({"a": {"$all": [{"$elemMatch": {"b": 1}}]}}, "filter: a: $all takes values, not operators"),
        ({"a": {"$type": 2}}, "filter: a: $type takes names of types, such as 'string' or 'objectId'"),
        ({"a": {"$type": "text"}}, "filter: a: $type takes names of types, such as 'string' or 'objectId'"),
        ({"a": {"$type": []}}, "filter: a: $type takes names of types, such as 'string' or 'objectId'"),
        ({"a": {"$type": ["int", 2]}}, "filter: a: $type takes names of types, such as 'string' or 'objectId'"),
        ({"a": {"$size": True}}, "filter: a: $size takes a whole number from 0"),
        ({"a": {"$size": -1}}, "filter: a: $size takes a whole number from 0"),
        ({"a": {"$size": 2**31}}, "filter: a: $size takes a whole number from 0"),
        ({"a": {"$size": 1.0}}, "filter: a: $size takes a whole number from 0"),
        ({"a": {"$regex": re.compile("x")}}, TEXT),
        ({"a": {"$regex": Regex("x")}}, TEXT),
        ({"a": {"$in": ["x", re.compile("x")]}}, TEXT),
        ({"a": re.compile("x")}, TEXT),
        ({"a": {"$regex": 5}}, "filter: a: $regex takes a text"),
        ({"a": {"$options": "i"}}, "filter: a: $options stands beside $regex"),
        ({"a": {"$regex": "x", "$options": ""}}, "filter: a: $options takes 'i' alone"),
        ({"a": {"$regex": "x", "$options": "im"}}, "filter: a: $options takes 'i' alone"),
        ({"a": {"$regex": "x", "$options": ["i"]}}, "filter: a: $options takes 'i' alone"),
        ({"a": {"$regex": "(x"}}, "filter: a: $regex is malformed"),
        ({"a": {"$or": [{}]}}, "filter: unknown operator $or"),
        ({"a": {"$gt": 1, "b": 2}}, "filter: a mixes operators and fields"),
        ({"a.b": {"b": 1, "$gt": 2}}, "filter: a.b mixes operators and fields"),
        ({"a": {"$in": 1}}, "filter: a: $in takes a list"),
        ({"a": {"$in": "ab"}}, "filter: a: $in takes a list"),
        ({"a": {"$nin": b"ab"}}, "filter: a: $nin takes a list"),
        ({"a": {"$nin": {"b": 1}}}, "filter: a: $nin takes a list"),
        ({"a": {"$in": [1, {"$gt": 0}]}}, "filter: a: $in takes values, not operators"),
        ({"a": {"$nin": ({"b": 1, "$x": 0},)}}, "filter: a: $nin takes values, not operators"),
        ({"a": {"$exists": 1}}, "filter: a: $exists takes true or false"),
        ({"a": {"$exists": None}}, "filter: a: $exists takes true or false"),
        ({"a": {"$elemMatch": 1}}, "filter: expected an object"),
        ({"a": {"$elemMatch": {"b": {"$mod": [2, 0]}}}}, "filter: unknown operator $mod"),
        ({"a": {"$elemMatch": {"$mod": [2, 0]}}}, "filter: unknown operator $mod"),
        ({"a": {"$elemMatch": {"$gt": 1, "b": 1}}}, "filter: a mixes operators and fields"),
        ({"a": {"$elemMatch": {"$or": [{"b": 1}], "$gt": 1}}}, "filter: unknown operator $or"),
        ({"a": {1: 1, "$gt": 2}}, "filter: a mixes operators and fields"),
        ({"a": negated(32)}, "filter: nested too deeply"),
        (matched(32), "filter: nested too deeply"),
        ({"a": negated(400)}, "filter: nested too deeply"),
        (nested(33), "filter: nested too deeply"),
        (nested(200), "filter: nested too deeply"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_filters_outside_the_subset(filter, message):
    assert refusal(Rules().check_filter, filter) == message


@pytest.mark.parametrize(
    "update",
    [
        {"$set": {"a": 1, "b.c": None, "b.d": {"$x": 1}}},
        {"$set": {}},
        {"$set": {"users.$": {}, "_gw.at.x": 1}},
        {"$set": {"a": 1, "ab": 2}, "$unset": {"abc": ""}, "$inc": {"a_": 1}},
        {"$push": {"a": 1, "b": [1], "c": {"d": 1}, "e": {"$each": [1]}, "f": {"$each": ()}}},
        {"$addToSet": {"a": {"$each": [{"$x": 1}]}, "b": {}}},
        {"$push": {"a": {"$each": [], "$position": -1, "$slice": 0, "$sort": -1}}},
        {"$push": {"a": {1: 1}}, "$pop": {"b": 1, "c": -1}},
        {"$pull": {"a": 1, "b": {"c": 1}, "d": {"$in": [1]}, "e": {"_id": {"$in": [1]}}, "f": {"$gt": 1, "$lt": 3}}},
    ],
    ids=str,
)
def test_updates_inside_the_subset(update):
    assert check_update(update) is None


SORT = "$sort takes 1 or -1, alone or for one field of the elements"
EMPTY = "update: expected an object of operators such as $set"


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (None, EMPTY),
        ({}, EMPTY),
        ([{"$set": {"a": 1}}], EMPTY),
        ({"a": 1}, "update: unknown operator a; to set a field, write {'$set': {...}}"),
        ({"$rename": {"a": "b"}}, "update: unknown operator $rename"),
        ({"$set": {"a": 1}, "$currentDate": {"b": True}}, "update: unknown operator $currentDate"),
        ({1: {}}, "update: unknown operator 1; to set a field, write {'$set': {...}}"),
        ({"$inc": 1}, "update: $inc takes an object"),
        ({"$inc": {".a": 1}}, "update: $inc names no field"),
        ({"$unset": {"a.": ""}}, "update: $unset names no field"),
        ({"$set": {"a": 1}, "$inc": {"a": 1}}, "update: a is changed twice"),
        ({"$set": {"a.b": 1}, "$unset": {"a": ""}}, "update: a is changed twice"),
        ({"$push": {"a": {"$each": [1], "$end": 1}}}, "update: $push knows no $end beside $each"),
        ({"$push": {"a": {"$each": [1], "b": 1}}}, "update: $push knows no b beside $each"),
        ({"$push": {"a": {"$each": [1], 1: 1}}}, "update: $push knows no 1 beside $each"),
        ({"$push": {"a": {"$each": [1], "$slice": "1"}}}, "update: $push $slice takes a whole number"),
        ({"$push": {"a": {"$each": [1], "$sort": 2}}}, f"update: $push {SORT}"),
        ({"$push": {"a": {"$slice": 1}}}, "update: $push takes a value, or a list in $each"),
        ({"$addToSet": {"a": {"$each": [1], "$slice": 1}}}, "update: $addToSet takes a value, or a list in $each"),
        ({"$push": {"a": {"$each": 1}}}, "update: $push takes a value, or a list in $each"),
        ({"$push": {"a": {"$position": 1}}}, "update: $push takes a value, or a list in $each"),
        ({"$addToSet": {"a": {"$each": "ab"}}}, "update: $addToSet takes a value, or a list in $each"),
        ({"$pull": {"a": {"$regex": "x"}}}, "update: unknown operator $regex"),
        ({"$pull": {"a": {"$not": {"$gt": 1}}}}, "update: unknown operator $not"),
        ({"$pull": {"a": {"$elemMatch": {"$gt": 1}}}}, "update: unknown operator $gt"),
        ({"$pull": {"a": {"$nor": [{"b": 1}]}}}, "update: unknown operator $nor"),
        ({"$pull": {"a": {"b": {"$size": 1}}}}, "update: unknown operator $size"),
        ({"$pull": {"a": {"$or": [{"b": 1}]}}}, "update: unknown operator $or"),
        ({"$pull": {"a": {"b": {"$elemMatch": {"$nor": [{"c": 1}]}}}}}, "update: unknown operator $nor"),
        ({"$push": {"a": {"$each": [1], "$b": 1, "$a": 1}}}, "update: $push knows no $a beside $each"),
        *(({"$pop": {"a": value}}, "update: $pop takes 1 or -1") for value in (0, 2, -2, True, 1.0, "1", None)),
        ({"$pull": {"a": {"b": {"$where": "1"}}}}, "update: unknown operator $where"),
        ({"$pull": {"a": {"$in": 1}}}, "update: a: $in takes a list"),
        ({"$pull": {"a": {"$gt": 1, "b": 1}}}, "update: a mixes operators and fields"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_updates_outside_the_subset(update, message):
    assert refusal(check_update, update) == message


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"$set": 1}, "update: $set takes an object"),
        ({"$set": [["a", 1]]}, "update: $set takes an object"),
        ({"$set": {"": 1}}, "update: $set names no field"),
        ({"$set": {"a..b": 1}}, "update: $set names no field"),
        ({"$set": {"a\0": 1}}, "update: $set names no field"),
        ({"$set": {1: 1}}, "update: $set names no field"),
        ({"$set": {"a": 1, "a.b": 1}}, "update: a.b is changed twice"),
        ({"$unset": {"a.b": ""}, "$set": {"a": 1}}, "update: a is changed twice"),
        # The second one of each pair ends the server of MongoDB 6 where `a` is a list.
        ({"$set": {"a.1": 1, "a.01": 1}}, "update: a.01 is changed twice"),
        ({"$set": {"a.00": 1, "a.0": 1}}, "update: a.0 is changed twice"),
        ({"$push": {"a.001.b": 1}, "$set": {"a.1": 1}}, "update: a.1 is changed twice"),
        ({"$inc": {"a.2.b.03": 1}, "$set": {"a.02.b": 1}}, "update: a.02.b is changed twice"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_set_may_be_a_clients(update, message):
    assert refusal(check_update, update, BadRequest) == message


def test_names_that_only_look_alike_are_not_the_same():
    check_update({"$set": dict.fromkeys(("a.1", "a.10", "a.100", "a.0", "a.01x", "a.x01", "a.0x", "b.01", "a1"), 1)})


def test_messages_begin_with_the_callers_word():
    assert refusal(Rules("filters").check_filter, {"a": {"$in": 1}}) == "filters: a: $in takes a list"
