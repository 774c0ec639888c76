"""What a thread does after its commits: which functions wait, and for which transaction."""

from __future__ import annotations

import contextlib
import logging
import threading

import pytest

from gatewayfw.errors import UsageError
from gatewayfw.storage.commits import Commits


@pytest.fixture
def commits():
    return Commits()


def note(calls, what):
    return lambda: calls.append(what)


def test_outside_of_a_transaction_it_is_called_at_once(commits):
    calls = []
    commits.call_after(note(calls, 1), within=False)
    assert calls == [1]


def test_inside_it_waits_for_the_end_in_the_order_given(commits):
    calls = []
    with commits.collect():
        commits.call_after(note(calls, 1), within=True)
        commits.call_after(note(calls, 2), within=True)
        assert calls == []
    assert calls == [1, 2]


def test_each_attempt_forgets_what_the_one_before_has_left(commits):
    calls = []
    with commits.collect() as begin_again:
        for attempt in range(3):
            begin_again()
            commits.call_after(note(calls, attempt), within=True)
    assert calls == [2]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_after_a_failure_nothing_is_called_and_nothing_stays(commits, error):
    calls = []
    with pytest.raises(error), commits.collect():
        commits.call_after(note(calls, 1), within=True)
        raise error
    with commits.collect():
        commits.call_after(note(calls, 2), within=True)
    assert calls == [2]


def test_it_says_whether_it_collects(commits):
    with commits.collect():
        assert commits.collects is True
    assert commits.collects is False


def test_a_transaction_that_nobody_collects_for_refuses(commits):
    with pytest.raises(UsageError) as raised:
        commits.call_after(print, within=True)
    assert raised.value.message == "after_commit: this transaction was not begun by odm.transaction"


def test_an_exception_is_logged_and_the_others_are_called(commits, caplog):
    calls = []

    def fail():
        raise OSError("no mail server")

    with caplog.at_level(logging.ERROR, "gatewayfw.storage"), commits.collect():
        commits.call_after(fail, within=True)
        commits.call_after(note(calls, 1), within=True)
    ((name, level, text),) = caplog.record_tuples
    assert calls == [1]
    assert name == "gatewayfw.storage"
    assert level == logging.ERROR
    assert text.startswith("a function of after_commit failed\nTraceback")
    assert text.rstrip().endswith("OSError: no mail server")


def test_a_function_may_begin_another_transaction(commits):
    calls = []

    def again():
        with commits.collect():
            commits.call_after(note(calls, "inner"), within=True)
        commits.call_after(note(calls, "at once"), within=False)

    with commits.collect():
        commits.call_after(again, within=True)
        commits.call_after(note(calls, "last"), within=True)
    assert calls == ["inner", "at once", "last"]


def test_threads_do_not_share_what_waits(commits):
    calls = []
    with commits.collect():
        other = threading.Thread(target=commits.call_after, args=(note(calls, 1),), kwargs={"within": False})
        other.start()
        other.join()
        assert calls == [1]


def test_a_scope_is_open_around_what_its_block_left(commits):
    calls = []

    @contextlib.contextmanager
    def scope():
        calls.append("open")
        yield
        calls.append("closed")

    with commits.collect():
        with commits.within(scope):
            commits.call_after(note(calls, 1), within=True)
        commits.call_after(note(calls, 2), within=True)
    assert calls == ["open", 1, "closed", 2]
