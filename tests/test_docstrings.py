"""The first line of every docstring of the package fits into 80 characters."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST = 80
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def first_lines(path):
    """Yield the place and the first line of each docstring of a file; a second one that continues it counts."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
        if text:
            place = f"{path.relative_to(ROOT).as_posix()}:{node.body[0].lineno}"
            yield place, " ".join(text.partition("\n\n")[0].splitlines())


def test_first_lines_are_short():
    found = [line for path in sorted((ROOT / "gatewayfw").rglob("*.py")) for line in first_lines(path)]
    long = [f"{place} {text}" for place, text in found if len(text) > MOST]
    assert (long, len(found) > 1000) == ([], True)
