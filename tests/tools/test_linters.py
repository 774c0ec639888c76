"""Linters on the generated TypeScript, and on a program that uses it."""

from __future__ import annotations

import json
import shutil

import pytest

from gatewayfw.export.typescript.module import typescript
from tests.export.compiling import HERE
from tests.tools.services import GATEWAYS


@pytest.fixture
def linted(toolbox):
    """Make a folder with the module of a gateway, by its name."""

    def linted(name):
        made = toolbox("linters")
        (made.folder / "gateway.ts").write_text(typescript(GATEWAYS[name]().catalog()))
        tsconfig = json.loads((HERE / "tsconfig.json").read_text())
        made.write("tsconfig.json", tsconfig)
        return made

    return linted


@pytest.mark.parametrize("name", GATEWAYS)
def test_eslint_biome_and_oxlint_find_nothing(linted, name):
    made = linted(name)
    made.run("eslint", "gateway.ts", RULES="recommended")
    made.run("biome", "lint", "--error-on-warnings", "gateway.ts")
    made.run("oxlint", "--deny-warnings", "gateway.ts")


def test_the_head_is_what_keeps_them_from_it(linted):
    made = linted("sample")
    text = (made.folder / "gateway.ts").read_text().replace("eslint-disable", "").replace("biome-ignore-all", "")
    (made.folder / "gateway.ts").write_text(text)
    with pytest.raises(AssertionError, match="no-explicit-any"):
        made.run("eslint", "gateway.ts", RULES="recommended")
    with pytest.raises(AssertionError, match="noExplicitAny"):
        made.run("biome", "lint", "--error-on-warnings", "gateway.ts")


@pytest.mark.parametrize("rules", ["recommendedTypeChecked", "strictTypeChecked"])
def test_a_program_that_uses_the_module_is_linted_by_its_types(linted, rules):
    made = linted("sample")
    for name in ("sample_ok.ts", "shape.ts"):
        shutil.copy(HERE / name, made.folder)
    made.run("eslint", "sample_ok.ts", RULES=rules)
