"""The names of types are those that the database has for them."""

from __future__ import annotations

from datetime import datetime

import pytest
from bson import Binary, Code, DatetimeMS, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp

from gatewayfw.storage.order import TYPE_NAMES, spread, type_name

VALUES = {
    "double": [1.0, float("nan")],
    "string": ["", "a"],
    "object": [{}, {"a": 1}, DBRef("a", 1)],
    "array": [[], [1]],
    "binData": [b"a", Binary(b"a" * 16, 3)],
    "objectId": [ObjectId()],
    "bool": [True, False],
    "date": [datetime(2026, 1, 1), DatetimeMS(2**60)],
    "null": [None],
    "regex": [Regex("a")],
    "javascript": [Code("a")],
    "javascriptWithScope": [Code("a", {})],
    "int": [0, 2**31 - 1, -(2**31)],
    "timestamp": [Timestamp(1, 2)],
    "long": [2**31, -(2**31) - 1, Int64(1)],
    "decimal": [Decimal128("1")],
    "minKey": [MinKey()],
    "maxKey": [MaxKey()],
}


@pytest.mark.parametrize(("name", "values"), VALUES.items(), ids=VALUES)
def test_a_value_has_the_name_of_its_type(storage, name, values):
    assert [type_name(value) for value in values] == [name] * len(values)
    storage.insert("a", [{"_id": number, "a": {"b": value}} for number, value in enumerate(values)])
    assert storage.count("a", {"a.b": {"$type": name}}) == len(values)
    others = sorted(TYPE_NAMES - {name, "number"})
    assert storage.count("a", {"a.b": {"$type": others}}) == sum(len(value) > 0 for value in values if name == "array")


def test_every_name_has_values():
    assert {*VALUES, "number"} == TYPE_NAMES


def test_number_stands_for_all_numbers():
    assert spread("number") == {"number", "int", "long", "double", "decimal"}
    assert spread(["int", "string"]) == {"int", "string"}


def test_what_is_none_of_bson_has_no_name():
    assert type_name(object()) == ""
