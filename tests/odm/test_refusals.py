"""Bad input to every operation: a clear error, and the database as it was."""

from __future__ import annotations

import re

import pytest
from bson import ObjectId

from gatewayfw.errors import (
    BadRequest,
    Conflict,
    DuplicateKey,
    GatewayError,
    NotFound,
    StillReferenced,
    UsageError,
    ValidationError,
)

REQUIRED = "Missing data for required field."


@pytest.fixture
def land(world):
    return world.add_country("land")


@pytest.fixture
def refused(world):
    """Run an operation that must fail with exactly this error, and change nothing."""

    def run(expected, message, operation):
        before = world.digest()
        with pytest.raises(GatewayError) as raised:
            operation()
        assert (type(raised.value), raised.value.message) == (expected, message)
        assert world.digest() == before

    return run


def invalid(path, *texts):
    return ValidationError, f"validation error: {path}: {' '.join(texts)}"


def test_insert_collects_every_refused_value(world, land, refused):
    doc = {"nme": "x", "population": "5", "tags": "t"}
    message = (
        f"validation error: doc.name: {REQUIRED}; doc.population: Not a valid number.;"
        " doc.tags: Not a valid list.; doc.nme: Unknown field."
    )
    relations = {"country": {"_ids": land}}
    refused(ValidationError, message, lambda: world.city.insert_one(doc=doc, relations=relations))


@pytest.mark.parametrize("doc", [None, [], "x", 5])
def test_insert_takes_an_object(world, refused, doc):
    refused(*invalid("doc", "Expected an object."), lambda: world.country.insert_one(doc=doc))


@pytest.mark.parametrize("id_", ["0" * 12, "0" * 24 + "\n", "g" * 24, 5, None, b"0" * 12, {"$oid": "0" * 24}])
def test_insert_takes_only_real_ids(world, refused, id_):
    refused(*invalid("doc._id", "Not a valid id."), lambda: world.country.insert_one(doc={"_id": id_, "name": "x"}))


@pytest.mark.parametrize(
    "relations",
    [None, {}, {"country": {"_ids": []}}],
    ids=["none", "empty", "no ids"],
)
def test_insert_needs_required_relations(world, land, refused, relations):
    missing = "Expected one id." if relations and relations.get("country") else REQUIRED
    path = "relations.country._ids" if missing != REQUIRED else "relations.country"
    refused(*invalid(path, missing), lambda: world.city.insert_one(doc={"name": "x"}, relations=relations))


def test_insert_needs_an_id_in_a_required_multiple(world, refused):
    relations = {"places": {"_ids": []}}
    refused(
        *invalid("relations.places", REQUIRED), lambda: world.club.insert_one(doc={"name": "x"}, relations=relations)
    )


@pytest.mark.parametrize(
    ("given", "path", "text"),
    [
        ({"nothing": {"_ids": []}}, "relations.nothing", "Unknown field."),
        ({"born": "0" * 24}, "relations.born", "Expected an object with _ids."),
        ({"born": {}}, "relations.born", "Expected an object with _ids."),
        ({"born": {"_ids": "x"}}, "relations.born._ids", "Not a valid id."),
        ({"born": {"_ids": ["0" * 24, "1" * 24]}}, "relations.born._ids", "Expected one id."),
        ({"born": {"_ids": {"$ne": None}}}, "relations.born._ids", "Not a valid id."),
        ({"visited": {"_ids": "0" * 24}}, "relations.visited._ids", "Expected a list of ids."),
        ({"visited": {"_ids": ["0" * 24, "0" * 24]}}, "relations.visited._ids", "Ids may not repeat."),
        ({"visited": {"_ids": [f"{n:024x}" for n in range(5)]}}, "relations.visited._ids", "More than 4 ids."),
        ({"born": {"_ids": "0" * 24, "x": 1}}, "relations.born.x", "Unknown field."),
        ({"born": {"_ids": "0" * 24, "relatedRelations": 1}}, "relations.born.relatedRelations", "Expected an object."),
        (
            {"born": {"_ids": "0" * 24, "relatedRelations": {"users": True}}},
            "relations.born.relatedRelations.users",
            "Unknown field.",
        ),
        (
            {"born": {"_ids": "0" * 24, "relatedRelations": {"natives": 1}}},
            "relations.born.relatedRelations.natives",
            "Not a valid boolean.",
        ),
    ],
)
def test_relation_input_is_checked(world, refused, given, path, text):
    person = world.add_person("p")
    refused(*invalid(path, text), lambda: world.person.insert_one(doc={"name": "x"}, relations=given))
    refused(*invalid(path, text), lambda: world.person.add_relation(filters={"_id": person}, relations=given))
    refused(*invalid(path, text), lambda: world.person.remove_relation(filters={"_id": person}, relations=given))


