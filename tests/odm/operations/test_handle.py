"""Filters of writes: which are refused."""

from __future__ import annotations

import pytest

from gatewayfw.errors import (
    UsageError,
)


@pytest.mark.parametrize("nothing", [{}, {"$and": [{}, {}]}, {"$or": [{"name": "x"}, {}]}], ids=str)
def test_a_write_names_the_document_that_it_changes(world, land, refused, nothing):
    message = ": say which document to change or delete; an empty filter matches any of them"
    update, related = {"update": {"$set": {"name": "x"}}}, {"relations": {}}
    for word in ("filter", "filters"):
        given = {word: nothing}
        refused(UsageError, word + message, lambda given=given: world.country.delete_one(**given))
        refused(UsageError, word + message, lambda given=given: world.country.find_one_and_update(**given, **update))
        refused(UsageError, word + message, lambda given=given: world.country.add_relation(**given, **related))
        refused(UsageError, word + message, lambda given=given: world.country.remove_relation(**given, **related))
    assert world.country.find_one(nothing) == world.country.find_one({"_id": land})
    assert world.country.count(nothing) == 1
    assert world.country.find(nothing).to_list() == [world.country.find_one()]
    assert world.country.delete_one({"_id": {"$exists": True}})["deletedCount"] == 1


@pytest.mark.parametrize(
    "nothing", [{"$nor": [{}]}, {"$nor": [{"$nor": [{}]}, {}]}, {"$and": [{"$nor": [{}]}]}], ids=str
)
def test_a_write_refuses_a_filter_that_only_says_no(world, land, refused, nothing):
    message = "filter: say which document to change or delete; an empty filter matches any of them"
    refused(UsageError, message, lambda: world.country.delete_one(nothing))
    refused(UsageError, message, lambda: world.country.find_one_and_update(nothing, {"$set": {"name": "x"}}))


@pytest.mark.parametrize(
    "wanted", [{"$nor": [{"name": "x"}]}, {"name": {"$not": {"$in": []}}}, {"name": {"$regex": ""}}], ids=str
)
def test_a_write_takes_any_filter_that_names_a_field(world, land, wanted):
    assert world.country.find_one_and_update(wanted, {"$set": {"population": 5}})["population"] == 5
    assert world.country.delete_one(wanted)["deletedCount"] == 1
