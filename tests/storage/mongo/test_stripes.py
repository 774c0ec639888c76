"""Threads queue for hot documents, but never for long, and never across a fork."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from gatewayfw.storage.mongo.transactions import Stripes

DOCUMENT = ("org", 1)


def waits(stripes, documents, patience=0.05):
    """Whether another thread has to wait for the locks of documents."""
    found = []

    def look():
        started = time.monotonic()
        with stripes.held(documents, patience):
            found.append(time.monotonic() - started >= patience)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found[0]


def test_a_document_is_held_by_one_thread_and_free_afterwards():
    stripes = Stripes()
    with stripes.held([DOCUMENT], 1):
        assert waits(stripes, [DOCUMENT])
    assert not waits(stripes, [DOCUMENT])


def test_other_documents_and_none_do_not_wait():
    stripes = Stripes()
    other = next(("org", number) for number in range(2, 99) if (hash(("org", number)) - hash(DOCUMENT)) % 64)
    with stripes.held([DOCUMENT], 1):
        assert waits(stripes, [other]) is False
        assert waits(stripes, []) is False


def test_one_document_named_twice_is_taken_once():
    with Stripes().held([DOCUMENT, DOCUMENT], 0.05) as nothing:
        assert nothing is None


def test_locks_are_free_after_an_error():
    stripes = Stripes()
    with pytest.raises(KeyError), stripes.held([DOCUMENT], 1):
        raise KeyError
    assert not waits(stripes, [DOCUMENT])


def test_opposite_orders_do_not_lock_each_other_out():
    stripes, done = Stripes(), []

    def work(documents):
        for _ in range(200):
            with stripes.held(documents, 30):
                pass
        done.append(documents)

    both = [("org", 1), ("org", 2)]
    threads = [threading.Thread(target=work, args=(order,)) for order in (both, both[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(done) == 2


class Lock:
    """A lock that is free, and notes how long a thread would wait for it."""

    made, waits = 0, ()

    def __init__(self):
        Lock.made += 1

    def acquire(self, timeout):
        Lock.waits = (*Lock.waits, timeout)
        return True

    def release(self):
        pass


def test_a_thread_waits_for_all_locks_together_no_longer_than_its_patience(monkeypatch):
    module = "gatewayfw.storage.mongo.transactions"
    passed = iter([10.0, 10.25, 11.0])
    monkeypatch.setattr(f"{module}.time", SimpleNamespace(monotonic=lambda: next(passed)))
    monkeypatch.setattr(f"{module}.threading", SimpleNamespace(Lock=Lock))
    other = next(("org", number) for number in range(2, 99) if (hash(("org", number)) - hash(DOCUMENT)) % 64)
    with Stripes().held([DOCUMENT, other], 0.5):
        assert (Lock.waits, Lock.made) == ((0.25, 0.0), 64)


def test_a_child_does_not_inherit_what_its_parent_holds(monkeypatch):
    stripes = Stripes()
    with stripes.held([DOCUMENT], 1):
        monkeypatch.setattr("gatewayfw.storage.mongo.transactions.os", SimpleNamespace(getpid=lambda: -1))
        assert not waits(stripes, [DOCUMENT])
