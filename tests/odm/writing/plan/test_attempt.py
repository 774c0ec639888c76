"""How much one attempt writes itself, and when it is run again; pure."""

from __future__ import annotations

import pytest

from gatewayfw.odm.sizes.window_shares import SizeChecks
from gatewayfw.odm.writing.plan.attempt import Attempt


@pytest.mark.parametrize(
    ("limit", "already", "left"),
    [
        (9, 0, set()),
        (8, 0, {"large"}),
        (9, 1, {"large"}),
        (3, 0, {"large"}),
        (5, 4, {"large", "small"}),
        (0, 0, {"large", "small"}),
    ],
)
def test_the_largest_is_left_to_jobs_until_the_rest_keeps_the_limit(limit, already, left):
    assert Attempt(None, None, limit).beyond({"large": 6, "small": 3, "none": 0}, already) == left


def test_without_a_limit_everything_is_written_at_once():
    attempt = Attempt(None, None)
    assert (attempt.is_bounded, attempt.beyond({"large": 10**9})) == (False, set())
    assert (attempt.jobs, attempt.size_checks, attempt.renewed, attempt.freed) == (set(), SizeChecks.NONE, [], set())


def test_what_a_document_spends_leaves_room_for_another_like_the_largest():
    attempt = Attempt(None, None, 0)
    assert (attempt.is_bounded, attempt.has_room, attempt.beyond({"none": 0})) == (True, True, set())
    attempt, told = Attempt(None, None, 9), []
    for copies in (3, 1, 1, 1):
        attempt.spend(copies)
        told.append((attempt.limit, attempt.has_room))
    assert told == [(6, True), (5, True), (4, True), (3, True)]
    attempt.spend(1)
    assert (attempt.limit, attempt.has_room) == (2, False)
