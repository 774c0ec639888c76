"""What an update may make of a document."""

from __future__ import annotations

import pytest
from bson import Decimal128

from gatewayfw.errors import ValidationError
from gatewayfw.odm.writing.updated_values import check_result, find_corrections
from gatewayfw.odm.writing.updates import stored_update
from gatewayfw.schemas import Schemas, any_, array, integer, object_, optional, string
from gatewayfw.schemas.fields import decimal
from gatewayfw.settings import Settings

BEYOND = "The number would leave 64 bits."
FIELDS = {
    "i": optional(integer(minimum=0)),
    "d": optional(decimal(places=2)),
    "o": optional(object_({"d": optional(decimal(places=1)), "tags": optional(array(string()))})),
    "tags": array(string()),
    "free": optional(any_()),
}
THING = Schemas(Settings()).add("thing", FIELDS)


@pytest.mark.parametrize(
    ("update", "document", "errors"),
    [
        ({"$inc": {"i": 1}}, {"i": -1, "tags": []}, {"update.i": ["Must be greater than or equal to 0."]}),
        ({"$pull": {"tags": "a"}}, {}, {"update.tags": ["Missing data for required field."]}),
        ({"$set": {"i": 1}}, {}, {}),
        ({"$unset": {"i": ""}}, {}, {}),
        ({"$set": {"o.tags": ["a"]}}, {"o": {"tags": [5]}}, {"update.o.tags.0": ["Not a valid string."]}),
        ({"$inc": {"free.x": 1, "i": 1}}, {"free": {"x": 2**63}}, {"update.free.x": [BEYOND]}),
        ({"$inc": {"free.x": 1}}, {"free": {"x": -(2**63) - 1}}, {"update.free.x": [BEYOND]}),
        ({"$inc": {"free.x": 1}}, {"free": {"x": 2**63 - 1}}, {}),
        ({"$mul": {"free.x": 1}}, {"free": {"x": -(2**63)}}, {}),
        ({"$inc": {"free.x": 1}}, {"free": {"x": 1e300}}, {}),
    ],
    ids=str,
)
def test_what_operators_make_of_a_field_must_fit_it(update, document, errors):
    change, told = stored_update(THING, update), {}
    try:
        check_result(THING, change, document)
    except ValidationError as error:
        told = error.errors
    assert told == errors


def test_decimals_get_the_places_of_their_fields():
    change = stored_update(THING, {"$mul": {"d": 2, "o.d": 3}, "$inc": {"i": 1}})
    zeros = {"d": Decimal128("0"), "o": {"d": Decimal128("0.0")}, "i": 1}
    assert find_corrections(THING, change, zeros) == {"d": Decimal128("0.00")}
    with pytest.raises(ValidationError) as raised:
        find_corrections(THING, change, {**zeros, "d": Decimal128("0.001")})
    assert raised.value.errors == {"update.d": ["Must have at most 2 decimal places."]}
