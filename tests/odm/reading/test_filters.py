"""Filters: which are refused, with which words, and which values are never operators."""

from __future__ import annotations

import re
from functools import partial

import pytest
from bson import ObjectId
from marshmallow import INCLUDE, Schema
from marshmallow import fields as mm

from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.messages import NO_KEY
from gatewayfw.odm import Operators
from gatewayfw.schemas import any_, array, boolean, mapping, nullable, object_, string
from tests.odm.refusing import invalid

UNSHARED = "has at character {} what databases understand differently, or not at all"


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
        ({"cities": "0" * 24}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities": {"_id": "0" * 24}}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities": None}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities.0": {"$ne": 1}}, "cities is a relation; write cities._id, or another field of it"),
        ({"capital.0.name": 1}, "model city has no field 0"),
        ({"capital": {"$elemMatch": {"name": "x"}}}, "capital is not a list; write capital._id or another field of it"),
        ({"name": {"$elemMatch": {"x": 1}}}, "name is not a list"),
        ({"$where": "1"}, "unknown operator $where"),
        ({"name": re.compile("x")}, "name: write a regular expression as text, in $regex"),
        ({"name": {"$in": [re.compile("x")]}}, "name: write a regular expression as text, in $regex"),
        ({"name": {"$regex": "(?i)x"}}, f"name: $regex {UNSHARED.format(1)}"),
        ({"population": {"$regex": "1"}}, "population is not a text"),
        ({"population": {"$not": {"$regex": "1"}}}, "population is not a text"),
        ({"_id": {"$regex": "a"}}, "_id is not a text"),
        ({"cities": {"$regex": "a"}}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities": {"$all": [{"name": "x"}]}}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities": {"$elemMatch": {"$ne": 1}}}, "cities is a relation; write cities._id, or another field of it"),
        ({"cities": {"$not": {"$gt": 1}}}, "cities is a relation; write cities._id, or another field of it"),
        ({"capital": {"$size": 1}}, "capital is not a list; write capital._id or another field of it"),
        ({"name": {"$size": 1}}, "name is not a list"),
        ({"name": {"$elemMatch": {"$gt": "x"}}}, "name is not a list"),
        ({"$nor": [{"nme": 1}]}, "model country has no field nme"),
        ({"name": {"$type": 2}}, "name: $type takes names of types, such as 'string' or 'objectId'"),
        ({"secret": {"$type": "string"}}, "model country excludes secret; reveal=['secret'] admits it"),
        ({"natives.password": {"$type": "string"}}, "the copies in natives leave out password"),
        ({"$nor": [{"secret": {"$regex": "^a"}}]}, "model country excludes secret; reveal=['secret'] admits it"),
        ({"natives.password": {"$not": {"$gt": "x"}}}, "the copies in natives leave out password"),
        ({"natives": {"$elemMatch": {"password": {"$regex": "^a"}}}}, "the copies in natives leave out password"),
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
    update = {"$set": {"name": "x"}}
    refused(
        *(UsageError, said, lambda: world.country.delete_one(filters)),
        lambda: world.country.find_one_and_update(filters, update),
        lambda: world.country.add_relation(filter=filters, **relations),
        lambda: world.country.remove_relation(filters, **relations),
    )
    if filters is not None:
        reads = world.country.find, world.country.find_one, world.country.count
        refused(UsageError, said, *(partial(read, filters) for read in reads))
        refused(UsageError, f"filters: {message}", *(partial(read, filters=filters) for read in reads))


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
        *(({"extra": value}, "extra", NO_KEY) for value in ({"a\0": 1}, [{"x": {"a\0": 1}}])),
        ({"extra.a": {"a\0": 1}}, "extra.a", NO_KEY),
        ({"extra.a": 2**70}, "extra.a", "Not a valid value."),
        ({"home._id": "x"}, "home._id", "Not a valid ObjectId (24 hexadecimal digits)."),
        ({"born.population": "x"}, "born.population", NO_NUMBER),
        ({"visited": {"$elemMatch": {"name": 5}}}, "visited.name", NO_TEXT),
        ({"$or": [{"name": "x"}, {"$and": [{"name": 5}]}]}, "name", NO_TEXT),
        ({"$nor": [{"name": 5}]}, "name", NO_TEXT),
        ({"age": {"$not": {"$gt": "abc"}}}, "age", "Not a valid integer."),
        ({"visited._id": {"$all": ["0" * 24, 5]}}, "visited._id.1", "Not a valid ObjectId (24 hexadecimal digits)."),
        ({"home.tags": {"$elemMatch": {"$gt": 5}}}, "home.tags", NO_TEXT),
    ],
    ids=str,
)
def test_values_that_cannot_be_their_fields_are_the_clients_mistake(world, refused, filters, path, text):
    world.add_person("p")
    operations = (lambda: world.person.find(filters), lambda: world.person.delete_one(filters))
    refused(*invalid(f"filter.{path}", text), *operations)
    refused(*invalid(f"filters.{path}", text), lambda: world.person.find_one(filters=filters))


