"""What marshmallow's checks say about the values a field allows."""

from __future__ import annotations

import pytest
from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.checks import (
    FullMatch,
    Parts,
    change_each,
    choices,
    described_lengths,
    described_range,
    first_message,
    lengths,
    load_part,
    maximum_checks,
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
        (text(validate.Length(2, 5), validate.Length(1, 9)), (2, 5)),
        (text(validate.Length(max=5), validate.Length(min=2)), (2, 5)),
        (text(validate.Length(equal=3), validate.Length(max=5)), (3, 3)),
    ],
    ids=["no check", "least", "exact", "two", "wider later", "one end each", "exact and wider"],
)
def test_lengths_are_the_narrowest(field, expected):
    assert lengths(field) == expected


def test_only_lengths_that_say_something_are_described():
    assert described_lengths(text(validate.Length(0, 5)), "minItems", "maxItems") == {"maxItems": 5}
    assert described_lengths(text(validate.Length(2)), "minItems", "maxItems") == {"minItems": 2}
    assert described_lengths(text(validate.Length(0, 0)), "minItems", "maxItems") == {"maxItems": 0}
    assert described_lengths(text(), "minItems", "maxItems") == {}


def test_each_check_of_the_greatest_length_is_found_by_it():
    checks = [validate.Length(min=1), validate.Length(1, 9), validate.Length(equal=3), validate.Regexp("a")]
    assert maximum_checks(text(*checks)) == {9: checks[1], 3: checks[2]}


def test_a_refusal_without_a_message_has_a_general_one():
    assert [first_message(texts) for texts in ([], {}, {"a": []}, ["No."])] == [*["Invalid value."] * 3, "No."]


def test_only_bounds_that_are_allowed_are_described():
    two = [validate.Range(1, 9), validate.Range(max=5), validate.OneOf([1])]
    assert described_range(mm.Integer(validate=two)) == {"minimum": 1, "maximum": 5}
    assert described_range(mm.Integer(validate=[validate.Range(max=5), validate.Range(min=2)])) == {
        "minimum": 2,
        "maximum": 5,
    }
    assert described_range(mm.Integer(validate=validate.Range(1, 9))) == {"minimum": 1, "maximum": 9}
    excluded = validate.Range(1, 9, min_inclusive=False, max_inclusive=False)
    assert described_range(mm.Integer(validate=excluded)) == {"exclusiveMinimum": 1, "exclusiveMaximum": 9}


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([validate.OneOf(["a", 1])], ["a", 1]),
        ([], None),
        ([validate.OneOf(["a", 1, 0.5, True]), validate.Length(1)], ["a", 1, 0.5, True]),
        ([validate.OneOf([("a",)])], None),
        ([validate.OneOf(["a"]), validate.OneOf(["b"])], None),
    ],
    ids=["one check", "none", "another check", "no literals", "two checks"],
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
    assert (first_message("text"), first_message([5])) == ("text", "5")


def test_a_field_that_cannot_count_so_far_refuses_the_value():
    class Far(mm.Raw):
        def _deserialize(self, value, attr, data, **kwargs):
            raise OverflowError

    with pytest.raises(ValidationError) as caught:
        load_part(Far(), 1)
    assert caught.value.messages == ["Invalid value."]


def test_a_part_is_loaded_with_its_name_and_the_object_it_is_in():
    class Placed(mm.Raw):
        def _deserialize(self, value, attr, data, **kwargs):
            return value, attr, data

    assert load_part(Placed(), 1, "a", {"a": 1}) == (1, "a", {"a": 1})
    assert load_part(Placed(), 1) == (1, None, None)


def test_a_message_with_values_in_it_is_not_shown():
    field = mm.String(error_messages={"invalid": "No text.", "other": "Not {input}.", "number": 5})
    assert [plain_message(field, name, "Wrong.") for name in ("invalid", "other", "number", "unknown")] == [
        "No text.",
        "Wrong.",
        "Wrong.",
        "Wrong.",
    ]
    assert plain_message(None, "invalid", "Wrong.") == "Wrong."


def test_each_item_is_changed_at_its_key():
    assert change_each({"a": 1, "b": 2}.items(), lambda key, item: f"{key}{item}") == {"a": "a1", "b": "b2"}


def refuse_odd(key, item):
    if item % 2:
        raise ValidationError(f"{item} is odd.")
    return item


def test_refused_items_are_gathered_beside_the_others():
    with pytest.raises(Parts) as caught:
        change_each(enumerate([1, 2, 3]), refuse_odd)
    assert (caught.value.messages, caught.value.loaded) == ({0: ["1 is odd."], 2: ["3 is odd."]}, {1: 2})


def test_no_more_items_are_gathered_than_an_error_shows_and_one():
    with pytest.raises(Parts) as caught:
        change_each(enumerate([1] * 500), refuse_odd)
    assert len(caught.value.parts) == Refused.MOST + 1
