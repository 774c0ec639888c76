"""What the guide shows is what happens, and it names what there is to name."""

from __future__ import annotations

import inspect
import re
import shlex
import tempfile
from pathlib import Path
from typing import get_args

import pytest

from gatewayfw.acts import ContextFns
from gatewayfw.cli import gateway_group
from gatewayfw.core import Gateway
from gatewayfw.error_codes import ExpectedType
from gatewayfw.messages import CODES
from gatewayfw.odm.writing.operators import ON_INSERT, OPERATORS
from gatewayfw.schemas.fields import KINDS
from gatewayfw.storage.filter_operators import JUNCTIONS
from gatewayfw.storage.filter_operators import OPERATORS as COMPARISONS
from gatewayfw.storage.update_operators import MODIFIERS

FOLDER = Path(__file__).parent.parent / "docs" / "guide"
#: The pages in the order of the contents, which is that of the program.
NAMES = re.findall(r"^[a-z-]+$", (FOLDER / "index.md").read_text("utf-8").split(":hidden:")[1], re.MULTILINE)
PAGES = {name: (FOLDER / f"{name}.md").read_text("utf-8") for name in ("index", *NAMES)}
GUIDE = "\n".join(PAGES.values())
_BLOCK = re.compile(r"^```([\w{}]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(name, block) for name, text in PAGES.items() for block in _BLOCK.finditer(text)]
COMMANDS = [
    words[4:]
    for _, block in BLOCKS
    if block[1] == "sh"
    for line in block[2].splitlines()
    if (words := shlex.split(line, comments=True))[:4] == ["flask", "--app", "library", "gateway"]
]


PROSE = {name: _BLOCK.sub("", text) for name, text in PAGES.items()}


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The names that the Python blocks define, all run in order; failures point into the pages."""
    names = {"__name__": "guide"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("guide")))
        for name, block in BLOCKS:
            if block[1] == "python":
                above = PAGES[name].count("\n", 0, block.start(2))
                exec(compile("\n" * above + block[2], str(FOLDER / f"{name}.md"), "exec"), names)
    return names


def test_every_python_block_runs(story):
    assert GUIDE.count("```") == 2 * len(BLOCKS)
    assert {block[1] for _, block in BLOCKS} == {"python", "sh", "text", "{toctree}"}


def test_the_contents_name_every_page_in_order():
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
    assert list(dict.fromkeys(re.findall(r"\(([\w-]+)\.md\)", PROSE["index"]))) == NAMES


@pytest.mark.parametrize("words", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_every_command_succeeds(story, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GATEWAYFW_ENV", "development")  # its data is in memory, which doctor refuses elsewhere
    result = story["app"].test_cli_runner().invoke(gateway_group, words)
    assert result.exit_code == 0
    assert bool(result.output)


def test_every_command_is_shown():
    shown = dict.fromkeys(words[0] for words in COMMANDS)
    assert ["new", "mongod", *shown] == list(gateway_group.commands)
    assert "flask gateway new shop " in GUIDE
    assert "flask gateway mongod " in GUIDE


@pytest.mark.mongo
def test_the_database_test_of_the_page_passes(story, mongo_database):
    story["test_on_mongodb"](mongo_database)
    assert mongo_database.thing.count_documents({"name": "x"}) == 1


def test_every_kind_is_in_the_table():
    table = GUIDE.split("| Kind |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)", "".join(row.split("|")[1] for row in table.splitlines()[2:]))) == {
        *KINDS,
    }


@pytest.mark.parametrize(
    ("start", "operators"),
    [
        ("**Find.**", COMPARISONS.keys() | JUNCTIONS),
        ("**Change pure fields.**", OPERATORS.keys() - {ON_INSERT} | MODIFIERS | {"$each"}),
    ],
    ids=["filters", "updates"],
)
def test_every_operator_is_named(start, operators):
    assert set(re.findall(r"`(\$\w+)`", GUIDE.split(start)[1].split("```")[0])) == operators


def test_every_server_option_is_in_the_table_and_nothing_else():
    table = GUIDE.split("| Option of `create_app` and `run_server` |")[1].split("\n\n")[0]
    shown = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert set(shown) == set(inspect.signature(Gateway.run_server).parameters) - {"self"}


def test_every_context_function_is_named():
    functions = [name for name in vars(ContextFns) if name.islower() and not name.startswith("_")]
    assert [name for name in functions if not re.search(rf"`{name}\b", GUIDE)] == []


def test_the_table_of_codes_has_each_with_its_bounds():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| ", PAGES["errors"].split("## Codes of refused values")[1], re.MULTILINE)
    told = [(code, tuple(re.findall(r"`(\w+)`", bounds))) for code, bounds in rows]
    assert told == sorted(CODES.items())


def test_the_table_of_codes_has_every_type_that_may_be_expected():
    (row,) = re.findall(r"^\| `wrong_type` \| .*: (.*) \|$", PAGES["errors"], re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", row)) == get_args(ExpectedType)
