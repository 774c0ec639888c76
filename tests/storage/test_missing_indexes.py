"""Which indexes are to be built, and what is said of the others; pure."""

from __future__ import annotations

import pytest

from gatewayfw.storage.terms import Index, find_missing

A, B = (("a", 1),), (("b", -1), ("_id", 1))
PLAIN, UNIQUE = Index(B), Index(A, {"unique": True})


def missing(present, *, large=False):
    return find_missing("things", [PLAIN, UNIQUE], present, lambda: large)


def test_what_is_not_there_is_to_be_built():
    assert missing({}) == ([PLAIN, UNIQUE], [])
    assert missing({A: True, B: False}) == ([], [])


def test_an_index_that_will_do_instead_is_enough():
    assert find_missing("things", [Index(B, instead=A)], {A: False}, lambda: False) == ([], [])


def test_in_a_large_collection_only_unique_ones_are_built():
    assert missing({}, large=True) == (
        [UNIQUE],
        ["things: index {'b': -1, '_id': 1} is missing; the collection is large"],
    )


def test_the_size_is_not_asked_where_nothing_is_missing():
    assert find_missing("things", [PLAIN], {B: False}, lambda: pytest.fail("asked")) == ([], [])


def test_one_that_should_be_unique_and_is_not_is_told():
    assert missing({A: False, B: False}) == ([], ["things: index {'a': 1} exists, but is not unique"])