def test_missing_ids_are_all_named(world, land, refused):
    missing = [ObjectId(), ObjectId()]
    message = f"country not found: {min(missing)}, {max(missing)}"
    relations = {"visited": {"_ids": [missing[0], land, missing[1]], "relatedRelations": {"visitors": True}}}
    refused(NotFound, message, lambda: world.add_person("x", relations))


def test_a_duplicate_key_leaves_no_trace_in_targets(world, land, refused):
    person = world.add_person("taken")
    relations = {"born": {"_ids": land, "relatedRelations": {"natives": True}}}
    refused(DuplicateKey, "Duplicate key error", lambda: world.add_person("x", relations, _id=person))
    docs = [{"name": "a"}, {"name": "b", "_id": person}]
    refused(DuplicateKey, "Duplicate key error", lambda: world.person.insert_many(docs=docs, relations=relations))


def test_a_duplicate_key_on_update_changes_nothing(world, land, refused):
    other = world.add_country("other")
    world.add_city("city", other)
    refused(
        DuplicateKey,
        "Duplicate key error",
        lambda: world.country.find_one_and_update(filter={"_id": other}, update={"$set": {"name": "land"}}),
    )


def test_insert_many_names_the_document(world, refused):
    docs = [{"name": "a"}, {"name": 5}]
    refused(*invalid("docs.1.name", "Not a valid string."), lambda: world.country.insert_many(docs=docs))
    refused(*invalid("docs", "Expected a list."), lambda: world.country.insert_many(docs={"name": "a"}))
    message = "Expected one object, or as many as docs."
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=5))
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=[None]))


@pytest.mark.parametrize(
    ("update", "error", "message"),
    [
        ({}, UsageError, "update: expected an object of operators such as $set"),
        ({"name": "x"}, UsageError, "update: unknown operator name"),
        ({"$rename": {"name": "x"}}, UsageError, "update: unknown operator $rename"),
        ({"$set": "x"}, BadRequest, "update: $set takes an object"),
        ({"$set": {"name": "x"}, "$unset": {"name": ""}}, UsageError, "update: name is changed twice"),
        (
            {"$set": {"address": {"street": "a"}, "address.zip": "b"}},
            BadRequest,
            "update: address.zip is changed twice",
        ),
        ({"$set": {"_id": "0" * 24}}, *invalid("update._id", "Not a pure field of the model.")),
        ({"$set": {"_gw.v": 1}}, *invalid("update._gw.v", "Not a pure field of the model.")),
        ({"$set": {"born": {}}}, *invalid("update.born", "Not a pure field of the model.")),
        ({"$set": {"born.name": "x"}}, *invalid("update.born.name", "Not a pure field of the model.")),
        ({"$set": {"friendOf": []}}, *invalid("update.friendOf", "Not a pure field of the model.")),
        ({"$set": {"nme": "x"}}, *invalid("update.nme", "Not a pure field of the model.")),
        ({"$set": {"name": 5}}, *invalid("update.name", "Not a valid string.")),
        ({"$set": {"name": None}}, *invalid("update.name", "Field may not be null.")),
        ({"$set": {"age": -1}}, *invalid("update.age", "Must be greater than or equal to 0.")),
        ({"$set": {"address.city": "x"}}, *invalid("update.address.city", "Not a field of this object.")),
        ({"$set": {"address.street": 5}}, *invalid("update.address.street", "Not a valid string.")),
        ({"$set": {"extra.$where": 5}}, *invalid("update.extra.$where", "Keys may not start with $.")),
        ({"$unset": {"name": ""}}, *invalid("update.name", REQUIRED)),
        ({"$unset": {"address.street": ""}}, *invalid("update.address.street", REQUIRED)),
        ({"$inc": {"age": "1"}}, *invalid("update.age", "Not a valid number.")),
        ({"$inc": {"age": 2**70}}, *invalid("update.age", "Not a valid number.")),
        ({"$inc": {"name": 1}}, UsageError, "update: $inc name: Not a number."),
        ({"$inc": {"nme": 1}}, UsageError, "update: $inc nme: Not a pure field of the model."),
        ({"$inc": {"_gw.v": 1}}, UsageError, "update: $inc _gw.v: Not a pure field of the model."),
        ({"$unset": {"address.city": ""}}, UsageError, "update: $unset address.city: Not a field of this object."),
        ({"$addToSet": {"born": 1}}, UsageError, "update: $addToSet born: Not a pure field of the model."),
        ({"$set": {"extra.x": 2**70}}, *invalid("update.extra.x", "Not a valid value.")),
        ({"$set": {"extra.x": "\ud800"}}, *invalid("update.extra.x", "Not a valid value.")),
        ({"$set": {"extra.x": {"$where": 1}}}, *invalid("update.extra.x.$where", "Not a key the database can hold.")),
        ({"$inc": {"age": -100}}, *invalid("update.age", "Must be greater than or equal to 0.")),
        ({"$push": {"name": "x"}}, UsageError, "update: $push name: Not a list."),
    ],
)
def test_updates_are_checked(world, land, refused, update, error, message):
    relations = {"born": {"_ids": land, "relatedRelations": {"natives": True}}}
    person = world.add_person("p", relations, age=5, address={"street": "s"}, extra={})
    operation = {"filter": {"_id": person}, "update": update}
    refused(error, message, lambda: world.person.find_one_and_update(**operation))


