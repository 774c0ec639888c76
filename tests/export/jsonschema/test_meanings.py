"""The JSON Schema of a field takes the JSON of its values: as it is shown, and as it is sent."""

from __future__ import annotations

import json

import jsonschema
import mongomock
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.core import gateway
from gatewayfw.export.jsonschema.kinds import Values
from gatewayfw.schemas import Schemas, compile_struct
from gatewayfw.schemas.kinds.descriptions import describe, describe_sent
from gatewayfw.settings import Settings
from gatewayfw.web.reply import success
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
