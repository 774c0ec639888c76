"""What marshmallow's checks say about the values a field allows."""

from __future__ import annotations

import pytest
from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.checks import (
    FullMatch,
    choices,
    described_lengths,
    described_range,
    first_message,
    lengths,
    plain_message,
)


def text(*checks):
    return mm.String(validate=list(checks))


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (text(), (0, None)),
        (text(validate.Length(min=2)), (2, None)),
        (text(validate.Length(equal=3)), (3, 3)),
        (text(validate.Length(1, 9), validate.Length(2, 5)), (2, 5)),
    ],
    ids=["no check", "least", "exact", "two"],
)
def test_lengths_are_the_narrowest(field, expected):
    assert lengths(field) == expected


def test_only_lengths_that_say_something_are_described():
    assert described_lengths(text(validate.Length(0, 5)), "minItems", "maxItems") == {"maxItems": 5}
    assert described_lengths(text(), "minItems", "maxItems") == {}


def test_only_bounds_that_are_allowed_are_described():
    assert described_range(mm.Integer(validate=validate.Range(1, 9))) == {"minimum": 1, "maximum": 9}
    assert described_range(mm.Integer(validate=validate.Range(1, 9, min_inclusive=False))) == {}


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([validate.OneOf(["a", 1])], ["a", 1]),
        ([], None),
        ([validate.OneOf([("a",)])], None),
        ([validate.OneOf(["a"]), validate.OneOf(["b"])], None),
    ],
    ids=["one check", "none", "no literals", "two checks"],
)
def test_choices_are_those_of_one_check(checks, expected):
    assert choices(text(*checks)) == expected


def test_a_pattern_matches_the_whole_text():
    check = FullMatch("a+", error="No.")
    assert check("aa") == "aa"
    for wrong in ("aab", "aa\n", ""):
        with pytest.raises(ValidationError, match=r"No\."):
            check(wrong)


def test_the_first_message_is_found_at_any_depth():
    assert first_message({"a": {0: {"b": ["one", "two"]}}, "c": ["three"]}) == "one"


def test_a_message_with_values_in_it_is_not_shown():
    field = mm.String(error_messages={"invalid": "No text.", "other": "Not {input}."})
    assert [plain_message(field, name, "Wrong.") for name in ("invalid", "other", "unknown")] == [
        "No text.",
        "Wrong.",
        "Wrong.",
    ]
    assert plain_message(None, "invalid", "Wrong.") == "Wrong."
