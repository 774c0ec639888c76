"""Values: which are JSON, which the database holds, which are the same."""

from __future__ import annotations

from collections import OrderedDict
from datetime import date, datetime, timedelta, timezone
from types import MappingProxyType

import pytest
from bson import ObjectId
from hypothesis import given

from gatewayfw.schemas.values import (
    encodable,
    finite_number,
    has_storable_keys,
    moment_of,
    plain,
    read_number,
    same,
    storable,
    storable_key,
)
from tests.strategies import json_values

DEEP: list = []
for _ in range(101):
    DEEP = [DEEP]


@given(json_values)
def test_all_json_is_plain_and_the_same_as_itself(value):
    assert (plain(value), same(value, value)) == (True, True)


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, "\ud800", 2**63, float("nan"), b"a", {"a": [{"b": object()}]}, DEEP, {1, 2}]
)
def test_what_is_no_json_is_not_plain(value):
    assert plain(value) is False


@pytest.mark.parametrize("value", [ObjectId(), datetime(2024, 1, 1), MappingProxyType({"a": 1}), OrderedDict(a=[1])])
def test_ids_dates_and_mappings_are_plain(value):
    assert plain(value) is True


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 1.0, False),
        (1, True, False),
        ([1, {"a": 2}], (1, {"a": 2}), True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": None}, {"b": None}, False),
        ([1], [1, 2], False),
        ({}, [], False),
    ],
)
def test_values_are_the_same_by_value_and_type(one, other, expected):
    assert (same(one, other), same(other, one)) == (expected, expected)


@pytest.mark.parametrize(
    ("key", "held"), [("a", True), ("", True), ("a$", True), ("$a", False), ("a.b", False), ("a\0", False), (1, False)]
)
def test_keys_that_the_database_holds(key, held):
    assert storable_key(key) is held
    assert has_storable_keys([{"x": ({key: 1},)}]) is held
    assert storable({"x": [{key: 1}]}) is held


@pytest.mark.parametrize(
    ("text", "read"),
    [("5", 5), ("-5", -5), ("5.0", 5.0), ("1e3", 1000.0), (".5", 0.5), ("1e999", float("inf"))],
)
def test_texts_that_read_as_numbers(text, read):
    assert (read_number(text), type(read_number(text))) == (read, type(read))


@pytest.mark.parametrize("text", ["", " 5", "5 ", "1_0", "0x5", "nan", "٣", "9" * 33, "."])
def test_texts_that_do_not(text):
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2**63 - 1, True), (2**63, False), (-(2**63), True), (True, False), (float("inf"), False), ("1", False)],
)
def test_finite_numbers(value, expected):
    assert finite_number(value) is expected


def test_a_lone_surrogate_cannot_be_encoded():
    assert [encodable(text) for text in ("a", "é\U0001f600", "\ud83d")] == [True, True, False]


ZONE = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (datetime(2024, 1, 1, 2, tzinfo=ZONE), datetime(2024, 1, 1)),
        ("2024-01-01T00:00:00.123456Z", datetime(2024, 1, 1, 0, 0, 0, 123_000)),
        ("2024-01-01", datetime(2024, 1, 1)),
        (datetime.min.replace(tzinfo=ZONE), None),
        (date(2024, 1, 1), None),
        ("2024-02-30", None),
        (5, None),
    ],
)
def test_moments_are_naive_utc_of_milliseconds(value, moment):
    assert moment_of(value) == moment
