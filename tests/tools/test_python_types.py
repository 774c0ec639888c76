"""mypy, pyright and ty on the Python module of each gateway; pyright's version is that of `tests/export/ts`."""

from __future__ import annotations

import sys

import pytest

from gatewayfw.export.python.module import python
from tests.export.checking import ROOT, mypy, pyright
from tests.export.python.test_module import RIGHT, WRONG
from tests.tools.services import GATEWAYS

TY = ("--python", sys.prefix, "--extra-search-path", str(ROOT), "--output-format", "concise")
each_gateway = pytest.mark.parametrize("name", GATEWAYS)


@each_gateway
def test_every_checker_accepts_the_module(toolbox, name):
    made = toolbox("python_types")
    (made.folder / "gateway_types.py").write_text(python(GATEWAYS[name]().catalog()), "utf-8")
    assert "All checks passed!" in made.run("ty", "check", *TY, "gateway_types.py")
    assert mypy(made.folder, "gateway_types.py") == []
    assert pyright(made.folder, "gateway_types.py", strict=["gateway_types.py"]) == []


def test_ty_accepts_the_right_program_and_tells_of_the_wrong_lines(toolbox):
    made = toolbox("python_types")
    for name, text in {"gateway_types": python(GATEWAYS["sample"]().catalog()), "right": RIGHT, "wrong": WRONG}.items():
        (made.folder / f"{name}.py").write_text(text, "utf-8")
    assert "All checks passed!" in made.run("ty", "check", *TY, "right.py")
    told = made.run("ty", "check", *TY, "--exit-zero", "wrong.py")
    lines = {int(line.split(":")[1]) for line in told.splitlines() if line.startswith("wrong.py:")}
    assert lines == {number for number, line in enumerate(WRONG.splitlines(), 1) if "#!" in line}
