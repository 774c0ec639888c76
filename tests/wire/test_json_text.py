"""Strict JSON as text; without its texts, brackets and commas are only those of its structure."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from gatewayfw.wire.json_text import MAX_VALUES, decode, encode, holds_too_many, without_texts
from tests.strategies import json_values


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (b'{"a": [1, "x,y"]}', b"{:[1,]}"),
        (b'["\\"[", "\\\\", "]"]', b"[,,]"),
        (b"[1,\r\n\t2]", b"[1,2]"),
        (b'"never closed', b""),
        (b"[X,\\]", b"[X,\\]"),
        (b'["\\\\"]', b"[]"),
    ],
    ids=["texts", "escapes", "spaces", "no JSON", "no text", "a backslash"],
)
def test_texts_and_spaces_are_left_out(text, rest):
    assert without_texts(text) == rest


def brackets(value):
    if isinstance(value, dict):
        return 1 + sum(map(brackets, value.values()))
    return 1 + sum(map(brackets, value)) if isinstance(value, list) else 0


@given(json_values)
def test_brackets_that_are_left_are_those_of_lists_and_objects(value):
    rest = without_texts(json.dumps(value).encode())
    assert rest.count(b"[") + rest.count(b"{") == brackets(value)


def test_values_are_written_short_and_as_utf_8():
    assert encode({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()


@pytest.mark.parametrize(
    ("value", "reason"),
    [(float("nan"), "not JSON compliant"), (float("-inf"), "not JSON compliant"), ("\ud800", "surrogates")],
)
def test_values_that_json_does_not_have_are_not_written(value, reason):
    with pytest.raises(ValueError, match=reason):
        encode(value)


@given(json_values)
def test_what_was_written_is_read(value):
    assert decode(encode(value)) == value


@pytest.mark.parametrize("data", [b"", b"NaN", b"[-Infinity]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_not_strict_is_none(data):
    assert decode(data) is None


@pytest.mark.parametrize("mark", [b",", b"[", b"{"])
def test_half_a_million_values_are_read_and_no_more(mark):
    assert [holds_too_many(mark * number) for number in (500_000, 500_001)] == [False, True]


def test_too_many_values_are_told_by_marks_outside_of_texts():
    many = b"," * MAX_VALUES
    assert [holds_too_many(data) for data in (b"[" + many, many, b'"[' + many + b'"')] == [True, False, False]
