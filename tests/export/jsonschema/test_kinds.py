"""Each kind as JSON Schema, in requests and in replies."""

from __future__ import annotations

import re

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import INCLUDE, Schema
from marshmallow import fields as mm
from marshmallow.validate import NoneOf, Range

from gatewayfw.export.jsonschema.kinds import ShownValues, Values, ecma
from gatewayfw.schemas import (
    Schemas,
    any_,
    array,
    binary,
    boolean,
    date,
    decimal,
    defaulted,
    email,
    enums,
    file,
    integer,
    mapping,
    number,
    object_,
    object_id,
    optional,
    string,
    url,
    uuid,
)
from gatewayfw.schemas.fields import as_field, described
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.settings import Settings

ID = {"type": "string", "pattern": "^[0-9a-fA-F]{24}$", "maxLength": 24}
ENDS = {"minimum": -(2**63), "maximum": 2**63 - 1}
KEYS = {"propertyNames": {"pattern": "^[^\\u0000]*$"}}
FREE = {"type": "object", **KEYS}


def nullable(field):
    field.allow_none = True
    return field


class More(Schema):
    """Takes keys that it does not name."""

    class Meta:
        unknown = INCLUDE

    name = mm.String(required=True)


WHOLE = {"type": "string", "pattern": "^-?[0-9]{1,34}$"}
BASE_64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
DATA = {"type": "string", "contentEncoding": "base64", "pattern": BASE_64}
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
    "integer above": (
        mm.Integer(validate=Range(0, min_inclusive=False)),
        {"type": "integer", "maximum": ENDS["maximum"], "exclusiveMinimum": 0},
    ),
    "number below": (mm.Float(validate=Range(max=9, max_inclusive=False)), {"type": "number", "exclusiveMaximum": 9}),
    "all but some": (mm.String(validate=NoneOf(["a"])), {"type": "string", "not": {"enum": ["a"]}}),
    "places": (
        mm.Tuple((mm.String(), mm.Boolean())),
        {
            "type": "array",
            "items": {},
            "prefixItems": [{"type": "string"}, {"type": "boolean"}],
            "minItems": 2,
            "maxItems": 2,
        },
    ),
    "boolean": (boolean(), {"type": "boolean"}),
    "id": (object_id(), ID),
    "id of a model": (object_id(of="user"), {**ID, "description": "An _id of the model user."}),
    "one choice": (enums("a"), {"type": "string", "const": "a", "enum": ["a"]}),
    "choices": (enums("a", "b"), {"type": "string", "enum": ["a", "b"]}),
    "choices of numbers": (enums(0, 1), {"type": "integer", "enum": [0, 1]}),
    "one number": (enums(1.5), {"type": "number", "const": 1.5}),
    "choices of several types": (
        enums("a", 1, "b", 2, 2.5),
        {
            "anyOf": [
                {"type": "string", "enum": ["a", "b"]},
                {"type": "integer", "const": 1},
                {"type": "integer", "const": 2},
                {"type": "number", "const": 2.5},
            ]
        },
    ),
    "one truth or null": (nullable(enums(True)), {"anyOf": [{"type": "boolean", "const": True}, {"type": "null"}]}),
    "choices of several types or null": (
        nullable(enums("a", True)),
        {
            "anyOf": [
                {"type": "string", "const": "a", "enum": ["a"]},
                {"type": "boolean", "const": True},
                {"type": "null"},
            ]
        },
    ),
    "anything": (any_(), {}),
    "anything but null": (mm.Raw(), {"not": {"type": "null"}}),
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
    "address": (url(), {"type": "string", "format": "uri"}),
    "time": (mm.Time(), {"type": "string"}),
    "day": (mm.Date(), {"type": "string", "format": "date"}),
    "key": (uuid(), {"type": "string", "format": "uuid"}),
    "decimal": (decimal(places=2), {"type": "string", "pattern": r"^-?[0-9]{1,34}(?:\.[0-9]{1,2})?$"}),
    "whole decimal": (decimal(places=0), {"type": "string", "pattern": "^-?[0-9]{1,34}$"}),
    "decimal from": (decimal(places=0, minimum=1), {**WHOLE, "$comment": "A number at least 1."}),
    "decimal up to": (decimal(places=0, maximum=9), {**WHOLE, "$comment": "A number at most 9."}),
    "decimal in bounds": (
        decimal(places=0, minimum=1, maximum=9),
        {**WHOLE, "$comment": "A number at least 1 and at most 9."},
    ),
    "data": (binary(size=(1, 5)), {**DATA, "minLength": 4, "maxLength": 8}),
    "data of whole groups": (binary(size=(3, 6)), {**DATA, "minLength": 4, "maxLength": 8}),
    "file": (file(most=9), {"not": {}}),
    "texts by any key": (
        mapping(string(size=3)),
        {"type": "object", **KEYS, "additionalProperties": {"type": "string", "minLength": 3, "maxLength": 3}},
    ),
    "object with other keys": (
        as_field(More, "field"),
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], **KEYS},
    ),
    "anything or null": (nullable(any_()), {}),
    "number or null, with a default": (
        defaulted(described(nullable(number()), "How many."), None),
        {"type": ["number", "null"], "description": "How many.", "default": None},
    ),
    "text or null": (nullable(string()), {"type": ["string", "null"]}),
    "choices or null": (
        nullable(enums("a", "b")),
        {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
    ),
    "one choice or null": (
        nullable(enums("a")),
        {"anyOf": [{"type": "string", "const": "a", "enum": ["a"]}, {"type": "null"}]},
    ),
}