EACH = "takes a value, or a list in $each"


@pytest.mark.parametrize(
    ("update", "error", "message"),
    [
        ({"$push": {"tags": 5}}, *invalid("update.tags", "Not a valid string.")),
        ({"$push": {"tags": {"$each": ["a", 5]}}}, *invalid("update.tags.1", "Not a valid string.")),
        ({"$addToSet": {"tags": {"$each": "a"}}}, UsageError, f"update: $addToSet {EACH}"),
        ({"$push": {"tags": {"$each": ["a"], "$slice": 1}}}, UsageError, f"update: $push {EACH}"),
        ({"$pull": {"tags": 5}}, *invalid("update.tags", "Not a valid string.")),
        ({"$pull": {"tags": {"$in": ["a", 5]}}}, *invalid("update.tags.1", "Not a valid string.")),
        ({"$pull": {"tags": {"$regex": "a"}}}, UsageError, "update: unknown operator $regex"),
    ],
)
def test_elements_are_checked(world, land, refused, update, error, message):
    city = world.add_city("c", land, tags=["t"])
    operation = {"filter": {"_id": city}, "update": update}
    refused(error, message, lambda: world.city.find_one_and_update(**operation))


def test_a_bad_projection_is_found_before_anything_is_written(world, land, refused):
    get = {"nme": 1}
    error = invalid("get.nme", "Unknown field.")
    relations = {"born": {"_ids": land}}
    refused(*error, lambda: world.country.insert_one(doc={"name": "x"}, projection=get))
    refused(*error, lambda: world.country.insert_many(docs=[{"name": "x"}], projection=get))
    change = {"filter": {"_id": land}, "update": {"$set": {"name": "x"}}}
    refused(*error, lambda: world.country.find_one_and_update(**change, projection=get))
    person = world.add_person("p")
    refused(*error, lambda: world.person.add_relation(filters={"_id": person}, relations=relations, projection=get))


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"nme": 1}, "model country has no field nme"),
        ({"_gw.v": 1}, "model country has no field _gw"),
        ({"_id.x": 1}, "model country has no field _id"),
        ({"name.x": 1}, "model country has no field name.x"),
        ({"secret": "s"}, "model country excludes secret; reveal=['secret'] admits it"),
        ({"cities.zip": 1}, "model city has no field zip"),
        ({"cities._gw.v": 1}, "model city has no field _gw"),
        ({"natives.password": "x"}, "the copies in natives leave out password"),
        ({"natives.age": 1}, "the copies in natives leave out age"),
        ({"$or": [{"name": "x"}, {"natives.password": {"$gt": "x"}}]}, "the copies in natives leave out password"),
        ({"natives.extra..a": 1}, "model person has no field extra..a"),
        ({"natives.extra.$a": 1}, "model person has no field extra.$a"),
        ({"cities": "0" * 24}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities": {"_id": "0" * 24}}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities": None}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities.0": {"$ne": 1}}, "cities is a relation; write cities._id, or another field of it"),
        ({"capital.0.name": 1}, "model city has no field 0"),
        ({"capital": {"$elemMatch": {"name": "x"}}}, "capital is no list; write capital._id or another field of it"),
        ({"name": {"$elemMatch": {"x": 1}}}, "name is no list"),
        ({"$where": "1"}, "unknown operator $where"),
        ({"name": {"$regex": "x"}}, "unknown operator $regex"),
        ({"name": re.compile("x")}, "name: regular expressions are not known here"),
        ({"name": {"$in": [re.compile("x")]}}, "name: regular expressions are not known here"),
        ({"cities": {"$elemMatch": {"zip": 1}}}, "model city has no field zip"),
        ({"cities.tags": {"$elemMatch": {"zip": 1}}}, "an element of cities.tags has no field zip"),
        ({"name": {"$ne": 1, "x": 1}}, "name mixes operators and fields"),
        ({"$or": []}, "$or takes a list of filters"),
        ([], "expected an object"),
        (None, "expected an object"),
    ],
)
def test_filters_are_checked(world, land, refused, filters, message):
    said = f"filter: {message}"
    relations = {"relations": {"country": {"_ids": land}}}
    refused(UsageError, said, lambda: world.country.delete_one(filters))
    update = {"$set": {"name": "x"}}
    refused(UsageError, said, lambda: world.country.find_one_and_update(filters, update))
    refused(UsageError, said, lambda: world.country.add_relation(filter=filters, **relations))
    refused(UsageError, said, lambda: world.country.remove_relation(filters, **relations))
    if filters is not None:
        for read in (world.country.find, world.country.find_one, world.country.count):
            refused(UsageError, said, lambda read=read: read(filters))
            refused(UsageError, f"filters: {message}", lambda read=read: read(filters=filters))


