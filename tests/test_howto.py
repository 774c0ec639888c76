"""The how-to pages: each is a program of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "howto"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_program_of_the_page_runs(path):
    text, names = path.read_text("utf-8"), {"__name__": "howto"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert blocks
    for block in blocks:
        above = text.count("\n", 0, block.start(1))
        exec(compile("\n" * above + block[1], str(path), "exec"), names)


def test_the_contents_name_every_page():
    listed = re.findall(r"^[a-z-]+$", (FOLDER / "index.md").read_text("utf-8").split("```")[1], re.MULTILINE)
    assert sorted(listed) == [path.stem for path in PAGES]