@pytest.mark.parametrize(("field", "schema"), KINDS.values(), ids=KINDS)
def test_a_kind(field, schema):
    kind = describe(field)
    shown = {name: value for name, value in schema.items() if name not in KEYS}  # replies may have any keys
    assert (Values({}, "#/", {}).schema(kind), ShownValues({}, "#/", {}).schema(kind)) == (schema, shown)


def test_a_maximum_of_the_setting_holds_for_requests_only():
    text = Schemas(Settings(max_text=7)).add("note", {"text": string(size=(2, None))}).pure["text"]
    kind = describe(text)
    asked = {"type": "string", "minLength": 2, "maxLength": 7}
    assert kind == {"kind": "string", "minLength": 2, "maxLength": 7, "sized": False, "presence": "required"}
    assert Values({}, "#/", {}).schema(kind) == asked
    assert ShownValues({}, "#/", {}).schema(kind) == {"type": "string", "minLength": 2}


def test_so_does_one_of_binary_data():
    data = Schemas(Settings(max_text=7)).add("note", {"data": binary()}).pure["data"]
    asked, shown = (values({}, "#/", {}).schema(describe(data)) for values in (Values, ShownValues))
    assert describe(data) == {"kind": "binary", "maxBytes": 7, "sized": False, "presence": "required"}
    assert asked == {**shown, "maxLength": 12}
    assert "maxLength" not in shown


def test_a_date_is_any_of_iso_8601_in_requests_and_one_form_in_replies():
    kind = describe(date())
    day, time = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    offset = "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?"
    assert Values({}, "#/", {}).schema(kind) == {
        "type": "string",
        "pattern": f"^{day}(?:T{time}{offset})?$",
        "description": "ISO 8601; without an offset it is UTC.",
    }
    assert ShownValues({}, "#/", {}).schema(kind) == {"type": "string", "format": "date-time"}


def test_a_selection_or_null_is_one_of_the_two():
    values = Values({"user": {"fields": {"_id": {}}, "links": {}}}, "#/", {})
    kind = {"kind": "selection", "model": "user", "depth": 0, "nullable": True}
    assert values.schema(kind) == {"anyOf": [{"$ref": "#/get.user.0"}, {"type": "null"}]}


@pytest.mark.parametrize(("more", "null"), [({}, []), ({"nullable": True}, [{"type": "null"}])])
def test_where_decimals_may_be_whole_numbers_these_are_integers(more, null):
    kind = {"kind": "decimal", "places": 2, "whole": True, "presence": "required", **more}
    schema = Values({}, "#/", {}).schema(kind)
    text = {"type": "string", "pattern": r"^-?[0-9]{1,34}(?:\.[0-9]{1,2})?$"}
    assert schema == {"anyOf": [text, {"type": "integer"}, *null]}
    validator = jsonschema.Draft202012Validator(schema)
    assert [value for value in (12, "12.50", 12.5, "12.501", True) if validator.is_valid(value)] == [12, "12.50"]


MODELS = {
    "user": {
        "fields": {"_id": {"kind": "object_id"}, "name": {"kind": "boolean"}, "age": {"kind": "integer", "minimum": 0}},
        "links": {"friends": {"model": "user", "type": "multiple", "fields": ["_id", "name"]}},
    }
}
FLAG = {"type": "integer", "enum": [0, 1]}
NOTHING = {"type": "object", "maxProperties": 0}
USER = {"kind": "selection", "model": "user", "depth": 0}


def closed(**properties):
    return {"type": "object", "properties": properties, "additionalProperties": False}


WITHIN = {
    "itself": (USER, 0, lambda schema: schema),
    "a list": ({"kind": "array", "items": USER}, 1, lambda schema: {"type": "array", "items": schema}),
    "a mapping": (
        {"kind": "mapping", "values": USER},
        1,
        lambda schema: {"type": "object", **KEYS, "additionalProperties": schema},
    ),
    "an object": (
        {"kind": "object", "fields": {"a": {**USER, "presence": "optional"}}},
        1,
        lambda schema: closed(a=schema),
    ),
}