NO_NUMBER, NO_TEXT = "Not a valid number.", "Not a valid string."


@pytest.mark.parametrize(
    ("filters", "path", "text"),
    [
        ({"name": 5}, "name", NO_TEXT),
        ({"name": "\ud800"}, "name", NO_TEXT),
        ({"name": ["x"]}, "name", NO_TEXT),
        ({"name": {"x": 1}}, "name", NO_TEXT),
        ({"age": "5"}, "age", "Not a valid integer."),
        ({"age": {"$gt": "abc"}}, "age", "Not a valid integer."),
        ({"age": {"$in": [1, True, "x"]}}, "age.1", "Not a valid integer."),
        ({"age": {"$nin": [1, "x"]}}, "age.1", "Not a valid integer."),
        ({"age": 2**63}, "age", "Not a valid integer."),
        ({"active": 1}, "active", "Not a valid boolean."),
        ({"born_on": {"$gt": "tomorrow"}}, "born_on", "Not a valid ISO 8601 date."),
        ({"born_on": 5}, "born_on", "Not a valid ISO 8601 date."),
        ({"badge": "x"}, "badge", "Not a valid ObjectId (24 hexadecimal digits)."),
        ({"_id": "x"}, "_id", "Not a valid ObjectId (24 hexadecimal digits)."),
        ({"_id": {"$in": [5]}}, "_id.0", "Not a valid ObjectId (24 hexadecimal digits)."),
        ({"address": "x"}, "address", "Not a valid mapping type."),
        ({"address": {"street": 5}}, "address.street", NO_TEXT),
        ({"address": {"city": "x"}}, "address.city", "Unknown field."),
        ({"address.street": 5}, "address.street", NO_TEXT),
        ({"extra": {1, 2}}, "extra", "Not a valid value."),
        ({"extra.a": 2**70}, "extra.a", "Not a valid value."),
        ({"home._id": "x"}, "home._id", "Not a valid ObjectId (24 hexadecimal digits)."),
        ({"born.population": "x"}, "born.population", NO_NUMBER),
        ({"visited": {"$elemMatch": {"name": 5}}}, "visited.name", NO_TEXT),
        ({"$or": [{"name": "x"}, {"$and": [{"name": 5}]}]}, "name", NO_TEXT),
    ],
    ids=str,
)
def test_values_that_cannot_be_their_fields_are_the_clients_mistake(world, refused, filters, path, text):
    world.add_person("p")
    refused(*invalid(f"filter.{path}", text), lambda: world.person.find(filters))
    refused(*invalid(f"filters.{path}", text), lambda: world.person.find_one(filters=filters))
    refused(*invalid(f"filter.{path}", text), lambda: world.person.delete_one(filters))


