"""Fields of marshmallow's in models: both forms are taken, what is stored is what was loaded."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

import pytest
from bson import Binary, Decimal128
from marshmallow import Schema
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
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
