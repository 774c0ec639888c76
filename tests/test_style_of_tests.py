"""Tests use what is public, and wait for events, not for time to pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
#: A patch of a name that begins with an underscore, by object and name or by its whole path.
PRIVATE = re.compile(r"""\b\w+\.setattr\([^()"']*(?:\([^()]*\)[^()"']*)?["'](?:[\w.]*\.)?_[A-Za-z]""")
SLEEP = re.compile(r"\btime\.sleep\(")

#: file: how many sleeps it has, and why it does not wait for an event. Folders hold for all files below.
SLEEPS = {
    "faults/": (None, "time is what these tests are about: outages and slow networks of so many seconds"),
    "client/test_hostile.py": (1, "nothing tells when forged bytes have arrived"),
    "limits/test_counters.py": (1, "a limit that is told slowly, so that threads overtake each other"),
    "odm/jobs/test_thread.py": (1, "shows that a thread does nothing"),
    "storage/mongo/test_storage.py": (1, "the driver looks at the real deadline"),
    "storage/mongo/test_transactions.py": (1, "the driver looks at the real deadline"),
    "test_remote.py": (1, "a second body waits in the sender's buffers"),
    "testing/test_supervisor.py": (1, "a program that waits to be killed"),
    "waiting.py": (1, "the one place that waits for a condition"),
    "web/servers/test_granian.py": (2, "acts that take long"),
    "web/test_contexts.py": (1, "waits until something listens"),
    "wire/scripts.py": (2, "servers that are slow"),
    "wire/test_connections.py": (4, "servers that are slow or silent"),
    "wire/test_posting.py": (1, "nothing tells when forged bytes have arrived"),
}


def counted(pattern):
    """Return how often each file of the tests matches, by its path."""
    found = {}
    for path in TESTS.rglob("*.py"):
        if path != Path(__file__) and (number := len(pattern.findall(path.read_text()))):
            found[path.relative_to(TESTS).as_posix()] = number
    return found


def allowed(table, name):
    """Return how many of them a file may have; None for any number."""
    return next((most for start, (most, _) in table.items() if name.startswith(start)), 0)


def beyond(table, found):
    """Return the files that have other numbers than they may."""
    return {name: number for name, number in found.items() if allowed(table, name) not in (None, number)}


def test_no_private_name_is_patched():
    assert counted(PRIVATE) == {}


def test_only_these_files_sleep():
    assert beyond(SLEEPS, counted(SLEEP)) == {}


def test_a_file_that_is_not_listed_may_have_none():
    assert beyond(SLEEPS, {"odm/test_ids.py": 1, "faults/test_stop.py": 9, "waiting.py": 2}) == {
        "odm/test_ids.py": 1,
        "waiting.py": 2,
    }


def test_what_is_allowed_is_needed():
    found = counted(SLEEP)
    assert [start for start in SLEEPS if not any(name.startswith(start) for name in found)] == []


@pytest.mark.parametrize(
    ("line", "private"),
    [
        ('monkeypatch.setattr(module, "_NAME", 1)', True),
        ('monkeypatch.setattr("package.module._NAME", 1)', True),
        ('patched.setattr(type(gw.checks), "_found", 1)', True),
        ('monkeypatch.setattr(module, "NAME", "_x")', False),
        ('monkeypatch.setattr("package.module.NAME", 1)', False),
    ],
)
def test_private_names_are_recognised(line, private):
    assert bool(PRIVATE.search(line)) is private
