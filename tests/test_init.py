"""The names of the package, imported when they are first asked for: gatewayfw."""

from __future__ import annotations

import ast
import configparser
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import gatewayfw

TREE = ast.parse(Path(gatewayfw.__file__).read_text("utf-8"))
#: What type checkers believe: each name, and the module that they take it from.
TYPED = {
    alias.name: node.module
    for block in TREE.body
    if isinstance(block, ast.If)
    for node in block.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


def test_every_name_is_what_type_checkers_believe():
    assert sorted({*TYPED, "__version__"}) == gatewayfw.__all__
    assert [
        name for name, place in TYPED.items() if getattr(gatewayfw, name) is not vars(import_module(place))[name]
    ] == []


@pytest.mark.parametrize("name", ["nothing", "__nothing__", "_LATE"])
def test_other_names_are_not_there(name):
    with pytest.raises(AttributeError, match=f"module 'gatewayfw' has no attribute '{name}'"):
        getattr(gatewayfw, name)


def test_a_part_that_lacks_something_says_what_it_lacks(monkeypatch):
    def lack(name):
        raise ModuleNotFoundError(name="flask")

    monkeypatch.setattr(gatewayfw, "import_module", lack)
    with pytest.raises(ModuleNotFoundError) as raised:
        _ = gatewayfw.nothing
    assert raised.value.name == "flask"


def test_the_version_is_that_of_the_project():
    config = configparser.ConfigParser()
    config.read("setup.cfg")
    assert gatewayfw.__version__ == config["metadata"]["version"]


def test_every_name_is_listed():
    assert set(gatewayfw.__all__) <= set(dir(gatewayfw))


ERRORS = {"gatewayfw", "gatewayfw.errors", "gatewayfw.messages", "gatewayfw.error_codes"}


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import gatewayfw", {"gatewayfw"}),
        ("from gatewayfw import NotFound", ERRORS),
        ("import gatewayfw; gatewayfw.errors.NotFound", ERRORS),
    ],
)
def test_no_more_is_imported_than_was_asked_for(code, loaded):
    script = f"import sys; {code}; print(*[name for name in sys.modules if name.startswith('gatewayfw')])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(result.stdout.split()) == loaded
