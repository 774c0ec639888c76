"""What converts without loss, and what does not."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from bson import Binary, Decimal128, ObjectId
from bson.binary import UuidRepresentation

from gatewayfw.odm.migrations.conversion import UNCHANGED, UUIDS, convert
from gatewayfw.schemas import (
    array,
    boolean,
    date,
    decimal,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    string,
    uuid,
)
from gatewayfw.schemas.forms import form_of

ID = "0123456789abcdef01234567"
ONE = UUID("00112233-4455-6677-8899-aabbccddeeff")
CONVERTED = [
    (integer(), "12", 12),
    (integer(), "-0", 0),
    (integer(), 3.0, 3),
    (integer(), "3.0", 3),
    (integer(), "1e3", 1000),
    (integer(), Decimal128("4"), 4),
    (number(), "12", 12),
    (number(), "12.5", 12.5),
    (number(), Decimal128("0.1"), 0.1),
    (decimal(places=2), 23.01, Decimal128("23.01")),
    (decimal(places=2), 5, Decimal128("5.00")),
    (decimal(places=2), "12.5", Decimal128("12.50")),
    (decimal(places=2), Decimal128("12.5"), Decimal128("12.50")),
    (date(), "2026-11-26", datetime(2026, 11, 26)),
    (date(), "2026-11-26T10:00:00.123000+01:00", datetime(2026, 11, 26, 9, 0, 0, 123000)),
    (object_id(), ID, ObjectId(ID)),
    (uuid(), str(ONE), Binary.from_uuid(ONE)),
    (array(integer()), ["1", 2, 3.0], [1, 2, 3]),
    (mapping(integer()), {"a": "1"}, {"a": 1}),
    (object_({"a": integer(), "b": string()}), {"a": "1", "b": "1", "c": "1"}, {"a": 1, "b": "1", "c": "1"}),
]


@pytest.mark.parametrize(("field", "stored", "expected"), CONVERTED)
def test_what_says_the_same_is_converted(field, stored, expected):
    found = convert(form_of(field), stored)
    assert (found, type(found)) == (expected, type(expected))
    assert form_of(field).fits(found)


LEFT = [
    (integer(), "007"),
    (integer(), "12 "),
    (integer(), "1,000"),
    (integer(), ""),
    (integer(), 2.5),
    (integer(), float("nan")),
    (integer(), float("inf")),
    (integer(), 2.0**60),
    (integer(), str(2**70)),
    (integer(), "1e999"),
    (integer(), True),
    (integer(), None),
    (integer(maximum=5), "7"),
    (number(), "0.12345678901234567890123"),
    (number(), "high"),
    (decimal(places=2), 1.005),
    (decimal(places=2), 0.1 + 0.2),
    (decimal(places=2), Decimal128("NaN")),
    (decimal(places=2), "1.005"),
    (date(), "26.11.2026"),
    (date(), "2026-11-26T10:00:00.1234567Z"),
    (date(), 1795600000),
    (object_id(), "abc"),
    (uuid(), "abc"),
    (uuid(), Binary(bytes(16), 3)),
    (string(), 12),
    (boolean(), 1),
    (boolean(), "true"),
    (array(integer()), ["1", "x"]),
    (array(integer()), "1"),
    (object_({"a": integer()}), {}),
]


@pytest.mark.parametrize(("field", "stored"), LEFT)
def test_what_would_lose_something_stays(field, stored):
    assert convert(form_of(field), stored) is UNCHANGED


@pytest.mark.parametrize("form", UUIDS)
def test_a_legacy_uuid_is_read_in_the_order_that_is_said(form):
    stored = Binary.from_uuid(ONE, UUIDS[form])
    assert convert(form_of(uuid()), stored, form) == Binary.from_uuid(ONE, UuidRepresentation.STANDARD)


def test_null_fits_a_field_that_takes_it():
    assert convert(form_of(nullable(integer())), None) is None
