"""Descriptions of fields in plain words: of marshmallow's like of ours."""

from __future__ import annotations

import enum
from datetime import UTC, datetime

import pytest
from bson import ObjectId
from marshmallow import EXCLUDE, INCLUDE, Schema, validate
from marshmallow import fields as mm

from gatewayfw.schemas import (
    any_,
    array,
    date,
    decimal,
    defaulted,
    described,
    integer,
    nullable,
    object_,
    optional,
    string,
)
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.descriptions import describe, describe_all, describe_sent, described_default
from gatewayfw.schemas.kinds.foreign import SchemaField, adopt
from tests.schemas.kinds.seen import Alone

MOMENT = datetime(2024, 2, 29, 12, 0, 0, 1_999)


class Person(Schema):
    name = mm.String(required=True)
    age = mm.Integer()


class Card(Schema):
    """A schema whose field has another name in JSON and in Python."""

    number = mm.Integer(data_key="No", attribute="digits")
    seen = mm.Integer(dump_only=True)


class Whole(mm.Integer):
    """A user's own number."""


class Colour(enum.Enum):
    """An enum."""

    RED = 1
    BLUE = "b"


class Cents(mm.Integer):
    """A user's field with a form of its own in JSON."""

    def _deserialize(self, value, attr, data, **kwargs):
        return int(value.replace(".", ""))


class Stamped(Schema):
    """A Schema that says how its moments are written."""

    class Meta:
        datetimeformat = "timestamp"

    at = mm.DateTime()


class Comment(Schema):
    """A Schema that contains itself."""

    text = mm.String(required=True)
    replies = mm.List(mm.Nested(lambda: Comment()))
    first = mm.Nested(lambda: Comment(only=("text",)))


TEXT = {"kind": "string", "presence": "required"}
ANY_OBJECT = {"kind": "object", "fields": None, "presence": "optional"}


class Odd(enum.Enum):
    """An enum whose values JSON has not."""

    ONE = (1,)


