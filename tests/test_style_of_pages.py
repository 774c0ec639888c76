"""docs/architecture.md and CONTRIBUTING.md name files, functions and commands that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from gatewayfw.settings import Settings
from tests.test_style_of_code import MAY_SEE

ROOT = Path(__file__).parent.parent
PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("docs/architecture.md", "CONTRIBUTING.md")}
#: Quoted words that are no name of ours.
FOREIGN = {"main", "single", "multiple", "preValidation", "preAct", "postAct", "create", "duration", "timedelta"}
FOREIGN |= {"GATEWAYFW_MONGOD", "View", "onError"}


def quoted(page):
    """Return what a page has between backticks, its code blocks apart."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)))


def names_of(tree, before=""):
    """Yield the names that a module defines, those in classes also after the class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
            yield before + node.name
            if isinstance(node, ast.ClassDef):
                yield from names_of(node, f"{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def defined():
    """Return every name that package and tests define; a class that inherits a method counts by the method."""
    files = [path for part in ("gatewayfw", "tests") for path in (ROOT / part).rglob("*.py")]
    return {name for path in files for name in names_of(ast.parse(path.read_text("utf-8")))}


@pytest.mark.parametrize("page", PAGES)
def test_the_files_a_page_names_are_there(page):
    paths = {text for text in quoted(page) if re.fullmatch(r"\.?/?[\w./-]+(\.(py|tsx?|md|cfg|html)|/)", text)}
    found = {path for path in paths if (ROOT / path).exists() or (ROOT / "gatewayfw" / path).exists()}
    assert (sorted(paths - found), len(paths) > 10) == ([], True)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_functions_and_classes_a_page_names_are_there(page):
    words = {text for text in quoted(page) if re.fullmatch(r"[A-Za-z_]\w*(\.[a-z_]+)?", text)}
    folders = {path.stem for path in (ROOT / "gatewayfw").iterdir()}
    known = defined() | folders | FOREIGN | set(Settings.__dataclass_fields__)
    known |= {name.rpartition(".")[2] for name in known}
    missing = {word for word in words if word not in known and word.rpartition(".")[2] not in known}
    assert {word for word in missing if not word.startswith("_")} == set()


def test_the_drawing_shows_every_part_and_only_imports_that_are_allowed():
    drawing = PAGES["docs/architecture.md"].partition("```mermaid")[2].partition("```")[0]
    labels = {node: re.sub(r": .*", "", label).split(" · ") for node, label in re.findall(r'(\w+)\["(.+?)"\]', drawing)}
    chains = [re.findall(r"\w+", re.sub(r"\[.+?\]", "", line)) for line in drawing.splitlines() if "-->" in line]
    arrows = {pair for chain in chains for pair in zip(chain, chain[1:], strict=False)}
    wrong = [(a, b) for above, below in arrows for a in labels[above] for b in labels[below] if b not in MAY_SEE[a]]
    drawn = {part for label in labels.values() for part in label}
    assert (wrong, {part for part in MAY_SEE if "." not in part} - drawn) == ([], {"__init__", "playground"})
