"""What a field stores fits it, and nothing else does."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import bson
import pytest
from bson import Binary, DatetimeMS, Decimal128, Int64, ObjectId
from bson.binary import UuidRepresentation
from hypothesis import given
from marshmallow import INCLUDE, Schema, ValidationError, missing, validate
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas import (
    any_,
    array,
    binary,
    boolean,
    date,
    decimal,
    defaulted,
    email,
    enums,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    optional,
    string,
    uuid,
)
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.forms import form_of
from gatewayfw.schemas.kinds.foreign import in_models
from tests.examples import examples
from tests.strategies import kinds_with_values

ID, UUID4 = ObjectId("0123456789abcdef01234567"), UUID("01234567-89ab-4def-8123-456789abcdef")
NOON = datetime(2026, 1, 1, 12)


class Address(Schema):
    street = mm.String(required=True)
    number = mm.Integer(load_default=1)


class Open(Address):
    class Meta:
        unknown = INCLUDE


class Even(mm.Integer):
    """Refuses what is no number with an error of Python's."""

    def _deserialize(self, value, attr, data, **kwargs):
        if value % 2:
            raise ValidationError("odd")
        return value


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        (string(size=(1, 3)), ["a", "abc"], ["", "abcd", 5, None, b"a", ID, missing]),
        (string(pattern="[a-z]+"), ["a"], ["A", 5]),
        (integer(maximum=9), [5, Int64(5)], ["5", 5.0, 10, Int64(10), True, None, Decimal128("5")]),
        (number(), [5, 5.5, Int64(2**40)], ["5", True, float("nan"), Decimal128("5")]),
        (boolean(), [True, False], [1, 0, "true", None]),
        (enums("a", 1), ["a", 1, Int64(1)], ["b", 1.0, "1", True, None]),
        (email(), ["a@b.org"], ["a", 5]),
        (decimal(places=2, maximum=9), [Decimal128("1.20"), Decimal128("-0.00")], ["1.20", 1.2, 1, Decimal128("1.2")]),
        (decimal(places=2, maximum=9), [], [Decimal128("1.234"), Decimal128("10.00"), Decimal128("NaN"), None]),
        (decimal(places=0), [Decimal128("7")], [Decimal128("7.0"), Decimal128("Infinity"), 7]),
        (object_id(), [ID], [str(ID), ID.binary, None]),
        (uuid(), [Binary.from_uuid(UUID4), UUID4], [str(UUID4), Binary(UUID4.bytes, 3), Binary(UUID4.bytes, 0), None]),
        (uuid(), [], [Binary.from_uuid(UUID4, UuidRepresentation.JAVA_LEGACY)]),
        (date(), [NOON], ["2026-01-01", 1767268800, DatetimeMS(2**60), None]),
        (binary(size=(1, 3)), [b"abc"], ["YWJj", b"", b"abcd", Binary(b"abc", 5), Binary.from_uuid(UUID4)]),
        (nullable(integer), [None, 5], ["5", missing]),
        (any_(), [None, 5, {"a": [ID, NOON]}], [Decimal128("5"), b"a", {"a": float("inf")}]),
        (object_(), [{}, {"a": 1}], [[], 5, None, {"a": Decimal128("5")}]),
        (array(integer, size=(1, 2)), [[1], [Int64(1), 2]], [[], [1, 2, 3], ["1"], 1, {"0": 1}, None]),
        (mapping(integer), [{}, {"a": 1}], [{"a": "1"}, [1], 1, {"a.b": 1}, {"$a": 1}]),
        (object_({"a": integer(), "b": optional(integer)}), [{"a": 1}, {"b": 2, "a": 1, "c": 3}], [{}, {"a": "1"}]),
        (object_({"a": integer(), "b": optional(integer)}), [], [{"a": 1, "b": None}, {"b": 2}, [], 5, None]),
        (object_({"a": defaulted(integer, 5)}), [{}, {"a": 1}], [{"a": None}]),
        (mm.String(required=True, validate=validate.Length(max=2)), ["a"], ["abc", 5, None]),
        (mm.Integer(), [5, Int64(5)], ["5", 5.5, 5.0]),
        (mm.Float(), [5.5, 5, Int64(5)], ["5", float("nan"), Decimal128("5")]),
        (mm.Boolean(), [True], ["yes", 1]),
        (mm.Decimal(), [Decimal128("1.5")], [1.5, "1.5", 1]),
        (mm.UUID(), [Binary.from_uuid(UUID4), UUID4], [str(UUID4), Binary(UUID4.bytes, 3)]),
        (mm.DateTime(), [NOON], ["2026-01-01T12:00:00", 5]),
        (mm.Date(), ["2026-01-01"], [NOON, "x"]),
        (mm.List(mm.Float()), [[1.5, 2], []], [["1.5"], 1.5]),
        (mm.Nested(Address), [{"street": "a", "number": 2}, {"street": "a"}], [{"number": 2}, {"street": 5}, "a", []]),
        (mm.Nested(Address), [], [{"street": "a", "number": "2"}, {"street": "a", "more": 1}]),
        (mm.Nested(Open), [{"street": "a", "more": 1}], [{"more": 1}]),
        (Even(), [2], [3, "2", None, ID]),
    ],
)
def test_what_a_field_stores_fits_it_and_nothing_else(field, right, wrong):
    test = form_of(in_models(field)).fits
    assert [value for value in right if not test(value)] == []
    assert [value for value in wrong if test(value)] == []


