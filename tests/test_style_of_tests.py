"""Tests use what is public, and wait for events, not for time to pass."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
SOURCES = {
    path.relative_to(TESTS).as_posix(): path.read_text("utf-8")
    for path in sorted(TESTS.rglob("*.py"))
    if path != Path(__file__)
}
#: A patch of a name that begins with an underscore, by object and name or by its whole path.
PRIVATE = re.compile(r"""\b\w+\.setattr\([^()"']*(?:\([^()]*\)[^()"']*)?["'](?:[\w.]*\.)?_[A-Za-z]""")
#: What may read a private attribute of something else than ``self``; whether one does, the syntax tree says.
READING = re.compile(r"[\w)\]](?<!\bself)(?<!\bcls)\._(?!ids?\b|gw\b)[A-Za-z]")
#: Names that begin with an underscore and are documented, of Python, Werkzeug and marshmallow.
PUBLIC = {"_asdict", "_exit", "_fields", "_get_current_object", "_getframe", "_replace", "_serialize"}

#: The files that sleep, and why they do not wait for an event. Folders hold for all files below.
SLEEPS = {
    "client/test_hostile.py": "nothing tells when forged bytes have arrived",
    "faults/": "time is what these tests are about: outages and slow networks of so many seconds",
    "test_limit_counters.py": "a limit that is told slowly, so that threads overtake each other",
    "odm/jobs/test_background.py": "shows that a thread does nothing",
    "storage/mongo/test_storage.py": "the driver looks at the real deadline",
    "storage/mongo/test_transactions.py": "the driver looks at the real deadline",
    "acts/test_remote.py": "a second body waits in the sender's buffers",
    "testing/test_supervisor.py": "a program that waits to be killed",
    "waiting.py": "the one place that waits for a condition",
    "web/servers/test_waitress.py": "an act that takes long",
    "web/test_contexts.py": "waits until something listens",
    "wire/scripts.py": "servers that are slow",
    "wire/test_connections.py": "servers that are slow or silent",
    "wire/test_posting.py": "nothing tells when forged bytes have arrived",
}

#: The files that read private attributes, and why there is no other way.
READS = {
    "benchmarks/test_page.py": "the options of a parser",
    "cli/test_upkeep.py": "the signal that ends `work` comes when it likes",
    "test_limit_counters.py": "memory that is given back, a lock",
    "odm/writing/plan/test_attempt.py": "that nothing is remembered is seen from nowhere else",
    "odm/test_deadlines.py": "the database of either adapter",
    "odm/test_interleavings.py": "a write with an id of its own, below `Model`",
    "odm/writing/test_operators.py": "what a model's storage holds",
    "schemas/kinds/test_quick.py": "the same struct without its quick way",
    "schemas/test_definition_types.py": "the types of definitions have the keys that are read",
    "storage/mongo/test_connection.py": "which client a forked process uses",
}


def reads_privately(text):
    """Tell whether a text reads a private attribute of another than ``self``, ``cls`` and ``super()``."""
    if not READING.search(text):
        return False
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
    private = [node for node in nodes if re.match("_[A-Za-z]", node.attr) and node.attr not in PUBLIC]
    return any(not ast.unparse(node.value).startswith(("self", "cls", "super(")) for node in private)


def test_no_private_name_is_patched():
    assert [name for name, text in SOURCES.items() if PRIVATE.search(text)] == []


def test_only_these_files_read_private_attributes():
    assert [name for name, text in SOURCES.items() if reads_privately(text)] == sorted(READS)


def test_only_these_files_sleep():
    sleeping = [name for name, text in SOURCES.items() if re.search(r"\btime\.sleep\(", text)]
    listed = {name: [start for start in SLEEPS if name.startswith(start)] for name in sleeping}
    assert [name for name, starts in listed.items() if not starts] == []
    assert sorted({start for starts in listed.values() for start in starts}) == sorted(SLEEPS)
