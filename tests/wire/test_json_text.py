"""JSON without its texts, in which brackets and commas are only those of its structure."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from gatewayfw.wire.json_text import without_texts
from tests.strategies import json_values


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (b'{"a": [1, "x,y"]}', b"{:[1,]}"),
        (b'["\\"[", "\\\\", "]"]', b"[,,]"),
        (b"[1,\r\n\t2]", b"[1,2]"),
        (b'"never closed', b""),
    ],
    ids=["texts", "escapes", "spaces", "no JSON"],
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
