"""How many documents the batches have, and how long the rests are between them."""

from __future__ import annotations

import pytest

from gatewayfw.odm.operations.pace import FIRST, MOST, QUICK, Pace, at_attempt, next_size


class Clock:
    """A clock that only moves when told to, and notes who slept."""

    def __init__(self):
        self.time = 100.0
        self.slept = []

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pace(clock):
    return Pace(clock.now, clock.sleep)


def play(pace, clock, seconds, *, done=None, conflicts=0):
    pace.begin()
    clock.time += seconds
    pace.end(pace.size if done is None else done, conflicts)
    return pace.size


def test_batches_begin_small_and_have_a_maximum(pace):
    assert pace.size == 10
    assert FIRST == 10
    assert MOST == 1_000


@pytest.mark.parametrize(("size", "larger"), [(1, 2), (2, 3), (3, 5), (10, 15), (100, 150), (999, MOST), (MOST, MOST)])
def test_a_quick_batch_is_followed_by_a_larger_one(size, larger):
    assert next_size(size, QUICK - 0.001, 0) == larger
    assert next_size(size, QUICK, 0) == size


@pytest.mark.parametrize(("conflicts", "smaller"), [(1, 50), (2, 25), (3, 12), (6, 1), (7, 1), (1000, 1)])
def test_a_batch_is_halved_for_each_conflict_however_quick(conflicts, smaller):
    assert next_size(100, 0.001, conflicts) == at_attempt(100, conflicts) == smaller


def test_a_batch_that_ended_early_says_nothing_about_larger_ones(pace, clock):
    assert play(pace, clock, 0.001, done=9) == 10
    assert play(pace, clock, 0.001, done=9, conflicts=1) == 5


def test_others_may_write_for_as_long_as_the_last_batch_took(pace, clock):
    for seconds in (0.25, 0.5, 0.125):
        play(pace, clock, seconds)
    assert clock.slept == [0.25, 0.5]


@pytest.mark.parametrize("most", [1, 12])
def test_a_pace_may_have_another_maximum(clock, most):
    pace = Pace(clock.now, clock.sleep, most=most)
    first = pace.size
    assert (first, [play(pace, clock, 0.001) for _ in range(2)]) == (min(10, most), [most, most])


def test_a_deadline_ends_a_rest(clock):
    left = [3.0, 0.5, -1.0]
    pace = Pace(clock.now, clock.sleep, lambda: left.pop(0))
    for _ in range(4):
        play(pace, clock, 2.0)
    assert clock.slept == [2.0, 0.5, 0.0]


def test_a_rest_is_no_part_of_the_next_batch(pace, clock):
    assert play(pace, clock, 4.0) == 10
    assert play(pace, clock, 0.04) == 15


def test_a_pace_finds_its_size_and_keeps_it(pace, clock):
    sizes = [play(pace, clock, pace.size * 0.002) for _ in range(8)]
    assert sizes == [15, 23, 35, 53, 53, 53, 53, 53]


def test_without_a_clock_of_the_test_time_passes():
    pace = Pace()
    pace.begin()
    pace.end(pace.size, 0)
    pace.begin()
    assert pace.size == 15