NAME = {"kind": "string", "presence": "required"}
AGE = {"kind": "integer", "presence": "optional"}
PERSON = {"kind": "object", "fields": {"name": NAME, "age": AGE}}
PARTIAL = {"kind": "object", "fields": {"name": {**NAME, "presence": "optional"}, "age": AGE}}
PEOPLE = {"kind": "array", "items": {**PERSON, "presence": "required"}}
SIZE = validate.Length(1, 5)
DESCRIBED = {
    "String": (mm.String(validate=SIZE), {"kind": "string", "minLength": 1, "maxLength": 5}),
    "Email": (mm.Email(), {"kind": "email"}),
    "Url": (mm.Url(validate=SIZE), {"kind": "string", "minLength": 1, "maxLength": 5, "format": "uri"}),
    "UUID": (mm.UUID(), {"kind": "string", "format": "uuid"}),
    "Integer": (mm.Integer(validate=validate.Range(1, 5)), {"kind": "integer", "minimum": 1, "maximum": 5}),
    "Integer of a user": (Whole(), {"kind": "integer"}),
    "Float": (mm.Float(validate=validate.OneOf([0.5, 1])), {"kind": "enums", "choices": [0.5, 1]}),
    "Integer by a user's rules": (Cents(), {"kind": "any"}),
    "Decimal": (mm.Decimal(), {"kind": "string"}),
    "Boolean": (mm.Boolean(), {"kind": "boolean"}),
    "Boolean, other words": (
        mm.Boolean(truthy={"yes", 1}, falsy={"no"}),
        {"kind": "enums", "choices": ["no", "yes", 1]},
    ),
    "Boolean, no JSON": (mm.Boolean(truthy={(1,)}), {"kind": "any"}),
    "Boolean, also other words": (mm.Boolean(truthy={"yes", True}, falsy={"no", False}), {"kind": "boolean"}),
    "DateTime": (mm.DateTime(), {"kind": "date"}),
    "DateTime, iso": (mm.DateTime(format="iso"), {"kind": "date"}),
    "DateTime, iso8601": (mm.AwareDateTime(format="iso8601"), {"kind": "date"}),
    "DateTime, rfc": (mm.DateTime(format="rfc"), {"kind": "string"}),
    "DateTime, seconds": (mm.DateTime(format="timestamp"), {"kind": "number"}),
    "DateTime, milliseconds": (mm.AwareDateTime(format="timestamp_ms"), {"kind": "number"}),
    "DateTime without a zone": (mm.NaiveDateTime(), {"kind": "string"}),
    "DateTime of a zone": (mm.NaiveDateTime(timezone=UTC), {"kind": "date"}),
    "TimeDelta": (mm.TimeDelta(), {"kind": "number"}),
    "IP": (mm.IPv4(), {"kind": "string"}),
    "IPInterface": (mm.IPInterface(), {"kind": "string"}),
    "Date": (mm.Date(), {"kind": "string", "format": "date"}),
    "Date, iso": (mm.Date(format="iso"), {"kind": "string", "format": "date"}),
    "Date, other": (mm.Date(format="%d.%m.%Y"), {"kind": "string"}),
    "Date, iso8601": (mm.Date(format="iso8601"), {"kind": "string", "format": "date"}),
    "Time": (mm.Time(), {"kind": "string", "format": "time"}),
    "Time, other": (mm.Time(format="%H-%M"), {"kind": "string"}),
    "List": (
        mm.List(mm.Integer(), validate=SIZE),
        {"kind": "array", "items": AGE, "minItems": 1, "maxItems": 5},
    ),
    "Dict": (mm.Dict(), {"kind": "object", "fields": None}),
    "Dict of values": (mm.Dict(values=mm.Integer()), {"kind": "mapping", "values": {**AGE, "presence": "required"}}),
    "Nested": (mm.Nested(Person), PERSON),
    "Nested, only": (mm.Nested(Person, only=("age",)), {"kind": "object", "fields": {"age": AGE}}),
    "Nested, exclude": (mm.Nested(Person, exclude=("age",)), {"kind": "object", "fields": {"name": NAME}}),
    "Nested, partial": (mm.Nested(Person(partial=True)), PARTIAL),
    "Nested, partial in some": (mm.Nested(Person(partial=("name", "none"))), PARTIAL),
    "Nested, partial all the way": (
        mm.Nested(Schema.from_dict({"one": mm.List(mm.Nested(Person))})(partial=True)),
        {
            "kind": "object",
            "fields": {
                "one": {"kind": "array", "items": {**PARTIAL, "presence": "optional"}, "presence": "optional"},
            },
        },
    ),
    "Nested, partial by a path": (
        mm.Nested(Schema.from_dict({"one": mm.Nested(Person), "two": mm.Nested(Person)})(partial=["one.name"])),
        {
            "kind": "object",
            "fields": {"one": {**PARTIAL, "presence": "optional"}, "two": {**PERSON, "presence": "optional"}},
        },
    ),
    "Nested, partial and of our kinds": (
        mm.Nested(Schema.from_dict({"one": object_({"name": string})})(partial=True)),
        {
            "kind": "object",
            "fields": {"one": {"kind": "object", "fields": {"name": NAME}, "presence": "optional"}},
        },
    ),
    "Nested, partial with a default": (
        mm.Nested(Schema.from_dict({"age": defaulted(integer, 5)})(partial=True)),
        {"kind": "object", "fields": {"age": AGE}},
    ),
    "Nested, of a format": (mm.Nested(Stamped), {"kind": "object", "fields": {"at": {**AGE, "kind": "number"}}}),
    "Nested in itself": (
        mm.Nested(Comment),
        {
            "kind": "object",
            "fields": {
                "text": TEXT,
                "replies": {"kind": "array", "items": ANY_OBJECT, "presence": "optional"},
                "first": {"kind": "object", "fields": {"text": TEXT}, "presence": "optional"},
            },
        },
    ),
    "Pluck": (mm.Pluck(Person, "name"), {"kind": "string"}),
    "Pluck of a default": (mm.Pluck(Schema.from_dict({"age": defaulted(integer, 5)}), "age"), {"kind": "integer"}),
    "Pluck, many": (
        mm.Pluck(Person, "age", many=True, validate=SIZE),
        {"kind": "array", "items": {**AGE, "presence": "required"}, "minItems": 1, "maxItems": 5},
    ),
    "Nested, open": (mm.Nested(Person, unknown=INCLUDE), PERSON | {"open": True}),
    "Nested of an open one": (mm.Nested(Person(unknown=INCLUDE)), PERSON | {"open": True}),
    "Nested, closed": (mm.Nested(Person(unknown=INCLUDE), unknown=EXCLUDE), PERSON),
    "Nested, many": (mm.Nested(Person, many=True), PEOPLE),
    "Nested of many": (mm.Nested(Person(many=True)), PEOPLE),
    "Schema": (SchemaField(Person), PERSON),
    "Enum": (mm.Enum(Colour), {"kind": "enums", "choices": ["RED", "BLUE"]}),
    "Enum by value": (mm.Enum(Colour, by_value=True), {"kind": "enums", "choices": [1, "b"]}),
    "Enum of no JSON": (mm.Enum(Odd, by_value=True), {"kind": "any"}),
    "Enum of texts that do not load": (mm.Enum(enum.Enum("Size", {"S": 1}), by_value=mm.String()), {"kind": "any"}),
    "Constant": (mm.Constant(5), {"kind": "enums", "choices": [5]}),
    "Constant of no JSON": (mm.Constant((5,)), {"kind": "any"}),
    "Raw": (mm.Raw(), {"kind": "any"}),
    "Tuple": (
        mm.Tuple((mm.Integer(), mm.Integer())),
        {"kind": "array", "items": {**AGE, "presence": "required"}, "minItems": 2, "maxItems": 2},
    ),
    "Tuple of two kinds": (
        mm.Tuple((mm.Integer(), mm.String())),
        {
            "kind": "array",
            "items": {"kind": "any", "presence": "required"},
            "prefixItems": [{"kind": "integer", "presence": "required"}, {"kind": "string", "presence": "required"}],
            "minItems": 2,
            "maxItems": 2,
        },
    ),
}


