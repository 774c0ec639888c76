"""Tests of the version that an adapter states."""

from __future__ import annotations

import pytest

from gatewayfw.testing.storage_suite import RULES, VERSION, StorageContract, check_version

RULES_LATER = {1: "all of the first", 2: "find_last", 3: "counts of copies"}


@pytest.mark.parametrize("stated", [3, 4], ids=["the same", "a later one"])
def test_an_adapter_that_knows_all_rules_passes(stated):
    check_version(stated, RULES_LATER)


def test_an_earlier_adapter_is_told_each_newer_rule():
    with pytest.raises(AssertionError) as caught:
        check_version(1, RULES_LATER)
    assert str(caught.value) == (
        "The adapter was written for version 1 of gatewayfw.testing.storage_suite, and this is version 3.\n"
        "It has these rules to meet besides:\n"
        "  2: find_last\n"
        "  3: counts of copies\n"
        "Once its tests pass, state `suite_version = 3` in the class of its tests."
    )


def test_an_adapter_that_states_none_is_told_all_rules():
    class Silent(StorageContract):
        pass

    with pytest.raises(AssertionError) as caught:
        Silent().test_the_adapter_knows_this_version_of_the_suite()
    assert str(caught.value).splitlines()[0] == (
        "The adapter was written for an unstated version of gatewayfw.testing.storage_suite, "
        f"and this is version {VERSION}."
    )


def test_versions_are_counted_from_one():
    assert list(RULES) == list(range(1, VERSION + 1))