def test_all_values_of_a_filter_are_judged(world, refused):
    message = "validation error: filter.name: Not a valid string.; filter.age: Not a valid integer."
    refused(ValidationError, message, lambda: world.person.count({"name": 5, "$and": [{"age": "x"}]}))


def test_a_filter_is_given_once(world, land):
    for operation in (world.country.find, world.country.find_one, world.country.count, world.country.delete_one):
        with pytest.raises(TypeError, match="^the filter is given twice: filter and filters mean the same$"):
            operation({"name": "land"}, filters={})
    assert world.country.count() == 1


def test_nothing_matched_is_no_error(world, land):
    nobody = {"_id": ObjectId()}
    relations = {"born": {"_ids": land}}
    before = world.digest()
    assert world.person.find_one(filters=nobody) is None
    assert world.person.find_one_and_update(filter=nobody, update={"$set": {"name": "x"}}) is None
    assert world.person.add_relation(filters=nobody, relations=relations) is None
    assert world.person.remove_relation(filters=nobody, relations=relations) is None
    result = world.person.delete_one(filter=nobody)
    assert (result, bool(result)) == ({"deletedCount": 0, "cascaded": {}}, False)
    assert world.digest() == before


def test_a_relation_is_never_filled_over_its_limit(world, refused):
    lands = [world.add_country(f"land {number}") for number in range(5)]
    person = world.add_person("p", {"visited": {"_ids": lands[:3]}})
    more = {"visited": {"_ids": lands[3:]}}
    text = invalid("relations.visited._ids", "More than 4 ids.")
    refused(*text, lambda: world.person.add_relation(filters={"_id": person}, relations=more))


def test_a_required_relation_is_never_emptied(world, land, refused):
    place = world.add_city("place", land)
    club = world.club.insert_one(doc={"name": "x"}, relations={"places": {"_ids": [place]}})["_id"]
    emptied = {"filters": {"_id": club}, "relations": {"places": {"_ids": []}}}
    refused(Conflict, "places is required", lambda: world.club.add_relation(**emptied, replace=True))


def test_a_holder_is_counted_once_however_it_holds(world, land, refused):
    world.add_person("p", {"born": {"_ids": land}, "visited": {"_ids": [land]}})
    message = "country is still referenced (person: 1)"
    refused(StillReferenced, message, lambda: world.country.delete_one(filter={"_id": land}))


def test_relating_to_nothing_is_refused(world, refused):
    person = world.add_person("p")
    error = invalid("relations", "Name at least one relation.")
    refused(*error, lambda: world.person.add_relation(filters={"_id": person}, relations={}))
    refused(*error, lambda: world.person.remove_relation(filters={"_id": person}, relations={}))


@pytest.mark.parametrize("nothing", [{}, {"$and": [{}, {}]}, {"$or": [{"name": "x"}, {}]}], ids=str)
def test_a_write_names_the_document_that_it_changes(world, land, refused, nothing):
    message = ": name what is to be changed or deleted; an empty one is any document"
    update, related = {"update": {"$set": {"name": "x"}}}, {"relations": {}}
    for word in ("filter", "filters"):
        given = {word: nothing}
        refused(UsageError, word + message, lambda given=given: world.country.delete_one(**given))
        refused(UsageError, word + message, lambda given=given: world.country.find_one_and_update(**given, **update))
        refused(UsageError, word + message, lambda given=given: world.country.add_relation(**given, **related))
        refused(UsageError, word + message, lambda given=given: world.country.remove_relation(**given, **related))
    assert world.country.find_one(nothing) == world.country.find_one({"_id": land})
    assert (world.country.count(nothing), world.country.find(nothing).to_list()) == (1, [world.country.find_one()])
    assert world.country.delete_one({"_id": {"$exists": True}})["deletedCount"] == 1
