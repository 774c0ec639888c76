"""Values: which are JSON, which the database holds, which are the same."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from uuid import UUID

import pytest
from bson import Binary, Decimal128, ObjectId
from hypothesis import given

from gatewayfw.schemas.values import (
    cut,
    encodable,
    finite_number,
    has_sendable_keys,
    has_storable_keys,
    id_of,
    loaded_form,
    moment_of,
    plain,
    read_number,
    same,
    storable,
    storable_key,
)
from tests.strategies import json_values

ZONE = timezone(timedelta(hours=2))


class Items(list):
    """A subclass of list."""


class Text(str):
    """A subclass of str."""


class Whole(int):
    """A subclass of int."""


def nested(depth, inner=1):
    """Return a value in so many lists."""
    return [nested(depth - 1, inner)] if depth else inner


@given(json_values)
def test_all_json_is_plain_and_the_same_as_itself(value):
    assert plain(value) is True
    assert same(value, value) is True


@pytest.mark.parametrize(
    "value",
    [
        *(object(), {1: 2}, "\ud800", 2**63, -(2**63) - 1, float("nan"), b"a", {"a": [{"b": object()}]}, nested(101)),
        *({1, 2}, {"a"}, ("a",), {"\ud800": 1}, MappingProxyType({1: 2}), datetime.min.replace(tzinfo=ZONE)),
        *([[object()], [1]], [{"a": object()}, {"b": 1}], [Items([object()]), Items([1])]),
        [MappingProxyType({"a": object()}), MappingProxyType({"b": 1})],
        *(Text("\ud800"), Whole(2**63), nested(100, "\ud800")),
    ],
)
def test_what_is_no_json_is_not_plain(value):
    assert plain(value) is False


@pytest.mark.parametrize(
    "value",
    [
        *(ObjectId(), datetime(2024, 1, 1), MappingProxyType({"a": 1}), OrderedDict(a=[1]), Items([1]), {}),
        *(Text("a"), Whole(1), nested(100, "a"), nested(100), 2**63 - 1, -(2**63), [True, None, "\U0001f600"]),
    ],
)
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
        ({"a": 1}, {"a": True}, False),
        ({"a": [1]}, {"a": [1.0]}, False),
        (MappingProxyType({"a": 1}), {"a": 1}, True),
        (MappingProxyType({"a": 1}), MappingProxyType({"a": 2}), False),
        ("a", "a", True),
        ("a", "b", False),
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
    assert has_storable_keys(MappingProxyType({key: 1})) is held
    assert storable({"x": [{key: 1}]}) is held


@pytest.mark.parametrize(
    ("key", "held"),
    [("a", True), ("$a", True), ("a.b", True), ("", True), ("a\0", False), ("\ud800", False), (1, False)],
)
def test_filters_hold_keys_that_are_text_without_nul(key, held):
    assert has_sendable_keys([{"x": ({key: 1},)}]) is held
    assert has_sendable_keys(MappingProxyType({key: 1})) is held


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("5", 5),
        ("-5", -5),
        ("+5", 5),
        ("5.0", 5.0),
        ("1e3", 1000.0),
        ("1E-1", 0.1),
        ("1e999", float("inf")),
        (".5", 0.5),
    ],
)
def test_texts_that_read_as_numbers(text, read):
    assert (read_number(text), type(read_number(text))) == (read, type(read))


@pytest.mark.parametrize(
    "text", ["", " 5", "5 ", "1_0", "0x5", "nan", "٣", "9" * 33, "-" + "9" * 33, "+" + "9" * 33, "."]
)
def test_texts_that_do_not(text):
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False), (True, False)),
        *((float("inf"), False), (0.5, True), ("1", False), (None, False)),
    ],
)
def test_finite_numbers(value, expected):
    assert finite_number(value) is expected


def test_a_lone_surrogate_cannot_be_encoded():
    assert [encodable(text) for text in ("a", "é\U0001f600", "\ud83d")] == [True, True, False]


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (datetime(2024, 1, 1, 2, tzinfo=ZONE), datetime(2024, 1, 1)),
        ("2024-01-01T00:00:00.123456Z", datetime(2024, 1, 1, 0, 0, 0, 123_000)),
        ("2024-01-01", datetime(2024, 1, 1)),
        ("2024-01-01T10:20", datetime(2024, 1, 1, 10, 20)),
        ("2024-01-01T10:20:30.5-01:45", datetime(2024, 1, 1, 12, 5, 30, 500_000)),
        ("2024-01-01T10:20:30.123456789+00:15", datetime(2024, 1, 1, 10, 5, 30, 123_000)),
        (datetime(2024, 1, 1, 0, 0, 0, 999_999), datetime(2024, 1, 1, 0, 0, 0, 999_000)),
        (datetime(2024, 1, 1, 0, 0, 0, 1_001), datetime(2024, 1, 1, 0, 0, 0, 1_000)),
        ("2024-01-01t00:00:00z", None),
        (datetime.min.replace(tzinfo=ZONE), None),
        (date(2024, 1, 1), None),
        ("2024-02-30", None),
        (5, None),
    ],
)
def test_moments_are_naive_utc_of_milliseconds(value, moment):
    assert moment_of(value) == moment


@pytest.mark.parametrize("micros", [0, 5_000])
def test_a_moment_of_whole_milliseconds_is_taken_as_it_is(micros):
    moment = datetime(2024, 1, 1, 0, 0, 0, micros)
    assert moment_of(moment) is moment


NUMBER = UUID(int=5)
STORED = {
    "decimal": (Decimal128("1.50"), Decimal("1.50")),
    "bytes": (Binary(b"a"), b"a"),
    "uuid": (Binary.from_uuid(NUMBER), NUMBER),
    "a uuid of an old driver": (Binary(b"a" * 16, 3), Binary(b"a" * 16, 3)),
    "no uuid": (Binary(b"a" * 15, 4), Binary(b"a" * 15, 4)),
    "other": ("a", "a"),
}


@pytest.mark.parametrize(("stored", "loaded"), STORED.values(), ids=STORED)
def test_python_sees_stored_values_in_its_own_types(stored, loaded):
    for form in (lambda value: value, lambda value: [value], lambda value: {"a": [{"b": value}]}):
        assert repr(loaded_form(form(stored))) == repr(form(loaded))


def test_every_date_in_a_value_is_cut_and_nothing_else_changed():
    moment = datetime(2024, 2, 29, 12, 0, 0, 1_999)
    whole = moment.replace(microsecond=1_000)
    given = {"a": [moment, {"b": moment.replace(tzinfo=UTC)}], "c": "text"}
    assert cut(given) == {"a": [whole, {"b": whole}], "c": "text"}
    assert given["a"][0] == moment


def test_only_real_ids_are_ids():
    id_ = ObjectId("a" * 24)
    assert (id_of(id_), id_of("A" * 24)) == (id_, id_)
    others = ["a" * 23, "g" * 24, "a" * 24 + "\n", b"a" * 24, 5, None, ["a" * 24], "\uff11" * 24]
    assert [id_of(one) for one in others] == [None] * len(others)
