"""``new``: what it writes and says, where no app is."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from gatewayfw.cli import gateway_group
from tests.commands_page import has_page


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run ``new`` in an empty folder: exit status and output."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        result = CliRunner().invoke(gateway_group, ["new", *words])
        return result.exit_code, result.output

    return run


def test_it_says_what_to_do_next(run, tmp_path):
    status, output = run("library")
    count = sum(1 for path in (tmp_path / "library").rglob("*") if path.is_file())
    assert (status, output) == (0, f"wrote {count} files into library\n\ncd library\n./dev test\n./dev run\n")


def test_as_json_each_file_is_named(run, tmp_path):
    status, output = run("library", "--path", "a/new", "--json")
    assert (status, sorted(json.loads(output))) == (
        0,
        sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()),
    )


def test_what_cannot_be_done_is_told(run, tmp_path):
    (tmp_path / "library").mkdir()
    assert run("library") == (1, "Error: library is there already\n")
    assert run("json") == (1, "Error: 'json' would hide the module of that name\n")
    (tmp_path / "file").touch()
    assert run("x", "--path", "file/in") == (1, "Error: file/in/x cannot be written: Not a directory\n")
    status, output = run("x", "--path", "file")
    assert (status, output.splitlines()[-1]) == (2, "Error: Invalid value for '--path': Directory 'file' is a file.")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "library"]


def test_the_help_is_on_the_page():
    assert has_page("new")