@pytest.mark.parametrize(("kind", "levels", "around"), WITHIN.values(), ids=WITHIN)
def test_what_is_around_a_selection_takes_a_level_of_it(kind, levels, around):
    schemas = [Values(MODELS, "#/", {}).schema(kind, levels + more) for more in (0, 1)]
    assert schemas == [around(NOTHING), around({"$ref": "#/get.user.0"})]


def test_a_selection_that_its_author_chose_is_as_deep_as_the_act_allows():
    below = {"model": "user", "fields": ["name"], "links": {}}
    links = {"some": {**below, "whole": False}, "all": {**below, "whole": True}, "more": {"model": "user", "depth": 1}}
    chosen = {"kind": "selection", "model": "user", "fields": ["age"], "links": links}
    one = closed(name=FLAG)
    found = [Values(MODELS, "#/", {}).schema(chosen, levels) for levels in (1, 2, 3)]
    some, more = ([NOTHING, one, one], [NOTHING, *({"$ref": f"#/get.user.1{end}.below"} for end in (".1", ""))])
    assert found == [
        closed(
            age=FLAG,
            _rev=FLAG,
            some={"anyOf": [{"type": "integer", "const": 0, "enum": [0]}, inner]},
            all={"anyOf": [FLAG, inner]},
            more={"anyOf": [FLAG, last]},
        )
        for inner, last in zip(some, more, strict=True)
    ]


def shown_by(selection, levels):
    """The document of a restricted selection, which has a name of its own."""
    values = ShownValues(MODELS, "#/", {})
    assert values.document(selection, levels, "own") == {"$ref": "#/own"}
    return values.defs["own"]


