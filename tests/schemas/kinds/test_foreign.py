"""Marshmallow's own fields: what is known of them, and what only their author knows."""

from __future__ import annotations

import enum
from datetime import datetime

import pytest
from marshmallow import INCLUDE, Schema, validate
from marshmallow import fields as mm

from gatewayfw.schemas import any_, array, integer, string
from gatewayfw.schemas.kinds.foreign import (
    SchemaField,
    as_kind,
    largest_of,
    reads_otherwise,
    unstated_in,
)
from gatewayfw.schemas.kinds.sizes import DECIMAL, DOCUMENT, ENDLESS, LETTER, NUMBER, TEXT, UUID, element_bytes

MOMENT = datetime(2024, 2, 29, 12, 0, 0, 1_999)
CUT = MOMENT.replace(microsecond=1_000)


class Person(Schema):
    name = mm.String(required=True)
    age = mm.Integer()


class Card(Schema):
    """A schema whose field has another name in JSON and in Python."""

    number = mm.Integer(data_key="No", attribute="digits")
    seen = mm.Integer(dump_only=True)


class Size(enum.Enum):
    """An enum whose names have different lengths."""

    L = 1
    LARGE = 2


class Dated(mm.Date):
    """A user's field that loads any text."""

    def _deserialize(self, value, attr, data, **kwargs):
        return value


class Long(mm.Date):
    """A user's field that dumps long texts."""

    def _serialize(self, value, attr, obj, **kwargs):
        return "a" * 10_000


class Whole(mm.Integer):
    """A user's own number."""

    kind = "whole"


def test_what_is_inside_a_schema_is_found():
    field = mm.Nested(Person)
    kind, numbers, text = as_kind(field), as_kind(mm.List(mm.Integer())), as_kind(mm.String())
    assert kind.part("name").kind == "String"
    assert kind.part("else") is None
    assert kind.part(0).wrapped == field
    assert numbers.part(0).kind == "Integer"
    assert numbers.part("name") is None
    assert text.part(0) is None
    assert text.part("name") is None
    schema = SchemaField(Card)
    assert (as_kind(schema).part("No").wrapped.data_key, as_kind(schema).part("number")) == ("No", None)
    assert as_kind(schema).part(0).wrapped is schema


@pytest.mark.parametrize(
    ("field", "unknown"),
    [
        *((mm.String(), False), (mm.Integer(), False), (mm.Boolean(), False), (mm.DateTime(), False)),
        *((mm.Raw(), True), (mm.Nested(Person), False), (mm.List(mm.String()), False), (SchemaField(Person), False)),
    ],
)
def test_of_marshmallows_fields_some_are_known(field, unknown):
    assert as_kind(field).is_unknown is unknown


def test_a_field_is_called_as_its_class_or_as_it_says():
    assert [as_kind(field).kind for field in (mm.Integer(), Whole(), SchemaField(Person), string())] == [
        *("Integer", "whole", "schema", "string")
    ]
    assert SchemaField(Person).required is True
    assert SchemaField(Person()).required is True


@pytest.mark.parametrize(
    ("field", "otherwise"),
    [(string(), False), (mm.UUID(), True), (array(string), False), (array(array(any_)), False)],
)
def test_python_sees_some_values_otherwise_than_they_are_stored(field, otherwise):
    assert reads_otherwise(field) is otherwise


def test_sizes_of_fields_add_up_with_their_names():
    assert largest_of({"a": integer(), "bb": integer()}) == element_bytes("a", NUMBER) + element_bytes("bb", NUMBER)
    assert largest_of({"a": mm.Raw()}) >= ENDLESS


@pytest.mark.parametrize(
    ("field", "largest"),
    [
        (mm.Boolean(), 1),
        (mm.DateTime(), NUMBER),
        (mm.Date(), TEXT + 16),
        (mm.Time(), TEXT + 16),
        (mm.TimeDelta(), NUMBER),
        (mm.UUID(), UUID),
        (mm.Enum(Size), TEXT + 5),
        (mm.Enum(Size, by_value=True), NUMBER),
        (mm.String(validate=validate.OneOf(["a", "\u00e9\u00e9"])), TEXT + 4),
        (Dated(), ENDLESS),
        (Long(), ENDLESS),
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
    assert as_kind(field).largest == largest


def test_fields_without_a_maximum_are_named():
    assert list(unstated_in({"a": integer(), "b": string(), "c": mm.Raw()}, "x")) == ["x.b", "x.c"]


@pytest.mark.parametrize(
    ("schema", "paths"),
    [(Person(), ["x.name"]), (Person(unknown=INCLUDE), ["x"]), (Person(many=True), ["x"]), (Schema(), [])],
    ids=["closed", "open", "many", "empty"],
)
def test_fields_of_a_schema_without_a_maximum_are_named_unless_the_whole_has_none(schema, paths):
    assert list(as_kind(SchemaField(schema)).unstated("x")) == paths