def test_checks_of_a_whole_list_or_object_count_without_undeclared_names():
    def all_different(values):
        if len({str(value) for value in values}) < len(values):
            raise ValidationError("twice")

    field = array(object_({"a": integer()}))
    field.validators = [*field.validators, all_different]
    test = form_of(field).fits
    assert test([{"a": 1}, {"a": 2}])
    assert not test([{"a": 1, "more": 1}, {"a": 1, "more": 2}])


@given(kinds_with_values())
@examples(60)
def test_what_is_stored_of_any_value_fits(drawn):
    kind, value = drawn
    try:
        stored = check_value(kind.field, value, "x")
    except Refused:
        return
    back = bson.decode(bson.encode({"x": stored}))["x"]
    assert form_of(kind.field).fits(back)
    assert list(form_of(kind.field).misfits(back, "x")) == []


@given(kinds_with_values())
@examples(60)
def test_what_a_field_refuses_does_not_fit_unless_a_name_is_not_declared(drawn):
    kind, value = drawn
    try:
        check_value(kind.field, value, "x")
    except Refused as error:
        messages = {text for texts in error.errors.values() for text in texts}
        needless = {"Unknown field.", "Missing data for required field."}  # a default may be missing, too
        assert not form_of(kind.field).fits(value) or messages <= needless


MIXED = object_(
    {"a": string(size=(1, 3)), "b": object_({"c": integer(), "d": optional(date)}), "e": optional(array(integer))}
)


def test_misfits_are_told_with_their_paths():
    value = {"a": "long text", "b": {"d": "2026", "x": 1}, "e": [1, "2", 3.0]}
    found = [(path, value, form.has_type(value)) for path, value, form in form_of(MIXED).misfits(value, "")]
    assert found == [
        ("a", "long text", True),
        ("b.c", missing, False),
        ("b.d", "2026", False),
        ("e.[]", "2", False),
        ("e.[]", 3.0, False),
    ]


def test_names_in_a_map_are_one_path():
    assert [path for path, _, _ in form_of(mapping(array(integer))).misfits({"k": [1, "2"], "l": 3}, "m")] == [
        "m.*.[]",
        "m.*",
    ]


@pytest.mark.parametrize(
    ("field", "value", "has_type"),
    [
        (array(integer, size=(0, 1)), [1, 2], True),
        (array(string), "a", False),
        (mapping(integer), {"a.b": 1}, True),
        (string(), ["a"], False),
        (decimal(places=2), Decimal128("1.2"), True),
        (decimal(places=2), 1.2, False),
        (nullable(integer), None, False),
        (email(), "a", True),
        (mm.Integer(validate=validate.Range(max=3)), 4, True),
        (mm.Integer(), 4.5, False),
        (Even(), ID, False),
    ],
)
def test_a_value_of_the_right_type_is_told_from_others(field, value, has_type):
    assert form_of(in_models(field)).has_type(value) is has_type
