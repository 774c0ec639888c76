"""Every field in plain words: whole descriptions."""

from __future__ import annotations

import enum
import re
from datetime import datetime
from decimal import Decimal

import pytest
from bson import ObjectId
from marshmallow import INCLUDE, Schema, validate
from marshmallow import fields as mm

from gatewayfw.schemas import (
    any_,
    array,
    boolean,
    date,
    defaulted,
    described,
    email,
    enums,
    integer,
    number,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.fields import as_field
from gatewayfw.schemas.kinds.descriptions import describe, describe_all


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Tag(Schema):
    name = mm.String(required=True, data_key="tag-name")
    seen = mm.String(dump_only=True)


class Open(Schema):
    class Meta:
        unknown = INCLUDE

    name = mm.String()


NEEDED = {"presence": "required"}
LEFT_OUT = {"presence": "optional"}
TAG = {"kind": "object", "fields": {"tag-name": {"kind": "string", **NEEDED}}}

KINDS = {
    "string": (string(), {"kind": "string", **NEEDED}),
    "string of a size": (string(size=3), {"kind": "string", "minLength": 3, "maxLength": 3, **NEEDED}),
    "string with open ends": (string(size=(None, 5)), {"kind": "string", "maxLength": 5, **NEEDED}),
    "string, least 0": (string(size=(0, 5)), {"kind": "string", "maxLength": 5, **NEEDED}),
    "pattern": (string(pattern="[a-z]+"), {"kind": "string", "pattern": "[a-z]+", **NEEDED}),
    "pattern with flags": (string(pattern=re.compile("[a-z]+", re.IGNORECASE)), {"kind": "string", **NEEDED}),
    "number": (number(minimum=0.5, maximum=2), {"kind": "number", "minimum": 0.5, "maximum": 2, **NEEDED}),
    "integer": (integer(minimum=0), {"kind": "integer", "minimum": 0, **NEEDED}),
    "boolean": (boolean(), {"kind": "boolean", **NEEDED}),
    "date": (date(), {"kind": "date", **NEEDED}),
    "email": (email(), {"kind": "email", **NEEDED}),
    "object_id": (object_id(), {"kind": "object_id", **NEEDED}),
    "object_id of a model": (object_id(of="user"), {"kind": "object_id", "of": "user", **NEEDED}),
    "enums": (enums("a", 1, True), {"kind": "enums", "choices": ["a", 1, True], **NEEDED}),
    "any": (any_(), {"kind": "any", **NEEDED}),
    "array": (
        array(string(), size=(1, 3)),
        {"kind": "array", "items": {"kind": "string", **NEEDED}, "minItems": 1, "maxItems": 3, **NEEDED},
    ),
    "object": (
        object_({"a": optional(integer)}),
        {"kind": "object", "fields": {"a": {"kind": "integer", **LEFT_OUT}}, **NEEDED},
    ),
    "any object": (object_(), {"kind": "object", "fields": None, **NEEDED}),
    "optional": (optional(string), {"kind": "string", **LEFT_OUT}),
    "defaulted": (defaulted(integer(), 5), {"kind": "integer", "default": 5, "presence": "defaulted"}),
    "default that is made": (
        defaulted(array(string), list),
        {"kind": "array", "items": {"kind": "string", **NEEDED}, "presence": "defaulted"},
    ),
    "default that JSON has in another form": (
        defaulted(date(), datetime(2020, 1, 1)),
        {"kind": "date", "default": "2020-01-01T00:00:00.000Z", "presence": "defaulted"},
    ),
    "id as default": (
        defaulted(object_id(), ObjectId("0" * 24)),
        {"kind": "object_id", "default": "0" * 24, "presence": "defaulted"},
    ),
    "default that JSON has not": (
        defaulted(any_(), {"at": datetime(2020, 1, 1)}),
        {"kind": "any", "presence": "defaulted"},
    ),
    "described": (described(integer, "How many."), {"kind": "integer", "description": "How many.", **NEEDED}),
    "nullable": (mm.String(allow_none=True), {"kind": "string", "nullable": True, **LEFT_OUT}),
    "marshmallow string": (
        mm.String(required=True, validate=[validate.Length(min=2), validate.Regexp("a")]),
        {"kind": "string", "minLength": 2, **NEEDED},
    ),
    "choice": (mm.String(validate=validate.OneOf(["a", "b"])), {"kind": "enums", "choices": ["a", "b"], **LEFT_OUT}),
    "range": (mm.Integer(validate=validate.Range(1, 9)), {"kind": "integer", "minimum": 1, "maximum": 9, **LEFT_OUT}),
    "range without its ends": (
        mm.Integer(validate=validate.Range(1, 9, min_inclusive=False)),
        {"kind": "integer", "exclusiveMinimum": 1, "maximum": 9, **LEFT_OUT},
    ),
    "range that JSON has not": (mm.Integer(validate=validate.Range(Decimal(1))), {"kind": "integer", **LEFT_OUT}),
    "one value": (mm.Integer(validate=validate.Equal(3)), {"kind": "enums", "choices": [3], **LEFT_OUT}),
    "all but some": (mm.Float(validate=validate.NoneOf([0])), {"kind": "number", "noneOf": [0], **LEFT_OUT}),
    "letters": (mm.String(validate=validate.ContainsOnly("ab")), {"kind": "string", **LEFT_OUT}),
    "some values only": (
        mm.List(mm.Integer(), validate=validate.ContainsOnly([1, 2])),
        {"kind": "array", "items": {"kind": "enums", "choices": [1, 2], **LEFT_OUT}, **LEFT_OUT},
    ),
    "flags by value": (mm.Enum(Rights, by_value=True), {"kind": "integer", **LEFT_OUT}),
    "flags": (mm.Enum(Rights), {"kind": "enums", "choices": ["READ", "WRITE"], **LEFT_OUT}),
    "some addresses": (
        mm.Email(validate=validate.OneOf(["a@b.cd"])),
        {"kind": "enums", "choices": ["a@b.cd"], **LEFT_OUT},
    ),
    "float": (mm.Float(), {"kind": "number", **LEFT_OUT}),
    "url": (mm.Url(), {"kind": "string", "format": "uri", **LEFT_OUT}),
    "uuid": (mm.UUID(), {"kind": "string", "format": "uuid", **LEFT_OUT}),
    "marshmallow email": (mm.Email(), {"kind": "email", **LEFT_OUT}),
    "datetime": (mm.DateTime(), {"kind": "date", **LEFT_OUT}),
    "datetime in a format": (mm.DateTime(format="%d.%m.%Y"), {"kind": "string", **LEFT_OUT}),
    "day": (mm.Date(), {"kind": "string", "format": "date", **LEFT_OUT}),
    "time": (mm.Time(), {"kind": "string", "format": "time", **LEFT_OUT}),
    "list": (mm.List(mm.Boolean()), {"kind": "array", "items": {"kind": "boolean", **LEFT_OUT}, **LEFT_OUT}),
    "dict": (mm.Dict(), {"kind": "object", "fields": None, **LEFT_OUT}),
    "enum": (mm.Enum(Colour), {"kind": "enums", "choices": ["RED", "BLUE"], **LEFT_OUT}),
    "enum by value": (mm.Enum(Colour, by_value=True), {"kind": "enums", "choices": [1, 2], **LEFT_OUT}),
    "constant": (mm.Constant("x"), {"kind": "enums", "choices": ["x"], "presence": "defaulted"}),
    "nested": (mm.Nested(Tag), {**TAG, **LEFT_OUT}),
    "nested list": (mm.Nested(Tag, many=True), {"kind": "array", "items": {**TAG, **NEEDED}, **LEFT_OUT}),
    "schema": (as_field(Tag, "field"), {**TAG, **NEEDED}),
    "schema that takes more": (
        as_field(Open, "field"),
        {"kind": "object", "fields": {"name": {"kind": "string", **LEFT_OUT}}, "open": True, **NEEDED},
    ),
    "tuple": (
        mm.Tuple((mm.String(), mm.Integer())),
        {
            "kind": "array",
            "items": {"kind": "any", **NEEDED},
            "prefixItems": [{"kind": "string", **NEEDED}, {"kind": "integer", **NEEDED}],
            "minItems": 2,
            "maxItems": 2,
            **LEFT_OUT,
        },
    ),
    "raw": (mm.Raw(), {"kind": "any", "nullable": False, **LEFT_OUT}),
    "raw or null": (mm.Raw(allow_none=True), {"kind": "any", **LEFT_OUT}),
}


@pytest.mark.parametrize(("field", "kind"), KINDS.values(), ids=KINDS)
def test_a_field_in_plain_words(field, kind):
    assert describe(field) == kind


def test_a_subclass_is_described_as_its_nearest_base():
    class Loud(mm.String):
        pass

    class Own(mm.Field):
        pass

    assert describe_all({"loud": Loud(), "own": Own()}) == {
        "loud": {"kind": "string", **LEFT_OUT},
        "own": {"kind": "any", "nullable": False, **LEFT_OUT},
    }
