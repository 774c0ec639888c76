"""What an upsert inserts; pure."""

from __future__ import annotations

import pytest

from gatewayfw.errors import BadRequest, UsageError, ValidationError
from gatewayfw.odm.writing.updates import parse_upsert as parse
from gatewayfw.odm.writing.updates import stored_update
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


def test_an_upsert_is_a_change_a_new_document_and_a_key():
    update = {"$setOnInsert": {"tags": ["a"]}, "$inc": {"age": 1}, "$set": {"cost": "1"}}
    change = stored_update(THING, {"$inc": {"age": 1}, "$set": {"cost": "1"}})
    first = {"name": "n", "cost": "1", "age": 1, "tags": ["a"]}
    assert parse_upsert(THING, {"name": "n"}, update) == (change, first, ("name",))
    nothing = stored_update(THING, {"$set": {}})
    assert parse_upsert(THING, {"name": "n"}, {"$setOnInsert": {"age": 1}}).change == nothing


@pytest.mark.parametrize("wanted", [{"name": "n"}, {"group": "g", "age": 1}, {"count": 1}, {"_id": 1}], ids=repr)
def test_the_filter_names_one_key(wanted):
    assert parse_upsert(THING, wanted, {"$set": {}}).key == tuple(sorted(wanted))


PARTIAL = defined([unique("name", partialFilterExpression={"age": {"$gt": 1}})])
COLLATED = defined([unique("name", collation={"locale": "en"}), unique("at.street"), unique("group", unique=False)])
KEY = "upsert: the filter must name _id, or all fields of a unique index, and nothing else"
VALUES = "upsert: the filter takes one value for each field, no operators or lists"
LINKS = {name: {"schemaName": "land", "type": "single", "optional": name == "a"} for name in "abc"}


@pytest.mark.parametrize(
    ("schema", "wanted", "problem"),
    [
        (THING, {"group": "g"}, KEY),
        (THING, {"name": "n", "group": "g"}, KEY),
        (THING, {"_id": 1, "name": "n"}, KEY),
        (THING, {"$and": [{"name": "n"}]}, KEY),
        (PARTIAL, {"name": "n"}, KEY),
        (THING, {"name": {"$in": ["n"]}}, VALUES),
        (THING, {"name": ["n"]}, VALUES),
        *((COLLATED, {name: "n"}, KEY) for name in ("name", "at.street", "group")),
        (defined([], LINKS), {"_id": 1}, "upsert: a new thing needs the relation b"),
    ],
    ids=repr,
)
def test_another_filter_or_a_required_relation_is_the_programs_mistake(schema, wanted, problem):
    with pytest.raises(UsageError) as raised:
        parse_upsert(schema, wanted, {"$set": {}})
    assert raised.value.message == problem


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


@pytest.mark.parametrize("operator", ["$inc", "$unset"])
def test_only_set_may_name_what_the_filter_names(operator):
    with pytest.raises(UsageError) as raised:
        parse_upsert(THING, {"group": "g", "age": 1}, {operator: {"age": 1}})
    assert raised.value.message == f"upsert: {operator} changes age, which the filter names"


@pytest.mark.parametrize("operator", ["$set", "$setOnInsert"])
def test_what_the_filter_names_keeps_its_value(operator):
    with pytest.raises(ValidationError) as raised:
        parse_upsert(THING, {"name": "n"}, {operator: {"age": 1, "name": "other"}})
    assert raised.value.errors == {"update.name": ["Must be the value in the filter."]}


def test_a_key_is_not_null():
    with pytest.raises(ValidationError) as raised:
        parse_upsert(THING, {"group": None, "age": None}, {"$set": {}})
    assert raised.value.errors == {f"filter.{name}": ["Field may not be null."] for name in ("group", "age")}


def test_what_is_multiplied_begins_at_zero():
    first = parse_upsert(THING, {"name": "n"}, {"$mul": {"cost": 2}}).first
    assert str(first["cost"]) == "0"


def test_a_new_document_gets_values_as_they_were_given():
    update = {"$set": {"group": "g"}, "$setOnInsert": {"at.street": "s"}, "$max": {"cost": "1.5"}, "$inc": {"age": 1}}
    parsed = parse(THING, {"name": "stored"}, update, {"name": "given"})
    assert parsed.first == {"name": "given", "group": "g", "at": {"street": "s"}, "cost": "1.5", "age": 1}
