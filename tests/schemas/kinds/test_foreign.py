"""Marshmallow's own fields: what is known of them, and what only their author knows."""

from __future__ import annotations

import enum
from datetime import datetime
from types import MappingProxyType, SimpleNamespace

import pytest
from marshmallow import EXCLUDE, INCLUDE, Schema, validate
from marshmallow import fields as mm

from gatewayfw.schemas import any_, array, date, defaulted, described, integer, nullable, optional, string
from gatewayfw.schemas.kinds.foreign import (
    SchemaField,
    as_kind,
    describe,
    describe_all,
    largest_of,
    reads_otherwise,
    sent_parts,
    unstated_in,
)
from gatewayfw.schemas.kinds.sizes import DECIMAL, DOCUMENT, ENDLESS, LETTER, NUMBER, TEXT, element_bytes
from tests.schemas.kinds.seen import Alone

MOMENT = datetime(2024, 2, 29, 12, 0, 0, 1_999)
CUT = MOMENT.replace(microsecond=1_000)


class Person(Schema):
    name = mm.String(required=True)
    age = mm.Integer()


class Card(Schema):
    """A schema whose field has another name in JSON and in Python."""

    number = mm.Integer(data_key="No", attribute="digits")
    seen = mm.Integer(dump_only=True)


class Colour(enum.Enum):
    """An enum."""

    RED = 1
    BLUE = "b"


class Odd(enum.Enum):
    """An enum whose values JSON has not."""

    ONE = (1,)


class Whole(mm.Integer):
    """A user's own number."""

    kind = "whole"


NAME = {"kind": "string", "presence": "required"}
AGE = {"kind": "integer", "presence": "optional"}
PERSON = {"kind": "object", "fields": {"name": NAME, "age": AGE}}
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
    "Decimal": (mm.Decimal(), {"kind": "any"}),
    "Boolean": (mm.Boolean(), {"kind": "boolean"}),
    "DateTime": (mm.DateTime(), {"kind": "date"}),
    "DateTime, iso": (mm.DateTime(format="iso"), {"kind": "date"}),
    "DateTime, iso8601": (mm.AwareDateTime(format="iso8601"), {"kind": "date"}),
    "DateTime, rfc": (mm.DateTime(format="rfc"), {"kind": "string"}),
    "Date": (mm.Date(), {"kind": "string", "format": "date"}),
    "Date, iso": (mm.Date(format="iso"), {"kind": "string", "format": "date"}),
    "Date, other": (mm.Date(format="%d.%m.%Y"), {"kind": "string"}),
    "Time": (mm.Time(), {"kind": "string", "format": "time"}),
    "List": (
        mm.List(mm.Integer(), validate=SIZE),
        {"kind": "array", "items": AGE, "minItems": 1, "maxItems": 5},
    ),
    "Dict": (mm.Dict(), {"kind": "object", "fields": None}),
    "Nested": (mm.Nested(Person), PERSON),
    "Nested, open": (mm.Nested(Person, unknown=INCLUDE), PERSON | {"open": True}),
    "Nested of an open one": (mm.Nested(Person(unknown=INCLUDE)), PERSON | {"open": True}),
    "Nested, closed": (mm.Nested(Person(unknown=INCLUDE), unknown=EXCLUDE), PERSON),
    "Nested, many": (mm.Nested(Person, many=True), PEOPLE),
    "Nested of many": (mm.Nested(Person(many=True)), PEOPLE),
    "Schema": (SchemaField(Person), PERSON),
    "Enum": (mm.Enum(Colour), {"kind": "enums", "choices": ["RED", "BLUE"]}),
    "Enum by value": (mm.Enum(Colour, by_value=True), {"kind": "enums", "choices": [1, "b"]}),
    "Enum of no JSON": (mm.Enum(Odd, by_value=True), {"kind": "any"}),
    "Constant": (mm.Constant(5), {"kind": "enums", "choices": [5]}),
    "Constant of no JSON": (mm.Constant((5,)), {"kind": "any"}),
    "Raw": (mm.Raw(), {"kind": "any"}),
    "Tuple": (mm.Tuple((mm.Integer(),)), {"kind": "any"}),
}


