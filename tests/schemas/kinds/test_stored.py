"""Fields of marshmallow's in models: both forms are taken, what is stored is what was loaded."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal
from uuid import UUID

import pytest
from bson import Binary, Decimal128
from marshmallow import Schema, ValidationError
from marshmallow import fields as mm
from marshmallow.validate import Range

from gatewayfw.errors import DefinitionError
from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas import array, integer, object_
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.stored import StoredField, in_models

TEXT = "01234567-89ab-cdef-0123-456789abcdef"


def stored(field, value):
    kind = in_models(field)
    return as_kind(kind).storer()(kind.deserialize(value))


@pytest.mark.parametrize(
    ("field", "sent", "loaded", "expected"),
    [
        (mm.UUID(), TEXT, UUID(TEXT), Binary.from_uuid(UUID(TEXT))),
        (mm.Decimal(), "1.50", Decimal("1.50"), Decimal128("1.50")),
        (mm.List(mm.Decimal()), ["1"], [Decimal(1)], [Decimal128("1")]),
    ],
    ids=["uuid", "decimal", "list"],
)
def test_json_and_python_are_stored_the_same(field, sent, loaded, expected):
    assert [stored(field, value) for value in (sent, loaded)] == [expected, expected]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (mm.Decimal(as_string=True), "9" * 35),
        (mm.Decimal(as_string=True, allow_nan=True), "NaN"),
        (mm.Decimal(as_string=True), "1e99999"),
        (mm.DateTime(), "0001-01-01T00:00:00+23:00"),
        (mm.AwareDateTime(), "9999-12-31T23:59:59-23:00"),
    ],
    ids=["digits", "nan", "exponent", "first year", "last year"],
)
def test_what_has_no_place_among_other_values_is_refused_not_stored_as_text(field, value):
    with pytest.raises(ValidationError) as caught:
        stored(field, value)
    assert caught.value.messages == ["Not a value the database can hold."]


def test_a_moment_that_marshmallow_cannot_move_is_refused():
    with pytest.raises(ValidationError) as caught:
        stored(mm.NaiveDateTime(timezone=UTC), "0001-01-01T00:00:00+23:00")
    assert caught.value.messages == ["Invalid value."]


def test_what_a_client_compares_with_is_judged_and_what_the_server_does_is_not():
    kind = as_kind(in_models(mm.Integer(validate=Range(min=0))))
    assert (kind.sent_operand(None, "x"), kind.sent_operand(-5, "x"), kind.operand("abc", "x")) == (None, -5, "abc")
    with pytest.raises(Refused) as caught:
        kind.sent_operand("abc", "x")
    assert caught.value.errors == {"x": ["Invalid value."]}


@pytest.mark.parametrize(
    ("field", "sorts"),
    [(mm.Date(), True), (mm.Date(format="iso"), True), (mm.Date(format="%d.%m.%Y"), False), (mm.Time("%M:%H"), False)],
    ids=["day", "iso", "day first", "minute first"],
)
def test_days_sort_if_their_texts_do(field, sorts):
    assert as_kind(in_models(field)).sorts is sorts


def test_ours_stay_themselves():
    field = integer()
    assert in_models(field) is field


@pytest.mark.parametrize("around", [array, lambda field: object_({"a": field})], ids=["list", "object"])
def test_parts_of_ours_are_taken_one_by_one(around):
    changed = in_models(around(mm.Integer()))
    ((_, part),) = as_kind(changed).parts()
    assert (type(part), in_models(part) is part) == (StoredField, True)


def test_load_only_is_refused_with_its_place():
    with pytest.raises(DefinitionError) as caught:
        in_models(mm.String(load_only=True), "model 'user', field 'name'")
    assert caught.value.message == ("model 'user', field 'name': load_only is for requests, not for what is stored")


class Tag(Schema):
    name = mm.String()


def test_increments_are_stored_like_values():
    assert as_kind(in_models(mm.Decimal())).amount(Decimal("0.5")) == Decimal128("0.5")
    assert as_kind(in_models(mm.String())).amount("1") is None


def test_only_lists_take_operators_of_lists():
    lists = as_kind(in_models(mm.List(mm.String())))
    assert ("$push" in lists.operators, "$push" in as_kind(in_models(mm.String())).operators) == (True, False)
    assert as_kind(in_models(mm.Nested(Tag))).part("name") is not None
