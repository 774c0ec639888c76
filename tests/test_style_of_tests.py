"""Tests use what is public, and wait for events, not for time to pass."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
#: A patch of a name that begins with an underscore, by object and name or by its whole path.
PRIVATE = re.compile(r"""\b\w+\.setattr\([^()"']*(?:\([^()]*\)[^()"']*)?["'](?:[\w.]*\.)?_[A-Za-z]""")
SLEEP = re.compile(r"\btime\.sleep\(")
#: What may read a private attribute of something else than ``self``; whether one does, the syntax tree says.
READING = re.compile(r"[\w)\]](?<!\bself)(?<!\bcls)\._(?!ids?\b|gw\b)[A-Za-z]")
#: Names that begin with an underscore and are documented, of Python, Werkzeug and marshmallow.
PUBLIC = {"_asdict", "_exit", "_fields", "_get_current_object", "_getframe", "_replace", "_serialize"}

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
    "web/servers/test_waitress.py": (1, "an act that takes long"),
    "web/test_contexts.py": (1, "waits until something listens"),
    "wire/scripts.py": (2, "servers that are slow"),
    "wire/test_connections.py": (4, "servers that are slow or silent"),
    "wire/test_posting.py": (1, "nothing tells when forged bytes have arrived"),
}


#: file: which private attributes it reads, and why there is no other way.
READS = {
    "benchmarks/test_page.py": ("_actions", "the options of a parser"),
    "cli/test_upkeep.py": ("_Steps _Stopped", "the signal that ends `work` comes when it likes"),
    "limits/test_counters.py": ("_calls _entries _keys _preparing _storage", "memory that is given back, a lock"),
    "odm/copies/test_counts.py": ("_database _met", "that nothing is remembered is seen from nowhere else"),
    "odm/jobs/test_fan_out.py": ("_relation _step", "a worker that was paused after it had claimed a job"),
    "odm/test_deadlines.py": ("_db", "the database of either adapter"),
    "odm/test_interleavings.py": ("_handle", "a write with an id of its own, below `Model`"),
    "odm/writing/test_operators.py": ("_handle", "what a model's storage holds"),
    "schemas/kinds/test_quick.py": ("_root _takes", "the same struct without its quick way"),
    "storage/mongo/test_connection.py": ("_connection _database _pid", "which client a forked process uses"),
}


@cache
def sources():
    """Return the text of each file of the tests but this one, by its path."""
    paths = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    return {path.relative_to(TESTS).as_posix(): path.read_text() for path in paths}


def counted(pattern):
    """Return how often each file of the tests matches, by its path."""
    return {name: number for name, text in sources().items() if (number := len(pattern.findall(text)))}


def read_privately(text):
    """Return the private attributes that a text reads of others than ``self``, ``cls`` and ``super()``."""
    if not READING.search(text):
        return set()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
    private = [node for node in nodes if re.match("_[A-Za-z]", node.attr) and node.attr not in PUBLIC]
    return {node.attr for node in private if not ast.unparse(node.value).startswith(("self", "cls", "super("))}


def allowed(table, name):
    """Return how many of them a file may have; None for any number."""
    return next((most for start, (most, _) in table.items() if name.startswith(start)), 0)


def beyond(table, found):
    """Return the files that have other numbers than they may."""
    return {name: number for name, number in found.items() if allowed(table, name) not in (None, number)}


def test_no_private_name_is_patched():
    assert counted(PRIVATE) == {}


def test_only_these_files_read_private_attributes():
    found = {name: " ".join(sorted(names)) for name, text in sources().items() if (names := read_privately(text))}
    assert found == {name: names for name, (names, _reason) in READS.items()}


@pytest.mark.parametrize(
    ("line", "private"),
    [
        ("thing._keys", {"_keys"}),
        ("things[0]._keys.x", {"_keys"}),
        ("self._keys", set()),
        ("super()._keys()", set()),
        ("row._asdict()", set()),
        ('find("shop._id")', set()),
        ("thing.__class__", set()),
    ],
)
def test_private_attributes_are_recognised(line, private):
    assert read_privately(line) == private


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