@pytest.mark.parametrize(("field", "expected"), DESCRIBED.values(), ids=DESCRIBED)
def test_marshmallows_fields_are_described_like_ours(field, expected):
    assert as_kind(field).description() == expected


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
                "items": {"kind": "any", "presence": "optional"},
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
        (mm.Raw(metadata={"description": "text"}), {"kind": "any", "presence": "optional", "description": "text"}),
        (mm.Raw(metadata={"description": 5}), {"kind": "any", "presence": "optional"}),
    ],
)
def test_presence_null_default_and_text_are_told_of_every_field(field, told):
    assert describe(field) == told


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


def test_what_is_inside_a_schema_is_found():
    field = mm.Nested(Person)
    kind, numbers, text = as_kind(field), as_kind(mm.List(mm.Integer())), as_kind(mm.String())
    assert (type(kind.part("name")), kind.part("else"), kind.part(0)) == (mm.String, None, field)
    assert (type(numbers.part(0)), numbers.part("name"), text.part(0), text.part("name")) == (
        mm.Integer,
        None,
        None,
        None,
    )
    schema = SchemaField(Card)
    assert (schema.part("No").data_key, schema.part("number"), schema.part(0) is schema) == ("No", None, True)


@pytest.mark.parametrize(
    ("field", "unknown"),
    [
        *((mm.String(), False), (mm.Integer(), False), (mm.Boolean(), False), (mm.DateTime(), False)),
        *((mm.Raw(), True), (mm.Nested(Person), True), (mm.List(mm.String()), True), (SchemaField(Person), True)),
    ],
)
def test_of_marshmallows_fields_only_scalars_are_known(field, unknown):
    assert as_kind(field).is_unknown is unknown


def test_a_field_is_called_as_its_class_or_as_it_says():
    assert [as_kind(field).kind for field in (mm.Integer(), Whole(), SchemaField(Person), string())] == [
        *("Integer", "whole", "schema", "string")
    ]
    assert (SchemaField(Person).required, SchemaField(Person()).required) == (True, True)


@pytest.mark.parametrize(
    ("field", "otherwise"),
    [(string(), False), (mm.UUID(), False), (array(string), False), (array(array(any_)), False)],
)
def test_python_sees_in_acts_what_was_sent(field, otherwise):
    assert reads_otherwise(field) is otherwise


@pytest.mark.parametrize(
    ("field", "loaded", "stored"),
    [
        (mm.DateTime(), CUT, "2024-02-29T12:00:00.001000"),
        (mm.Raw(), {"a": [MOMENT]}, {"a": [CUT]}),
        (mm.Integer(), None, None),
        (Alone(), [MOMENT], [CUT]),
        (SchemaField(Person), {"name": "a", "age": 5}, {"name": "a", "age": 5}),
        (SchemaField(Person), None, None),
        (SchemaField(Person(unknown=INCLUDE)), {"name": "a", "at": MOMENT}, {"name": "a", "at": CUT}),
        (SchemaField(Person(unknown=EXCLUDE)), {"name": "a", "at": MOMENT}, {"name": "a"}),
        (SchemaField(Card(unknown=INCLUDE)), {"digits": 5, "more": 1}, {"No": 5, "more": 1}),
        (SchemaField(Card), SimpleNamespace(digits=5), {"No": 5}),
        (SchemaField(Card(unknown=INCLUDE)), SimpleNamespace(digits=5, more=1), {"No": 5}),
    ],
)
def test_a_field_of_another_is_stored_as_it_is_dumped(field, loaded, stored):
    assert as_kind(field).storer()(loaded) == stored


def test_a_schema_dumps_just_what_was_loaded():
    class Kept(Schema):
        items = mm.Integer()
        secret = mm.Integer(load_only=True)
        seen = mm.String(dump_default="never")
        deep = mm.Integer(attribute="part.deep")

    field = SchemaField(Kept)
    for loaded in ({}, MappingProxyType({})):
        assert field.serialize("x", {"x": loaded}) == {}
    assert field.serialize("x", {"x": {"items": 1, "secret": 2, "part": {"deep": 3}}}) == {
        "items": 1,
        "secret": 2,
        "deep": 3,
    }
    assert Kept().dump({"items": 1}) == {"items": 1, "seen": "never"}