def test_so_is_what_it_shows_without_what_links_hide():
    chosen = {"model": "user", "fields": ["name", "age"], "links": {}}
    selection = {"model": "user", "fields": ["age"], "links": {"friends": {**chosen, "links": {"friends": USER}}}}
    name, age = {"type": "boolean"}, {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
    copies = {"type": "array", "items": {"$ref": "#/shown.user.friends.0"}}
    revision = {"type": "integer", "minimum": 0}
    inner = [None, closed(name=name), closed(name=name, friends=copies)]
    assert [shown_by(selection, levels) for levels in range(3)] == [
        closed(age=age, **({"friends": {"type": "array", "items": one}} if one else {}), _rev=revision) for one in inner
    ]


@pytest.mark.parametrize(("most", "depth"), [(0, 0), (1, 1), (2, 2), (3, 2)])
def test_copies_are_as_deep_as_the_act_allows(most, depth):
    selection = {"model": "user", "fields": [], "links": {"friends": {"model": "user", "depth": 2}}}
    shown = shown_by(selection, most + 1)["properties"]["friends"]
    assert shown == {"type": "array", "items": {"$ref": f"#/shown.user.friends.{depth}"}}


def test_a_filter_takes_null_where_a_value_may_be_absent():
    number = {"kind": "number", "presence": "required"}
    fields = {
        "age": {"operators": ["eq", "ne", "in", "nin", "gt"], "value": {**number, "minimum": 1}},
        "name": {"operators": ["prefix", "contains", "exists"], "value": {"kind": "string"}},
        "who": {"operators": ["eq"], "value": {"kind": "object_id", "of": "user", "description": "Who."}},
    }
    age, null = {"type": "number", "minimum": 1}, {"type": ["number", "null"], "minimum": 1}
    listed, who = {"type": "array", "items": null}, {**ID, "type": ["string", "null"]}
    operators = closed(eq=null, ne=null, **{"in": listed}, nin=listed, gt=age)
    texts = {"prefix": {"type": "string"}, "contains": {"type": "string", "minLength": 1, "maxLength": 200}}
    assert Values({}, "#/", {}).schema({"kind": "filter", "fields": fields}) == closed(
        age={"anyOf": [null, {**operators, "minProperties": 1}]},
        name={**closed(**texts, exists={"type": "boolean"}), "minProperties": 1},
        who={
            "anyOf": [who, {**closed(eq=who), "minProperties": 1}],
            "description": "An _id of the model user. Who.",
        },
    )


def test_a_count_is_a_number_up_to_the_most_or_says_that_there_are_more():
    beyond = {**closed(atLeast={"const": 7}), "required": ["atLeast"]}
    assert Values({}, "#/", {}).schema({"kind": "count", "most": 7}) == {
        "anyOf": [{"type": "integer", "minimum": 0, "maximum": 7}, beyond]
    }


def test_a_link_to_frozen_copies_says_so_also_of_one():
    friend = {"model": "user", "type": "single", "fields": ["_id"], "frozen": True}
    models = {"user": {**MODELS["user"], "links": {"friend": friend}}}
    assert ShownValues(models, "#/", {}).copies("user", "friend", 0) == {
        "$ref": "#/shown.user.friend.0",
        "description": "As it was when it was related",
    }


# -- regular expressions in ECMA's notation: the same texts match, or there is none

SAME = {
    "": "^$",
    "abc": "^abc$",
    "^abc$": "^abc$",
    "a|b": "^(?:a|b)$",
    "^a|b$": "^(?:^a|b)$",
    "[a-c]+x?": "^[a-c]+x?$",
    "a.c": r"^a[^\n]c$",
    "[.]": "^[.]$",
    "a{2}b{2,}c{0,3}d{1,2}": "^a{2}b{2,}c{0,3}d{1,2}$",
    "a*?b+?c??d{2}?": "^a*?b+?c??d{2}?$",
    r"\.\*\/-@ _": r"^\.\*\/-@ _$",
    r"[\]\-\[@a-]": r"^[\]\-\[@a-]$",
    "[^a]": "^[^a]$",
    r"a\$": r"^a\$$",
    r"a\$$": r"^a\$$",
    "[a^]": "^[a^]$",
    r"\n\t\x41\u00e9": r"^\n\t\x41\u00e9$",
    "(a)(?:b)(?P<name>c)": "^(a)(?:b)(?:c)$",
    "é😀": "^é😀$",
    "X": "^X$",
    "[X]": "^[X]$",
    "a\nb": "^a\nb$",
    "[\n]": "^[\n]$",
    r"\n\r\t\f\v": r"^\n\r\t\f\v$",
    r"[\x4a\xAF\u00e9\u00E9]\xAF\u00E9": r"^[\x4a\xAF\u00e9\u00E9]\xAF\u00E9$",
    r"\^\$\\\+\?\(\)\[\]\{\}\|": r"^(?:\^\$\\\+\?\(\)\[\]\{\}\|)$",
    r"[\^\]\\]": r"^[\^\]\\]$",
    "a+b*c": "^a+b*c$",
    "(?:a+)+": "^(?:a+)+$",
}
DIFFERENT = {
    "braces as text": "a{b}",
    "empty braces": "{}",
    "a count without a least": "c{,3}",
    "a bracket as text": "a]",
    "a bracket in a set": "[[]",
    "a needless backslash": r"\@",
    "a needless backslash in a set": r"[\@]",
    "a hyphen with a backslash": r"\-",
    "digits": r"\d",
    "words": r"[\w]",
    "spaces": r"\s",
    "border": r"\bx",
    "end before the end": "a$b",
    "end in a group": "(a$)",
    "end of Python": r"a\Z",
    "start of Python": r"\Aa",
    "set that starts with a bracket": "[]a]",
    "set of all but a bracket": "[^]a]",
    "look ahead": "(?=a)a",
    "look behind": "(?<=a)b",
    "flags": "(?i:a)",
    "comment": "(?#a)",
    "reference": r"(a)\1",
    "named reference": r"(?P<n>a)(?P=n)",
    "octal": r"\0",
    "bell": r"\a",
    "name of a character": r"\N{BULLET}",
    "long code": r"\U0001F600",
    "surrogate": r"\ud83d\ude00",
    "surrogate in capitals": r"\uDBFF",
    "surrogate in a set": r"[\uDFFF]",
    "a letter": r"\X",
    "a letter in a set": r"[\X]",
    "a capital control": r"\N",
    "a letter beyond ASCII": r"\é",
}


@pytest.mark.parametrize(("pattern", "written"), SAME.items())
def test_what_means_the_same_is_written_anchored(pattern, written):
    assert ecma(pattern) == written
    assert re.compile(written)


@pytest.mark.parametrize("pattern", DIFFERENT.values(), ids=DIFFERENT)
def test_what_may_mean_something_else_is_not_written(pattern):
    assert ecma(pattern) is None


@pytest.mark.parametrize("pattern", ["a++", "a*+", "a{2}+", "(?>a)"])
def test_repetitions_that_give_nothing_back_are_not_written(pattern):
    assert ecma(pattern) is None


@pytest.mark.parametrize("pattern", [pattern for pattern in SAME if pattern])
@given(st.data())
@settings(max_examples=10, derandomize=True, database=None)
def test_the_same_texts_match(pattern, data):
    text = data.draw(st.from_regex(pattern, fullmatch=True) | st.text(max_size=4))
    written = re.compile(re.sub(r"\$$", r"\\Z", ecma(pattern)))
    assert bool(re.fullmatch(pattern, text)) == bool(written.search(text))
