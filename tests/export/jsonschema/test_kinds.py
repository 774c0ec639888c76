"""Each kind as JSON Schema, in requests and in replies."""

from __future__ import annotations

import jsonschema
import pytest

from gatewayfw.catalog.kinds import kind_of
from gatewayfw.export.jsonschema.kinds import ShownValues, Values
from gatewayfw.schemas import (
    Schemas,
    any_,
    array,
    binary,
    boolean,
    date,
    defaulted,
    email,
    enums,
    integer,
    number,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.fields import described
from gatewayfw.settings import Settings

ID = {"type": "string", "pattern": "^[0-9a-fA-F]{24}$", "maxLength": 24}
ENDS = {"minimum": -(2**63), "maximum": 2**63 - 1}
FREE = {"type": "object"}


def nullable(field):
    field.allow_none = True
    return field


KINDS = {
    "text": (string(), {"type": "string"}),
    "text of a size": (string(size=(2, 5)), {"type": "string", "minLength": 2, "maxLength": 5}),
    "text of a pattern": (string(pattern="[a-c]+x?"), {"type": "string", "pattern": "^[a-c]+x?$"}),
    "text of a pattern that means something else": (
        string(pattern=r"\d+"),
        {"type": "string", "$comment": r"The whole text has to match, in Python's notation: \d+"},
    ),
    "email": (email(), {"type": "string", "format": "email", "maxLength": 254}),
    "number": (number(), {"type": "number"}),
    "number in bounds": (number(minimum=0.5, maximum=2), {"type": "number", "minimum": 0.5, "maximum": 2}),
    "integer": (integer(), {"type": "integer", **ENDS}),
    "integer in bounds": (integer(minimum=0, maximum=9), {"type": "integer", "minimum": 0, "maximum": 9}),
    "boolean": (boolean(), {"type": "boolean"}),
    "id": (object_id(), ID),
    "id of a model": (object_id(of="user"), {**ID, "description": "An _id of the model user."}),
    "one choice": (enums("a"), {"type": "string", "const": "a"}),
    "choices": (enums("a", "b"), {"type": "string", "enum": ["a", "b"]}),
    "choices of all types": (enums("a", 1, True), {"enum": ["a", 1, True]}),
    "anything": (any_(), {}),
    "list": (array(boolean()), {"type": "array", "items": {"type": "boolean"}}),
    "list of a size": (
        array(boolean(), size=(1, 3)),
        {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
    ),
    "any object": (object_(), FREE),
    "object": (
        object_({"a": string(), "b": optional(string()), "c": defaulted(string(), "x")}),
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string", "default": "x"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    ),
    "with a description": (
        described(object_id(of="user"), "Who asks."),
        {**ID, "description": "An _id of the model user. Who asks."},
    ),
    "text or null": (nullable(string()), {"type": ["string", "null"]}),
    "choices or null": (nullable(enums("a", "b")), {"type": ["string", "null"], "enum": ["a", "b", None]}),
    "one choice or null": (nullable(enums("a")), {"type": ["string", "null"], "enum": ["a", None]}),
}


@pytest.mark.parametrize(("field", "schema"), KINDS.values(), ids=KINDS)
def test_a_kind(field, schema):
    kind = kind_of(field)
    assert (Values({}, "#/", {}).schema(kind), ShownValues({}, "#/", {}).schema(kind)) == (schema, schema)


def test_a_maximum_of_the_setting_holds_for_requests_only():
    text = Schemas(Settings(max_text=7)).add("note", {"text": string(size=(2, None))}).pure["text"]
    kind = kind_of(text)
    asked = {"type": "string", "minLength": 2, "maxLength": 7}
    assert (kind, Values({}, "#/", {}).schema(kind), ShownValues({}, "#/", {}).schema(kind)) == (
        {"kind": "string", "minLength": 2, "maxLength": 7, "sized": False, "presence": "required"},
        asked,
        {"type": "string", "minLength": 2},
    )


def test_so_does_one_of_binary_data():
    data = Schemas(Settings(max_text=7)).add("note", {"data": binary()}).pure["data"]
    asked, shown = (values({}, "#/", {}).schema(kind_of(data)) for values in (Values, ShownValues))
    assert kind_of(data) == {"kind": "binary", "maxBytes": 7, "sized": False, "presence": "required"}
    assert asked == {**shown, "maxLength": 12}
    assert "maxLength" not in shown


def test_a_date_is_any_of_iso_8601_in_requests_and_one_form_in_replies():
    kind = kind_of(date())
    asked = Values({}, "#/", {}).schema(kind)
    assert (asked["type"], asked["description"]) == ("string", "ISO 8601; without an offset it is UTC.")
    assert ShownValues({}, "#/", {}).schema(kind) == {"type": "string", "format": "date-time"}


def test_a_selection_or_null_is_one_of_the_two():
    values = Values({"user": {"fields": {"_id": {}}, "links": {}}}, "#/", {})
    kind = {"kind": "selection", "model": "user", "depth": 0, "nullable": True}
    assert values.schema(kind) == {"anyOf": [{"$ref": "#/get.user.0"}, {"type": "null"}]}


@pytest.mark.parametrize(("more", "null"), [({}, []), ({"nullable": True}, ["null"])])
def test_where_decimals_may_be_whole_numbers_these_are_integers(more, null):
    kind = {"kind": "decimal", "places": 2, "whole": True, "presence": "required", **more}
    schema = Values({}, "#/", {}).schema(kind)
    assert schema == {"type": ["string", "integer", *null], "pattern": r"^-?[0-9]{1,34}(?:\.[0-9]{1,2})?$"}
    validator = jsonschema.Draft202012Validator(schema)
    assert [value for value in (12, "12.50", 12.5, "12.501", True) if validator.is_valid(value)] == [12, "12.50"]
