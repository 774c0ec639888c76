"""mypy, pyright and ty on the Python module of each gateway; pyright's version is that of `tests/export/ts`."""

from __future__ import annotations

import sys

import pytest

from gatewayfw.export.python.module import python
from tests.export.checking import ROOT, mypy, pyright
from tests.export.python.test_module import RIGHT, WRONG
from tests.tools.conftest import catalog
from tests.tools.services import GATEWAYS

TY = ("--python", sys.prefix, "--extra-search-path", str(ROOT), "--output-format", "concise")
MODULES = [f"{name}_types.py" for name in GATEWAYS]


@pytest.fixture(scope="module")
def made(toolbox):
    """A folder with the module of each gateway."""
    made = toolbox("python_types")
    for name in GATEWAYS:
        (made.folder / f"{name}_types.py").write_text(python(catalog(name)), "utf-8")
    return made


def test_every_checker_accepts_the_modules(made):
    assert "All checks passed!" in made.run("ty", "check", *TY, *MODULES)
    assert mypy(made.folder, *MODULES) == []
    assert pyright(made.folder, *MODULES, strict=MODULES) == []


def test_ty_accepts_the_right_program_and_tells_of_the_wrong_lines(made):
    for name, text in {"right": RIGHT, "wrong": WRONG}.items():
        (made.folder / f"{name}.py").write_text(text.replace("gateway_types", "sample_types"), "utf-8")
    assert "All checks passed!" in made.run("ty", "check", *TY, "right.py")
    told = made.run("ty", "check", *TY, "--exit-zero", "wrong.py")
    lines = {int(line.split(":")[1]) for line in told.splitlines() if line.startswith("wrong.py:")}
    assert lines == {number for number, line in enumerate(WRONG.splitlines(), 1) if "#!" in line}