@pytest.mark.parametrize(("field", "expected"), DESCRIBED.values(), ids=DESCRIBED)
def test_marshmallows_fields_are_described_like_ours(field, expected):
    assert as_kind(adopt(field)).description() == expected


@pytest.mark.parametrize(
    ("field", "told"),
    [
        (mm.Integer(required=True), {"kind": "integer", "presence": "required"}),
        (mm.Integer(), {"kind": "integer", "presence": "optional"}),
        (mm.Integer(load_default=5), {"kind": "integer", "presence": "defaulted"}),
        (mm.Integer(allow_none=True), {"kind": "integer", "nullable": True, "presence": "optional"}),
        (defaulted(integer, 5), {"kind": "integer", "presence": "defaulted", "default": 5}),
        (
            defaulted(array(Alone()), [[1]]),
            {
                "kind": "array",
                "items": {"kind": "any", "nullable": False, "presence": "optional"},
                "presence": "defaulted",
                "default": [[1]],
            },
        ),
        (defaulted(integer, lambda: 5), {"kind": "integer", "presence": "defaulted"}),
        (
            defaulted(date, "2024-02-29"),
            {"kind": "date", "presence": "defaulted", "default": "2024-02-29T00:00:00.000Z"},
        ),
        (
            defaulted(mm.Date(), "2024-02-29"),
            {"kind": "string", "format": "date", "presence": "defaulted", "default": "2024-02-29"},
        ),
        (nullable(string), {"kind": "string", "nullable": True, "presence": "required"}),
        (any_(), {"kind": "any", "presence": "required"}),
        (described(integer, "How many."), {"kind": "integer", "presence": "required", "description": "How many."}),
        (described(any_, "text"), {"kind": "any", "presence": "required", "description": "text"}),
        (mm.Raw(), {"kind": "any", "nullable": False, "presence": "optional"}),
        (mm.Raw(allow_none=True, metadata={"description": 5}), {"kind": "any", "presence": "optional"}),
    ],
)
def test_presence_null_default_and_text_are_told_of_every_field(field, told):
    assert describe(field) == told


ASKED = {"kind": "integer", "presence": "required", "default": 5}
FILLED = {"kind": "integer", "presence": "defaulted", "default": 5}


@pytest.mark.parametrize(("mode", "ours", "of_a_schema"), [("assert", ASKED, AGE), ("create", FILLED, FILLED)])
def test_only_our_objects_ask_for_a_default_and_only_in_assert(mode, ours, of_a_schema):
    five = defaulted(integer, 5)
    field = object_({"five": five, "schema": mm.Nested(Schema.from_dict({"five": five, "ours": object_({"n": five})}))})
    fields = describe_sent(field, mode)["fields"]
    assert fields["five"] == ours
    assert fields["schema"]["fields"]["five"] == of_a_schema
    assert fields["schema"]["fields"]["ours"]["fields"]["n"] == ours


@pytest.mark.parametrize(("mode", "more"), [("assert", {}), ("create", {"whole": True})])
def test_only_create_takes_whole_numbers_for_decimals(mode, more):
    price = {"kind": "decimal", "places": 2, "presence": "required"}
    assert describe_sent(decimal(places=2), mode) == price | more
    assert describe(decimal(places=2)) == price


def test_a_schema_is_described_with_its_fields():
    assert describe(mm.Nested(Person, required=True)) == {
        "kind": "object",
        "fields": {
            "name": {"kind": "string", "presence": "required"},
            "age": {"kind": "integer", "presence": "optional"},
        },
        "presence": "required",
    }


def test_fields_are_described_by_name():
    assert describe_all({"a": optional(integer), "b": defaulted(string, "x")}) == {
        "a": {"kind": "integer", "presence": "optional"},
        "b": {"kind": "string", "presence": "defaulted", "default": "x"},
    }


def test_fields_are_described_by_the_names_that_are_sent():
    assert describe_all(Card().fields) == {"No": AGE}


@pytest.mark.parametrize(
    ("default", "told"),
    [
        (ObjectId("0" * 24), {"default": "0" * 24}),
        (MOMENT, {"default": "2024-02-29T12:00:00.001Z"}),
        (MOMENT.replace(tzinfo=UTC), {"default": "2024-02-29T12:00:00.001+00:00"}),
        ([1, None], {"default": [1, None]}),
        (object(), {}),
    ],
    ids=["id", "date", "date of a zone", "JSON", "no JSON"],
)
def test_a_default_is_told_as_clients_would_send_it(default, told):
    assert described_default(default) == told
