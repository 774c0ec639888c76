"""Deadlines of a storage: the nearer counts, each thread has its own, commits are noted in all around."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from gatewayfw.errors import Timeout
from gatewayfw.storage.deadlines import UNLIMITED, Deadline, Scope, Scopes, unrecorded


def test_time_is_left_until_the_end():
    assert 0 < Scope(60).remaining() <= 60
    Scope(60).check()


def test_after_the_end_nothing_is_left():
    scope = Scope(-1)
    assert scope.remaining() == 0
    with pytest.raises(Timeout):
        scope.check()


@pytest.mark.parametrize(("outer", "inner"), [(-1, 60), (60, -1)], ids=["outer", "inner"])
def test_the_nearer_of_two_counts(outer, inner):
    assert Scope(inner, Scope(outer)).remaining() == 0


def test_work_can_be_ended_before_its_time_with_all_around_it():
    outer = Scope(60)
    other, inner = Scope(60, outer), Scope(60, outer)
    inner.end()
    assert [scope.remaining() > 0 for scope in (outer, inner, other)] == [False, False, True]
    with pytest.raises(Timeout):
        inner.check()


def test_a_commit_is_noted_in_every_scope_around():
    outer = Scope(60)
    first, second = Scope(60, outer), Scope(60, outer)
    first.commit()
    assert [scope.committed for scope in (outer, first, second)] == [True, True, False]


def test_commits_in_an_unrecorded_block_are_noted_nowhere():
    local = Scopes()
    with unrecorded(local):
        assert local.scope is UNLIMITED
    with Deadline(local, 60) as scope:
        with pytest.raises(RuntimeError), unrecorded(local):
            local.scope.commit()
            assert 0 < local.scope.remaining() <= 60
            raise RuntimeError
        assert (local.scope, scope.committed) == (scope, False)


def test_the_bytes_of_a_reply_hold_inside_too():
    outer = Scope(60)
    outer.reply_bytes = 5
    assert (Scope(60, outer).reply_bytes, Scope(60).reply_bytes) == (5, None)


class Counted(list):
    """Sums that remember the queries added to them."""

    add_queries = list.append


def test_sums_hold_inside_too(storage):
    """Without any, queries are not counted."""
    counted = Counted()
    storage.scope.add_queries(1)
    with storage.deadline(60) as outer:
        storage.scope.add_queries(2)
        outer.totals = counted
        with storage.deadline(60):
            storage.scope.add_queries(3)
        storage.scope.add_queries(4)
    storage.scope.add_queries(5)
    assert counted == [3, 4]


def test_a_block_has_its_scope_and_then_the_one_around_again():
    local = Scopes()
    with Deadline(local, 60) as outer:
        with Deadline(local, 60) as inner:
            assert local.scope is inner
        assert local.scope is outer
    assert local.scope is UNLIMITED


def test_a_scope_ends_with_its_block_whatever_is_raised():
    local = Scopes()
    with pytest.raises(KeyError), Deadline(local, 60):
        raise KeyError
    assert local.scope is UNLIMITED


def test_each_thread_has_its_own():
    local = Scopes()
    with Deadline(local, 60), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: local.scope).result() is UNLIMITED
