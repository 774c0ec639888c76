"""What an upsert inserts; pure."""

from __future__ import annotations

import pytest

from gatewayfw.errors import BadRequest, UsageError, ValidationError
from gatewayfw.odm.writing.upserts import parse_upsert as parse
from gatewayfw.schemas import Schemas, array, integer, object_, optional, string
from gatewayfw.schemas.fields import decimal
from gatewayfw.settings import Settings

FIELDS = {
    "name": string(),
    "group": optional(string()),
    "age": optional(integer()),
    "count": optional(integer()),
    "cost": optional(decimal(places=2)),
    "tags": optional(array(string())),
    "at": optional(object_({"street": string(), "zip": optional(string())})),
}


def parse_upsert(schema, wanted, update):
    return parse(schema, wanted, update, wanted)


def unique(*names, **options):
    return {"indexSpec": dict.fromkeys(names, 1), "options": {"unique": True, **options}}


def defined(indexes, relations=None):
    schemas = Schemas(Settings())
    schemas.add("thing", FIELDS, relations or {}, {"createIndex": list(indexes)})
    return schemas.get_schema("thing")


THING = defined([unique("name"), unique("group", "age"), unique("count", sparse=True)])


@pytest.mark.parametrize(
    ("update", "first"),
    [
        ({"$set": {}}, {}),
        ({"$set": {"age": 1}, "$setOnInsert": {"group": "g"}}, {"age": 1, "group": "g"}),
        ({"$setOnInsert": {"group": "g"}}, {"group": "g"}),
        ({"$inc": {"age": 2}, "$min": {"count": 3}}, {"age": 2, "count": 3}),
        ({"$mul": {"age": 2}, "$max": {"count": 3}}, {"age": 0, "count": 3}),
        ({"$push": {"tags": "a"}}, {"tags": ["a"]}),
        ({"$push": {"tags": {"$each": ["b", "c", "a"], "$sort": 1, "$slice": 2}}}, {"tags": ["a", "b"]}),
        ({"$addToSet": {"tags": {"$each": ["a", "b", "a"]}}}, {"tags": ["a", "b"]}),
        ({"$pull": {"tags": "a"}, "$unset": {"group": ""}}, {}),
        ({"$pop": {"tags": 1}}, {}),
        ({"$set": {"at.street": "s", "at.zip": "z"}}, {"at": {"street": "s", "zip": "z"}}),
        ({"$set": {"name": "n"}}, {}),
    ],
    ids=repr,
)
def test_a_new_document_has_the_filter_and_what_operators_make_of_absent_fields(update, first):
    assert parse_upsert(THING, {"name": "n"}, update).first == {"name": "n", **first}


@pytest.mark.parametrize("wanted", [{"name": "n"}, {"group": "g", "age": 1}, {"count": 1}, {"_id": 1}], ids=repr)
def test_the_filter_names_one_key(wanted):
    assert parse_upsert(THING, wanted, {"$set": {}}).key == tuple(sorted(wanted))


PARTIAL = defined([unique("name", partialFilterExpression={"age": {"$gt": 1}})])


@pytest.mark.parametrize(
    ("schema", "wanted", "problem"),
    [
        (THING, {"group": "g"}, "must name _id, or all"),
        (THING, {"name": "n", "group": "g"}, "must name _id, or all"),
        (THING, {"_id": 1, "name": "n"}, "must name _id, or all"),
        (THING, {"$and": [{"name": "n"}]}, "must name _id, or all"),
        (PARTIAL, {"name": "n"}, "must name _id, or all"),
        (THING, {"name": {"$in": ["n"]}}, "takes one value"),
        (THING, {"name": ["n"]}, "takes one value"),
        (defined([], {"land": {"schemaName": "land", "type": "single"}}), {"_id": 1}, "needs the relation land"),
    ],
    ids=repr,
)
def test_another_filter_or_a_required_relation_is_the_programs_mistake(schema, wanted, problem):
    with pytest.raises(UsageError, match=problem):
        parse_upsert(schema, wanted, {"$set": {}})


@pytest.mark.parametrize(
    ("update", "error"),
    [
        ({"$set": {"name": "other"}}, ValidationError),
        ({"$setOnInsert": {"name": "other"}}, ValidationError),
        ({"$unset": {"group": ""}, "$setOnInsert": {"x": 1}}, ValidationError),
        ({"$set": {"age": 1}, "$setOnInsert": {"age": 2}}, UsageError),
        ({"$setOnInsert": {"age": 2}, "$set": {"age": 1}}, BadRequest),
        ({"$unset": {"group": ""}, "$setOnInsert": 1}, UsageError),
        ({"$rename": {"group": "x"}}, UsageError),
        ({}, UsageError),
    ],
    ids=repr,
)
def test_an_update_that_makes_no_sense_is_refused(update, error):
    with pytest.raises(error):
        parse_upsert(THING, {"name": "n"}, update)


def test_only_set_may_name_what_the_filter_names():
    with pytest.raises(UsageError, match=r"\$inc changes age, which the filter names"):
        parse_upsert(THING, {"group": "g", "age": 1}, {"$inc": {"age": 1}})


def test_a_key_is_not_null():
    with pytest.raises(ValidationError) as raised:
        parse_upsert(THING, {"group": None, "age": 1}, {"$set": {}})
    assert raised.value.errors == {"filter.group": ["Field may not be null."]}


def test_what_is_multiplied_begins_at_zero():
    first = parse_upsert(THING, {"name": "n"}, {"$mul": {"cost": 2}}).first
    assert str(first["cost"]) == "0"


def test_a_new_document_gets_values_as_they_were_given():
    update = {"$set": {"group": "g"}, "$setOnInsert": {"at.street": "s"}, "$max": {"cost": "1.5"}, "$inc": {"age": 1}}
    parsed = parse(THING, {"name": "stored"}, update, {"name": "given"})
    assert parsed.first == {"name": "given", "group": "g", "at": {"street": "s"}, "cost": "1.5", "age": 1}