def test_a_schema_that_finds_its_values_itself_does_so():
    class Shouting(Schema):
        name = mm.String()

        def get_attribute(self, obj, attr, default):
            return obj[attr].upper()

    assert SchemaField(Shouting).serialize("x", {"x": {"name": "a"}}) == {"name": "A"}


@pytest.mark.parametrize(
    ("field", "sent", "parts"),
    [
        (mm.Nested(Card), {"No": 1, "z": 2}, [("No", "Integer", 1)]),
        (mm.Nested(Card, unknown=EXCLUDE), {"No": 1, "z": 2}, [("No", "Integer", 1), ("z", None, 2)]),
        (mm.Nested(Card(unknown=EXCLUDE)), {"z": 2}, [("z", None, 2)]),
        (mm.Nested(Card, many=True), [{"No": 1}], [(0, "Nested", {"No": 1})]),
        (mm.Nested(Card), 5, []),
        (mm.List(mm.UUID()), [1, 2], [(0, "UUID", 1), (1, "UUID", 2)]),
        (mm.List(mm.UUID()), {"a": 1}, []),
        (mm.Tuple((mm.Date(), mm.UUID())), [1, 2, 3], [(0, "Date", 1), (1, "UUID", 2)]),
        (mm.Tuple((mm.Date(),)), {"a": 1}, []),
        (mm.Dict(values=mm.Date()), {"a": 1}, [("a", "Date", 1)]),
        (mm.Dict(values=mm.Date()), [1], []),
        (mm.Dict(), {"a": 1}, []),
        (mm.Raw(), {"a": 1}, []),
    ],
)
def test_the_parts_of_a_sent_value_are_found_with_their_fields(field, sent, parts):
    found = [
        (key, None if inner is None else type(inner).__name__, item) for key, inner, item in sent_parts(field, sent)
    ]
    assert found == parts


def test_sizes_of_fields_add_up_with_their_names():
    assert largest_of({"a": integer(), "bb": integer()}) == element_bytes("a", NUMBER) + element_bytes("bb", NUMBER)
    assert largest_of({"a": mm.Raw()}) >= ENDLESS


@pytest.mark.parametrize(
    ("field", "largest"),
    [
        (mm.Boolean(), 1),
        (mm.DateTime(), TEXT + 64),
        (mm.Decimal(), DECIMAL),
        (mm.Decimal(as_string=True), DECIMAL),
        (mm.Integer(), NUMBER),
        (mm.Float(as_string=True), ENDLESS),
        (mm.String(validate=validate.Length(max=5)), TEXT + 5 * LETTER),
        (mm.String(validate=validate.Length(min=5)), ENDLESS),
        (mm.Raw(), ENDLESS),
        (SchemaField(Schema.from_dict({"n": mm.Integer()})), DOCUMENT + element_bytes("n", NUMBER)),
        (SchemaField(Schema.from_dict({"n": mm.Integer()})(unknown=INCLUDE)), ENDLESS),
        (SchemaField(Schema.from_dict({"n": mm.Integer()})(many=True)), ENDLESS),
    ],
)
def test_a_field_has_the_bytes_of_its_largest_value(field, largest):
    assert as_kind(field).largest() == largest


def test_fields_without_a_maximum_are_named():
    assert list(unstated_in({"a": integer(), "b": string(), "c": mm.Raw()}, "x")) == ["x.b", "x.c"]


@pytest.mark.parametrize(
    ("schema", "paths"),
    [(Person(), ["x.name"]), (Person(unknown=INCLUDE), ["x"]), (Person(many=True), ["x"]), (Schema(), [])],
    ids=["closed", "open", "many", "empty"],
)
def test_fields_of_a_schema_without_a_maximum_are_named_unless_the_whole_has_none(schema, paths):
    assert list(SchemaField(schema).unstated("x")) == paths
