"""The Python blocks of docs/exports.md run as one program; its commands are there with their options."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gatewayfw.cli import gateway_group

PATH = Path(__file__).parent.parent.parent / "docs" / "exports.md"
PAGE = PATH.read_text("utf-8")
BLOCKS = list(re.finditer(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
ROWS = [re.findall(r"`([^`]+)`", row) for row in re.findall(r"^\| `flask .*$", PAGE, re.MULTILINE)]


@pytest.fixture(scope="module")
def story():
    """The names that the Python blocks define, all run in order; failures point into the page."""
    names = {"__name__": "library"}
    for block in BLOCKS:
        if block[1] == "python":
            above = PAGE.count("\n", 0, block.start(2))
            exec(compile("\n" * above + block[2], str(PATH), "exec"), names)
    return names


def test_every_block_runs(story):
    assert PAGE.count("```") == 2 * len(BLOCKS)
    assert {block[1] for block in BLOCKS} == {"python", "json"}


@pytest.mark.parametrize("row", ROWS, ids=[row[0].split()[-1] for row in ROWS])
def test_the_commands_have_the_options_of_the_table(row):
    command = gateway_group.commands[row[0].split()[-1]]
    options = {word for option in command.params for word in option.opts} - {"--name"}
    assert {word for word in row if word.startswith("--")} == options


def test_the_configuration_of_a_client_runs_the_command(story):
    server = json.loads(next(block[2] for block in BLOCKS if block[1] == "json"))["mcpServers"]["library"]
    assert server["args"][2:4] == ["gateway", "mcp"]
    result = story["app"].test_cli_runner().invoke(gateway_group, ["mcp", "--list"])
    lines = ["tool              description", "author_addAuthor  Add an author.", "author_getAuthor  Return an author."]
    assert result.output.splitlines() == lines
