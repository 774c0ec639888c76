"""The updates that mongomock is given."""

from __future__ import annotations

import pytest

from gatewayfw.errors import ValidationError
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


@pytest.mark.parametrize(("number", "factor"), [(2**62 - 1, 2), (-(2**62), 2), (-1, 2**63 - 1)])
def test_a_number_of_64_bits_is_computed(number, factor):
    [(_, plain)] = statements_of({"$mul": {"a": factor}}, {}, [{"_id": 1, "a": number}])
    assert plain == {"$set": {"a": number * factor}}


@pytest.mark.parametrize(("number", "factor"), [(2**62, 2), (-(2**62) - 1, 2)])
def test_a_number_beyond_64_bits_is_refused(number, factor):
    with pytest.raises(ValidationError) as raised:
        statements_of({"$mul": {"a": factor, "b": 1}}, {}, [{"_id": 1, "a": number, "b": 1}])
    assert raised.value.errors == {"update.a": ["The number would leave 64 bits."]}


@pytest.mark.parametrize("operator", ["$min", "$max"])
def test_an_equal_number_of_another_type_changes_nothing(storage, operator):
    storage.insert("things", [{"_id": 1, "a": 2}])
    assert repr(storage.update_one("things", {}, {operator: {"a": 2.0}}, ["a"])) == "{'_id': 1, 'a': 2}"


def test_an_element_that_is_not_there_is_missing(storage):
    storage.insert("things", [{"_id": 1, "a": [1], "b": {"c": [[1]]}}])
    assert storage.update_one("things", {}, {"$mul": {"a.1": 5}, "$max": {"b.c.0.1": 7}}, None) == {
        "_id": 1,
        "a": [1, 0],
        "b": {"c": [[1, 7]]},
    }
