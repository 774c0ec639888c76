"""Tests of the version that an adapter states."""

from __future__ import annotations

import pytest

from gatewayfw.testing.storage_suite import RULES, VERSION, StorageContract


def suite_of(version):
    return type("TestAdapter", (StorageContract,), {"suite_version": version})()


@pytest.mark.parametrize("stated", [VERSION, VERSION + 1], ids=["the same", "a later one"])
def test_an_adapter_that_knows_all_rules_passes(stated):
    suite_of(stated).test_the_adapter_knows_this_version_of_the_suite()


@pytest.mark.parametrize("stated", [VERSION - 2, 0], ids=["an earlier one", "unstated"])
def test_an_earlier_adapter_is_told_each_newer_rule(stated):
    with pytest.raises(AssertionError) as caught:
        suite_of(stated).test_the_adapter_knows_this_version_of_the_suite()
    first, *told = str(caught.value).split("\nassert")[0].splitlines()
    assert first == (f"state `suite_version = {VERSION}` once the adapter meets these rules, too:")
    assert [line.strip() for line in told] == [
        f"{version}: {RULES[version]}" for version in range(stated + 1, VERSION + 1)
    ]


def test_versions_are_counted_from_one():
    assert list(RULES) == list(range(1, VERSION + 1))
