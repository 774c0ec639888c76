"""The mutants that need no test."""

from __future__ import annotations

from pathlib import Path

from tests.mutation.judged import read, reasons

TEXT = """# what this is

shelf/one.py
- a = 1
+ a = 2
only a speed

shelf/two.py
- b(1)
equal: nobody reads it
"""


def test_an_entry_has_a_path_lines_and_a_reason():
    assert read(TEXT) == {
        ("shelf/one.py", "- a = 1", "+ a = 2"): "only a speed",
        ("shelf/two.py", "- b(1)"): "equal: nobody reads it",
    }


def test_the_lines_of_each_entry_are_still_there():
    gone = [
        (path, line)
        for path, *lines in reasons()
        for line in lines
        if line.startswith("- ") and line[2:] not in map(str.strip, Path(path).read_text("utf-8").splitlines())
    ]
    assert gone == []
