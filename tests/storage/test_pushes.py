"""The modifiers of ``$push``; what they make of lists is in the storage suite, too."""

from __future__ import annotations

import pytest

from gatewayfw.storage.pushes import find_fault, push

SORT = "$sort takes 1 or -1, alone or for one field of the elements"


@pytest.mark.parametrize(
    "modifiers",
    [{}, {"$position": -(2**63), "$slice": 2**63 - 1}, {"$sort": 1}, {"$sort": {"a.b": -1}}],
    ids=str,
)
def test_modifiers_without_a_fault(modifiers):
    assert find_fault({"$each": [], **modifiers}) is None


@pytest.mark.parametrize(
    ("modifiers", "fault"),
    [
        *(
            ({name: value}, f"{name} takes a whole number")
            for name in ("$position", "$slice")
            for value in (True, 1.0, "1", None, 2**63, -(2**63) - 1)
        ),
        *(({"$sort": order}, SORT) for order in (0, 2, True, 1.0, "asc", None, [1], {}, {"a": 1, "b": 1})),
        *(({"$sort": {"a": order}}, SORT) for order in (0, True, 1.0, "asc", {"b": 1})),
        *(({"$sort": {path: 1}}, SORT) for path in ("", "a.", ".a", "a..b", "$a", "a.$", "a\0", 1)),
    ],
    ids=str,
)
def test_modifiers_with_a_fault(modifiers, fault):
    assert find_fault({"$each": [], **modifiers}) == fault


def test_a_push_changes_no_list_that_was_given():
    present, each = [3, 1], [2]
    assert push(present, {"$each": each, "$position": 0, "$sort": 1, "$slice": 2}) == [1, 2]
    assert (present, each) == ([3, 1], [2])


def test_equal_elements_keep_their_order_both_ways():
    elements = [{"n": n, "at": at} for at, n in enumerate([1, 0, 1, 0, 1])]
    up, down = (push(elements, {"$each": [], "$sort": {"n": order}}) for order in (1, -1))
    assert [one["at"] for one in up] == [1, 3, 0, 2, 4]
    assert [one["at"] for one in down] == [0, 2, 4, 1, 3]