@pytest.mark.parametrize("key", ["a\0", "\ud800", 1])
@pytest.mark.parametrize(
    "condition", [lambda value: value, lambda value: {"$ne": value}, lambda value: {"$in": [value]}]
)
def test_an_object_to_compare_with_has_keys_that_databases_take(odm, key, condition):
    things = odm.new_model("thing", {"d": mm.Dict(), "n": mm.Nested(Schema.from_dict({"x": mm.Raw()}))})
    for name, value in (("d", {key: 1}), ("d", {"x": [{key: 1}]}), ("n", {"x": {key: 1}})):
        with pytest.raises(ValidationError) as caught:
            things.count({name: condition(value)})
        (path,) = caught.value.errors
        assert path in (f"filter.{name}", f"filter.{name}.0")


def test_what_a_users_field_refuses_is_compared_as_it_is(odm):
    days = odm.new_model("day", {"on": mm.Date(), "of": mm.List(mm.Date())})
    days.insert_one({"on": "2026-01-01", "of": ["2026-01-02"]})
    found = [{"on": "2026-01-01"}, {"on": {"$ne": "some day"}}, {"of": "2026-01-02"}, {"of": {"$nin": ["some day"]}}]
    assert [days.count(filter) for filter in [*found, {"on": "some day"}]] == [1, 1, 1, 1, 0]


def test_of_several_revealed_names_the_wrong_one_is_named(world):
    with pytest.raises(UsageError) as raised:
        world.person.find({}, reveal=["password", "nope", "name"])
    assert raised.value.message == "reveal: 'nope' is not an excluded field of model person"


NAMES = {
    "name": None,
    "address.street": None,
    "visited.name": None,
    "home._id": None,
    "nope": "model person has no field nope",
    "_gw": "model person has no field _gw",
    "password": "model person excludes password; reveal=['password'] admits it",
    "born.secret": "the copies in born leave out secret",
    "home": "home is a relation; write home._id, or another field of it",
}


@pytest.mark.parametrize(("name", "message"), NAMES.items())
def test_sorts_and_values_take_the_names_that_filters_take(world, name, message):
    reads = {"sort": lambda **keys: world.person.find(**keys).sort(name).to_list()}
    reads["distinct"] = lambda **keys: world.person.distinct(name, **keys)
    for word, read in reads.items():
        if message is None or name == "password":
            assert read(reveal=["password"]) == []
        if message is not None:
            with pytest.raises(UsageError) as raised:
                read(reveal=[] if name == "password" else ["password"])
            assert raised.value.message == f"{word}: {message}"


@pytest.mark.parametrize("name", ["_gw", "_gw.v", "_gw.at.x"])
def test_a_pipeline_is_sorted_by_any_name_but_the_hidden_one(world, name):
    assert world.person.aggregate([]).sort([("nope", 1), ("password", 1), ("x._gw", 1)]).to_list() == []
    with pytest.raises(UsageError) as raised:
        world.person.aggregate([]).sort([("a", 1), (name, 1)])
    assert raised.value.message == f"sort: there is no field {name}"


def test_an_element_of_a_list_is_no_second_list_to_sort_by(world):
    assert world.person.find().sort({"visited.0.name": 1, "friends.name": 1, "friends.age": -1}).to_list() == []
    with pytest.raises(UsageError) as raised:
        world.person.find().sort({"visited.name": 1, "friends.0.name": 1, "clubs.name": 1})
    assert raised.value.message == "sort: visited and clubs are lists; sort by at most one list"


@pytest.mark.parametrize("sent", ["a" * 24, ObjectId("a" * 24)], ids=["text", "id"])
def test_a_filter_of_one_id_alone_takes_a_short_way(world, monkeypatch, sent):
    judged = []
    monkeypatch.setattr(
        "gatewayfw.odm.reading.filters.Parser.filter", lambda self, find, given, path: judged.append(given) or given
    )
    assert world.person.find_one({"_id": sent}) is None
    assert judged == []
    assert world.person.find_one({"_id": sent, "name": "x"}) is None
    assert judged == [{"_id": sent, "name": "x"}]


def test_all_values_of_a_filter_are_judged(world, refused):
    message = "validation error: filter.name: Not a valid string.; filter.age: Not a valid integer."
    refused(ValidationError, message, lambda: world.person.count({"name": 5, "$and": [{"age": "x"}]}))


def test_a_filter_is_given_once(world, land):
    for operation in (world.country.find, world.country.find_one, world.country.count, world.country.delete_one):
        with pytest.raises(TypeError, match="^the filter is given twice: filter and filters mean the same$"):
            operation({"name": "land"}, filters={})
    assert world.country.count() == 1


# -- an object whose keys a client may have chosen is a value, never operators

DISGUISED = "Keys may not start with $, but those of Operators in the server's code."


class Open(Schema):
    """Takes any keys."""

    class Meta:
        unknown = INCLUDE


class Pair(mm.Field):
    """A field of a user's: only its author knows what is inside."""


