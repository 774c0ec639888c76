"""The JSON Schema of a field takes the JSON of its values: as it is shown, and as it is sent."""

from __future__ import annotations

import json

import jsonschema
import mongomock
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import INCLUDE, Schema
from marshmallow import fields as mm

from gatewayfw.core import gateway
from gatewayfw.errors import GatewayError
from gatewayfw.export.jsonschema.kinds import Values
from gatewayfw.schemas import Schemas, any_, compile_struct, mapping, object_
from gatewayfw.schemas.kinds.descriptions import describe, describe_sent
from gatewayfw.settings import Settings
from gatewayfw.web.reply import success
from gatewayfw.web.strict_json import parse
from tests.examples import examples
from tests.meaning import ALSO_TEXT, DOUBTFUL, LEAVES, meanings

#: Fields that take more than the schema says: a number as text, or anything in place of the only value.
TAKE_MORE = {*ALSO_TEXT, "Constant"}


def show(field, sent):
    """Return the JSON Schema of a model's field, and what a reply shows of a value that is stored in it."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    notes = gw.odm.new_model("note", {"v": field})
    found = notes.find_one({"_id": notes.insert_one({"v": sent})["_id"]})["v"]
    schema = Values({}, "#/$defs/", {}).schema(describe(notes.schema.pure["v"]))
    return schema, json.loads(success(found))["body"]


NULL = {"set": {"v": None}, "get": {}}


def takes(call):
    """Whether a call refuses nothing."""
    try:
        call()
    except GatewayError:
        return False
    return True


@examples(100)
@given(data=st.data())
def test_a_value_is_valid_as_it_is_sent_and_shown(data):
    made = data.draw(meanings(leaves=sorted(LEAVES.keys() - ALSO_TEXT)))
    sent, _ = data.draw(made.forms)
    schema, shown = show(made.field, sent)
    jsonschema.validate(sent, schema)
    jsonschema.validate(shown, schema)


@pytest.mark.parametrize("mode", ["assert", "create"])
@pytest.mark.parametrize("name", sorted({*LEAVES, *DOUBTFUL} - TAKE_MORE))
@examples(5)
@given(data=st.data())
def test_a_value_is_valid_as_an_act_takes_it(name, mode, data):
    made = {**LEAVES, **DOUBTFUL}[name]()
    sent, _ = data.draw(made.forms)
    struct = compile_struct({"set": {"v": made.field}, "get": {}}, Schemas(Settings()))
    struct.check({"set": {"v": sent}, "get": {}}, mode)
    jsonschema.validate(sent, Values({}, "#/$defs/", {}).schema(describe_sent(made.field, mode)))


@pytest.mark.parametrize("mode", ["assert", "create"])
@pytest.mark.parametrize("name", sorted(LEAVES))
def test_null_is_valid_where_an_act_takes_it(name, mode):
    field = LEAVES[name]().field
    struct = compile_struct({"set": {"v": field}, "get": {}}, Schemas(Settings()))
    schema = Values({}, "#/$defs/", {}).schema(describe_sent(field, mode))
    assert jsonschema.Draft202012Validator(schema).is_valid(None) == takes(lambda: struct.check(NULL, mode))


class Open(Schema):
    """A Schema that takes any key."""

    class Meta:
        unknown = INCLUDE


ANY_KEYS = {"mapping": mapping(any_()), "object_": object_(), "Dict": mm.Dict(), "open": mm.Nested(Open)}
ANY_KEYS |= {"Dict of texts": mm.Dict(keys=mm.String(), values=mm.Integer())}


@pytest.mark.parametrize("key", ["", "a", "a\0", "\0", "a.b", "$a", "\n", "\x01"], ids=ascii)
@pytest.mark.parametrize("name", ANY_KEYS)
def test_a_key_is_valid_where_a_request_may_have_it(name, key):
    struct = compile_struct({"set": {"v": ANY_KEYS[name]}, "get": {}}, Schemas(Settings()))
    sent = {"model": "m", "act": "a", "details": {"set": {"v": {key: 1}}, "get": {}}}
    is_taken = takes(lambda: struct.check(parse(json.dumps(sent).encode(), Settings())["details"], "assert"))
    schema = Values({}, "#/$defs/", {}).schema(describe_sent(ANY_KEYS[name], "assert"))
    assert jsonschema.Draft202012Validator(schema).is_valid({key: 1}) == is_taken
