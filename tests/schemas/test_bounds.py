"""How deep and wide a `get` may be: gatewayfw.schemas.get."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.schemas.get import Ceilings, bounds_problem, count_leaves

GETS = st.recursive(
    st.sampled_from([0, 1, "x", None, [], {}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(get=st.dictionaries(st.sampled_from("abcd"), GETS))
def test_leaves_count_as_in_a_request_of_its_own(get):
    leaves = count_leaves(get)
    assert bounds_problem(get, Ceilings(99, leaves)) is None
    assert leaves == 0 or bounds_problem(get, Ceilings(99, leaves - 1)) is not None


@pytest.mark.parametrize(
    ("get", "levels", "leaves", "problem"),
    [
        ({"a": 1, "b": {"c": 1}}, 2, 2, None),
        ({"a": 1, "b": {"c": 1}}, 1, 2, "Nested too deeply: at most 1 levels."),
        ({"a": 1, "b": {"c": 1}}, 2, 1, "Too many fields: at most 1."),
        ({"a": [1, [1]]}, 3, 2, None),
        ({"a": [1, [1]]}, 2, 2, "Nested too deeply: at most 2 levels."),
        ({"a": {}, "b": []}, 1, 2, None),
    ],
    ids=["within", "deep", "wide", "lists", "deep lists", "empty"],
)
def test_lists_count_like_objects(get, levels, leaves, problem):
    assert bounds_problem(get, Ceilings(levels, leaves)) == problem


def test_each_name_and_item_that_contains_no_other_is_a_leaf():
    assert count_leaves({}) == 0
    assert count_leaves({"a": 1, "b": {"c": 1, "d": [1, {"e": 0}]}, "f": {}, "g": [], "h": None, "i": "text"}) == 8


def test_ceilings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Ceilings(1, 2).max_get_depth = 3
