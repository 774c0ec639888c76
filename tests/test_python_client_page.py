"""The blocks of docs/python-client.md run as one program, which type checkers accept; its tables name what there is."""

from __future__ import annotations

import inspect
import re
import sys
import types
from pathlib import Path

import pytest

from gatewayfw.catalog import build
from gatewayfw.client import HttpClient
from gatewayfw.export.python.module import python
from gatewayfw.wire.posting import ENVELOPE_BYTES
from tests.export.checking import mypy, pyright

PATH = Path(__file__).parent.parent / "docs" / "python-client.md"
PAGE = PATH.read_text("utf-8")
BLOCKS = list(re.finditer(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
#: The service, then what uses it.
SERVICE, *REST = [block for block in BLOCKS if block[1] == "python"]


def run(block, names):
    above = PAGE.count("\n", 0, block.start(2))
    exec(compile("\n" * above + block[2], str(PATH), "exec"), names)


@pytest.fixture
def program(monkeypatch):
    """The names of the page's program and the source of its types, which it imports half-way."""
    names = {"__name__": "page"}
    run(SERVICE, names)
    text = python(build(names["gw"].schemas, names["gw"].acts))
    module = types.ModuleType("gateway_types")
    exec(text, module.__dict__)
    monkeypatch.setitem(sys.modules, "gateway_types", module)
    for block in REST:
        run(block, names)
    return names, text


def test_every_python_block_runs(program):
    names, _ = program
    names["test_a_book_needs_a_title"]()
    assert PAGE.count("```") == 2 * len(BLOCKS)


def test_type_checkers_accept_the_program(program, tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "gateway_types.py").write_text(program[1], "utf-8")
    page = "".join(block[2] for block in (SERVICE, *REST))
    (tmp_path / "page.py").write_text(page, "utf-8")
    assert mypy(tmp_path, "page.py") == []
    told = [page.splitlines()[line - 1] for _, line in pyright(tmp_path, "page.py", strict=["page.py"])]
    assert told == ["gw.odm.set_db(mongomock.MongoClient().library)"]  # of which mongomock says too little


def test_every_option_is_in_the_table():
    table = PAGE.split("| Option of `HttpClient` |")[1].split("\n\n")[0]
    shown = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert shown == list(inspect.signature(HttpClient).parameters)


def test_the_table_names_the_defaults():
    defaults = {name: parameter.default for name, parameter in inspect.signature(HttpClient).parameters.items()}
    shown = dict(re.findall(r"^\| `(\w+)` \| (\d+)(?: MiB)? \|", PAGE, re.MULTILINE))
    largest = defaults["max_bytes"] - ENVELOPE_BYTES
    assert {name: int(text) for name, text in shown.items()} == {
        **{name: defaults[name] for name in ("timeout", "connections")},
        "max_bytes": largest // 2**20,
    }


def test_every_class_of_the_table_is_of_the_kind_that_is_generated(program):
    table = PAGE.split("| Class | What it is |")[1].split("\n\n")[0]
    shown = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    others = {"BookAddBookResult", "AuthorBooksGet0", "AuthorBooks0", "BookAddBookGet", "BookAddBookDocument"}
    assert {name for name in shown if not re.search(rf"\b{name}\b", program[1])} == others
