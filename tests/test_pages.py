"""All Python blocks of the docs are run: those of most pages here, each page as a program of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import mongomock
import pytest
from flask import Flask

from gatewayfw import gateway

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
#: Folders whose pages are programs.
PROGRAMS = ("concepts", "howto", "migration")
#: Of these the one that changes logging, Flask and global providers for good: it runs in a process of its own.
ALONE = "howto/extensions.md"
#: Pages with fragments for a gateway `gw` and an app `app` of the reader.
FRAGMENTS = ("playground.md", "deployment.md")
#: Where the blocks of all other pages are run.
ELSEWHERE = {
    "exports.md": "tests/export/test_exports_page.py",
    "guide": "tests/test_guide.py",
    "operations.md": "tests/test_operations_page.py",
    "python-client.md": "tests/test_python_client_page.py",
    "settings.md": "tests/test_settings_page.py",
    "tutorial.md": "tests/test_tutorial.py",
    "types.md": "tests/export/test_types_page.py",
    "upgrading.md": "tests/test_upgrading.py",
}
_BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PAGES = {str(path.relative_to(DOCS)): path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md"))}


def is_program(page):
    return page.partition("/")[0] in PROGRAMS and not page.endswith("index.md") and page != ALONE


def run(page, names):
    """Run the blocks of a page; failures point into it."""
    for block in _BLOCK.finditer(PAGES[page]):
        above = PAGES[page].count("\n", 0, block.start(1))
        exec(compile("\n" * above + block[1], str(DOCS / page), "exec"), names)


@pytest.mark.parametrize("page", list(filter(is_program, PAGES)))
def test_the_program_of_the_page_runs(page, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert _BLOCK.search(PAGES[page])
    run(page, {"__name__": "page"})


def test_the_program_of_the_page_runs_alone():
    command = [sys.executable, "-c", "\n".join(_BLOCK.findall(PAGES[ALONE]))]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_loop_that_makes_relations_of_references_may_be_repeated():
    page, names = "howto/adopt-a-collection.md", {"__name__": "page"}
    run(page, names)
    names["db"].book.update_one({}, {"$set": {"author_id": names["austen"]}})  # as if stopped before it was removed
    exec(_BLOCK.findall(PAGES[page])[1], names)
    assert names["books"].count({"author_id": None, "author._id": names["austen"]}) == 1


@pytest.mark.parametrize("page", FRAGMENTS)
def test_the_fragments_of_the_page_run(page, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SECRET", "x" * 32)
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().shop)
    run(page, {"__name__": "page", "gw": gw, "app": Flask("page")})


def test_every_python_block_is_run_somewhere():
    found = {page.partition("/")[0] for page, text in PAGES.items() if re.search(r"^ *```py", text, re.MULTILINE)}
    assert found == {*PROGRAMS, *FRAGMENTS, *ELSEWHERE}
    for page, test in ELSEWHERE.items():
        assert Path(page).stem in (ROOT / test).read_text("utf-8")
