"""Booleans: words become them in create only, filters take nothing else."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import boolean
from gatewayfw.schemas.kinds import as_kind, quick_of
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

NOT = ["Not a valid boolean."]


@pytest.mark.parametrize(("word", "meant"), [("yes", True), ("off", False), (1, True), (0, False)])
def test_words_and_digits_become_booleans_in_create_only(word, meant):
    assert checked(boolean(), word, "create") is meant
    assert checked(boolean(), word, "assert") == {"set.x": NOT}


def test_filters_compare_with_booleans_only():
    assert compared(boolean(), True, False, None, 1, "true") == [True, False, None, {"x": NOT}, {"x": NOT}]


def test_only_booleans_are_known_at_once():
    assert [bool(quick_of(boolean()).test(value)) for value in (True, False, 1, 0, "true", None)] == [
        *(True, True, False, False, False, False)
    ]
    assert as_kind(boolean()).description() == {"kind": "boolean"}


@pytest.mark.parametrize("value", [2, -1, "maybe", "", 1.0, [], {}])
def test_nothing_else_becomes_a_boolean(value):
    assert checked(boolean(), value, "create") == {"set.x": NOT}


def test_a_boolean_sorts_and_takes_one_byte():
    assert answers(boolean()) == {"sorts": True, "abilities": [], "sets parts": False, "largest": 1, "unstated": []}
