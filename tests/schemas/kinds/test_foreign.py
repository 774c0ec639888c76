"""Marshmallow's own fields: what is known of them, and what only their author knows."""

from __future__ import annotations

import pytest
from marshmallow import Schema, validate
from marshmallow import fields as mm

from gatewayfw.schemas import defaulted, integer, optional, string
from gatewayfw.schemas.kinds.foreign import as_kind, describe, describe_all, largest_of, unstated_in
from gatewayfw.schemas.kinds.sizes import ENDLESS, NUMBER, element_bytes


class Person(Schema):
    name = mm.String(required=True)
    age = mm.Integer()


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (mm.Integer(required=True), {"kind": "integer", "presence": "required"}),
        (mm.Integer(), {"kind": "integer", "presence": "optional"}),
        (mm.String(validate=validate.Length(max=5)), {"kind": "string", "maxLength": 5, "presence": "optional"}),
        (mm.Raw(required=True), {"kind": "any", "presence": "required"}),
    ],
)
def test_marshmallows_fields_are_described_like_ours(field, expected):
    assert describe(field) == expected


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


def test_what_is_inside_a_schema_is_found():
    kind = as_kind(mm.Nested(Person))
    assert (type(kind.part("name")), kind.part("else"), type(as_kind(mm.List(mm.Integer())).part(0))) == (
        mm.String,
        None,
        mm.Integer,
    )


@pytest.mark.parametrize(
    ("field", "unknown"), [(mm.String(), False), (mm.Integer(), False), (mm.Raw(), True), (mm.Nested(Person), True)]
)
def test_of_marshmallows_fields_only_scalars_are_known(field, unknown):
    assert as_kind(field).is_unknown is unknown


def test_sizes_of_fields_add_up_with_their_names():
    assert largest_of({"a": integer(), "bb": integer()}) == element_bytes("a", NUMBER) + element_bytes("bb", NUMBER)
    assert largest_of({"a": mm.Raw()}) >= ENDLESS


def test_fields_without_a_maximum_are_named():
    assert list(unstated_in({"a": integer(), "b": string(), "c": mm.Raw()}, "x")) == ["x.b", "x.c"]
