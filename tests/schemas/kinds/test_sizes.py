"""Bytes of values in BSON: those of the driver, or more."""

from __future__ import annotations

from datetime import datetime

import pytest
from bson import Decimal128, ObjectId, encode

from gatewayfw.schemas.kinds.sizes import (
    BINARY,
    DECIMAL,
    DOCUMENT,
    ENDLESS,
    ID,
    LETTER,
    NUMBER,
    TEXT,
    element_bytes,
    list_bytes,
)


@pytest.mark.parametrize(
    ("name", "value", "size"),
    [
        ("a", 2**40, NUMBER),
        ("a", 0.5, NUMBER),
        ("a", datetime(2024, 1, 1), NUMBER),
        ("é", "text", TEXT + 4),
        ("a", "\U0010ffff", TEXT + LETTER),
        ("a", ObjectId(), ID),
        ("a", Decimal128("1"), DECIMAL),
        ("a", b"abc", BINARY + 3),
        ("", {}, DOCUMENT),
    ],
)
def test_an_element_has_the_bytes_that_the_driver_writes(name, value, size):
    assert element_bytes(name, size) == len(encode({name: value})) - len(encode({}))


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 100, 1_001])
def test_a_list_has_the_bytes_that_the_driver_writes(count):
    assert list_bytes(count, NUMBER) == len(encode({"a": [2**40] * count})) - len(encode({"a": None}))


def test_what_is_endless_stays_so():
    assert ENDLESS == 2**62
    assert list_bytes(1, ENDLESS) >= ENDLESS
    assert element_bytes("a", ENDLESS) >= ENDLESS
