"""The updates that mongomock is given."""

from __future__ import annotations

from gatewayfw.storage.memory_updates import statements_of


def test_a_positional_path_is_put_last():
    update = {"$set": {"a": 1, "users.$": 2, "b": 3}, "$unset": {"c": ""}}
    [(filter, plain)] = statements_of(update, {"users._id": 1}, [])
    assert (filter, [*plain["$set"].items()]) == ({"users._id": 1}, [("a", 1), ("b", 3), ("users.$", 2)])
    assert update == {"$set": {"a": 1, "users.$": 2, "b": 3}, "$unset": {"c": ""}}


def test_each_names_no_value_twice():
    update = {"$addToSet": {"a": {"$each": [1, {"b": 1}, 1, {"b": 1}]}, "c": 1}}
    assert statements_of(update, {}, []) == [({}, {"$addToSet": {"a": {"$each": [1, {"b": 1}]}, "c": 1}})]
    assert update["$addToSet"]["a"] == {"$each": [1, {"b": 1}, 1, {"b": 1}]}


def test_what_depends_on_present_values_is_computed_for_each_document():
    documents = [{"_id": 1, "a": 2, "b": [1, 2]}, {"_id": 2, "a": 5}]
    update = {"$mul": {"a": 2}, "$pop": {"b": -1}, "$set": {"c": 1}, "$inc": {"d": 1}}
    assert statements_of(update, {"c": 0}, documents) == [
        ({"c": 0, "_id": 1}, {"$set": {"c": 1, "a": 4, "b": [2]}, "$inc": {"d": 1}}),
        ({"c": 0, "_id": 2}, {"$set": {"c": 1, "a": 10}, "$inc": {"d": 1}}),
    ]
