"""One of given values, and any value at all."""

from __future__ import annotations

from datetime import datetime

import pytest

from gatewayfw.schemas import any_, enums
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.containers import AnyField
from gatewayfw.schemas.kinds.sizes import ENDLESS, NUMBER, TEXT
from gatewayfw.schemas.kinds.text import EnumsField
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

BOUNDS = {"sorts": True, "abilities": [], "sets parts": False, "unstated": []}


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_enums_take_their_values_by_type(mode):
    assert [checked(enums("a", 1), value, mode) for value in ("a", 1)] == ["a", 1]
    refused = {"set.x": ["Must be one of: a, 1."]}
    assert [checked(enums("a", 1), value, mode) for value in ("1", 1.0, True, "A")] == [refused] * 4


def test_filters_of_enums_compare_with_values_of_the_types_of_choices():
    wrong = {"x": ["Invalid value."]}
    assert compared(enums("a"), "a", "new", None, 1, True) == ["a", "new", None, wrong, wrong]
    assert compared(enums(1), 1, 7, "a", True) == [1, 7, wrong, wrong]
    assert compared(enums(True, "a"), True, "b", 1) == [True, "b", wrong]
    assert compared(enums("a"), "\ud800", ["a"]) == [wrong, wrong]
    assert compared(enums(1), 0.5, float("inf"), 2**63) == [0.5, float("inf"), wrong]


@pytest.mark.parametrize(("field", "largest"), [(enums("a", "é"), TEXT + 2), (enums(1, 2.5), NUMBER)])
def test_enums_are_as_large_as_their_largest_choice(field, largest):
    assert answers(field) == {**BOUNDS, "largest": largest}


def test_any_takes_all_json_and_cuts_dates_to_milliseconds():
    moment = datetime(2024, 1, 1, 0, 0, 0, 1_999)
    cut = moment.replace(microsecond=1_000)
    assert compared(any_(), 1, "a", [moment], {"a": moment}, None) == [1, "a", [cut], {"a": cut}, None]
    assert compared(any_(), object(), {1: 2}) == [{"x": ["Not a valid value."]}] * 2


def test_any_has_no_bound_and_takes_increments():
    assert answers(any_()) == {
        "sorts": False,
        "abilities": ["CALCULATE"],
        "sets parts": True,
        "largest": ENDLESS,
        "unstated": ["x"],
        "is_free": True,
    }


def test_both_are_described():
    assert as_kind(enums("a", 1, True)).description() == {"kind": "enums", "choices": ["a", 1, True]}
    assert as_kind(any_()).description() == {"kind": "any"}


@pytest.mark.parametrize(
    ("field", "known", "unknown"),
    [
        (enums("a", "b"), ["a", "b"], ["c", 1, None]),
        (enums("a", 1, 2.0, False), ["a", 1, 2.0, False], ["b", True, 1.0, 2, 0, "1", [1]]),
        (any_(), [None, 1, "a", {"a": [1]}], [object(), {"$a": 1}]),
        (AnyField(), [1, "a"], [None]),
        (AnyField(allow_none=True), [1, None], [object()]),
    ],
    ids=["texts", "numbers", "any", "any but null", "any and null"],
)
def test_a_quick_test_takes_just_what_is_allowed(field, known, unknown):
    test = as_kind(field).quick_test()
    assert [bool(test(value)) for value in (*known, *unknown)] == [True] * len(known) + [False] * len(unknown)


@pytest.mark.parametrize("taken", [True, False])
def test_a_quick_test_takes_null_where_the_field_does(taken):
    test = AnyField(allow_none=taken).quick_test()
    assert bool(test(None)) == taken
    assert bool(test(0))


def test_choices_that_are_no_json_have_no_quick_test():
    for choices in (("a", (1,)), (1, float("nan")), (1, 2**63)):
        assert EnumsField(metadata={"choices": choices}).quick_test() is None
