"""The mutants that need no test, with the reason of each: `judged.txt`."""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("judged.txt")


def read(text):
    """Return reasons by change: see `Mutant.change`.

    An entry is a path, lines that went (``- ``) and came (``+ ``), and a reason; an empty line ends it.
    """
    entries = ([line for line in entry.splitlines() if not line.startswith("#")] for entry in text.split("\n\n"))
    return {tuple(line.strip() for line in entry[:-1]): entry[-1] for entry in entries if entry}


def reasons():
    """Return the reasons that are written down."""
    return read(FILE.read_text("utf-8"))
