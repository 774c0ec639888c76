"""In a filter an object whose keys a client may have chosen is a value, never operators."""

from __future__ import annotations

import pytest
from marshmallow import INCLUDE, Schema
from marshmallow import fields as mm

from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.odm import Operators
from gatewayfw.schemas import any_, array, boolean, mapping, nullable, object_, string

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
