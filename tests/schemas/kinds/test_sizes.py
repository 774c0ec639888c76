"""Bytes of values in BSON: those of the driver, or more."""

from __future__ import annotations

import pytest
from bson import encode

from gatewayfw.schemas.kinds.sizes import ENDLESS, NUMBER, TEXT, element_bytes, list_bytes


@pytest.mark.parametrize(("name", "value", "size"), [("a", 2**40, NUMBER), ("é", "text", TEXT + 4)])
def test_an_element_has_the_bytes_that_the_driver_writes(name, value, size):
    assert element_bytes(name, size) == len(encode({name: value})) - len(encode({}))


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 100, 1_001])
def test_a_list_has_the_bytes_that_the_driver_writes_or_a_few_more(count):
    written = len(encode({"a": [2**40] * count})) - len(encode({"a": None}))
    assert written <= list_bytes(count, NUMBER) <= written + 5 * count + 5


def test_what_is_endless_stays_so():
    assert list_bytes(1, ENDLESS) >= ENDLESS
    assert element_bytes("a", ENDLESS) >= ENDLESS
