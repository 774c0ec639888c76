"""Hostile bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from gatewayfw.testing.hostile import hostile_bytes
from gatewayfw.testing.hostile_values import SPLICES
from tests.fuzz.targets import outcome, read
from tests.testing.drawn import GOOD, ZOO, short


@given(hostile_bytes(GOOD["kinds_create"]) | hostile_bytes())
@settings(short, max_examples=100)
def test_hostile_bytes_end_in_no_other_error_than_the_projects_own(data: bytes) -> None:
    outcome(read, ZOO, data)


@pytest.mark.parametrize("before", [b"", b"[", b'{"a":', b"{", b'"'])
def test_no_splice_ends_in_another_error_than_the_projects_own(before: bytes) -> None:
    results = {outcome(read, ZOO, before + splice + after) for splice in SPLICES for after in (b"", b"]", b"}", b":1}")}
    assert results == {"400 bad_request"}