FIELDS = {
    "nullable values": mapping(nullable(string())),
    "mapping": mapping(string()),
    "lists of mappings": array(mapping(boolean())),
    "any": any_(),
    "object": object_(),
    "lists of objects": array(array(object_())),
    "Dict": mm.Dict(),
    "Dict of a kind": mm.Dict(values=mm.String(allow_none=True)),
    "open Schema": Open,
    "Nested": mm.Nested(Open),
    "a user's field": Pair(),
}


@pytest.fixture(params=FIELDS)
def things(request, odm):
    """A model with a field of any keys, optional, and two documents without it."""
    model = odm.new_model("thing", {"v": nullable(FIELDS[request.param]), "n": string()})
    model.insert_many([{"n": "a", "v": None}, {"n": "b", "v": None}])
    return model


SENT = [
    {"$ne": 1},
    {"$ne": None},
    {"$exists": True},
    {"$in": [None]},
    {"$elemMatch": {}},
    {"$elemMatch": {"$ne": 1}},
    {"$not": {"$exists": False}},
    {"$regex": "(a+)+$"},
    {"$regex": "", "$options": "i"},
    {"$size": 0},
    {"$type": "string"},
    {"$all": [None]},
    {"$where": 1},
    {"$ne": 1, "a": 1},
]


@pytest.mark.parametrize("sent", SENT, ids=str)
def test_a_clients_object_is_no_operator(things, sent):
    for filter, path in (({"v": sent}, "v"), ({"$or": [{"n": "a"}, {"$and": [{"v": sent}]}]}, "v")):
        with pytest.raises(ValidationError) as caught:
            things.find(filter).to_list()
        assert caught.value.errors == {f"filter.{path}": [DISGUISED]}
        with pytest.raises(ValidationError):
            things.find_one_and_update(filter, {"$set": {"n": "x"}})
        with pytest.raises(ValidationError):
            things.delete_one(filter)
    assert things.count({"n": {"$in": ["a", "b"]}}) == 2


def test_operators_of_the_code_are(things):
    assert things.count({"v": Operators({"$ne": None})}) == 0
    assert things.count({"$or": [Operators({"v": {"$exists": True}, "n": {"$ne": "b"}})]}) == 1
    assert things.count({"v": Operators({"$not": {"$exists": False, "$not": {"$ne": None}}})}) == 2
    assert things.count({"$nor": [Operators({"v": {"$not": {"$ne": None}}, "n": {"$ne": "b"}})]}) == 1
    with pytest.raises(UsageError, match=r"^filter: unknown operator \$where$"):
        things.count({"v": Operators({"$where": 1})})


def test_values_below_any_keys_are_no_operators_either(odm):
    things = odm.new_model("thing", {"labels": mapping(mapping(string())), "free": any_(), "at": array(object_())})
    things.insert_one({"labels": {"a": {"b": "c"}}, "free": {"x": {"y": 1}}, "at": [{"x": 1}]})
    for path in ("labels.a", "free.x", "free.x.y", "at.x"):
        with pytest.raises(ValidationError) as caught:
            things.count({path: {"$ne": None}})
        assert caught.value.errors == {f"filter.{path}": [DISGUISED]}
        assert things.count({path: Operators({"$ne": None})}) == 1
    with pytest.raises(ValidationError) as caught:
        things.count({"at": Operators({"$elemMatch": {"x": {"$gt": 0}}}), "free": {"$ne": 1}})
    assert caught.value.errors == {"filter.free": [DISGUISED]}
    assert things.count({"at": Operators({"$elemMatch": {"x": {"$gt": 0}}})}) == 1


def test_a_value_behind_an_operator_may_be_an_object(odm):
    things = odm.new_model("thing", {"free": any_(), "list": array(any_())})
    things.insert_many([{"free": {"a": {"b": 1}}, "list": [{"a": 1}]}, {"free": [{"a": 1}], "list": []}])
    same = [
        {"free": Operators({name: value})} for name, value in (("$eq", {"a": {"b": 1}}), ("$in", [{"a": {"b": 1}}]))
    ]
    parts = [{name: Operators({"$elemMatch": {"a": {"$gt": 0}}})} for name in ("free", "list")]
    assert [things.count(filter) for filter in [*same, *parts]] == [1, 1, 1, 1]
    assert things.count({"list": Operators({"$elemMatch": {"$eq": {"a": 1}}, "$size": 1, "$all": [{"a": 1}]})}) == 1


def test_described_values_need_no_word_for_operators(odm):
    things = odm.new_model(
        "thing", {"prices": mapping(string()), "list": array(string()), "id": mm.UUID(), "o": {"a": string()}}
    )
    made = {"prices": {"de": "1"}, "list": ["a"], "id": "01234567-89ab-cdef-0123-456789abcdef", "o": {"a": "x"}}
    things.insert_one(made)
    assert (
        things.count({"prices.de": {"$gt": "0"}, "list": {"$ne": "b"}, "id": {"$in": [made["id"]]}, "o": {"$ne": None}})
        == 1
    )
