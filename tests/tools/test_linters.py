"""Linters on the generated TypeScript, and on a program that uses it."""

from __future__ import annotations

import shutil

import pytest

from gatewayfw.export.typescript.module import typescript
from tests.export.compiling import HERE
from tests.tools.conftest import catalog
from tests.tools.services import GATEWAYS


@pytest.fixture(scope="module")
def linted(toolbox):
    """A folder with the module of each gateway, the sample service's as `gateway.ts`, and a program that uses it."""
    made = toolbox("linters")
    for name in GATEWAYS:
        (made.folder / f"{name}.ts").write_text(typescript(catalog(name)))
    (made.folder / "sample.ts").rename(made.folder / "gateway.ts")
    for name in ("tsconfig.json", "sample_ok.ts", "shape.ts"):
        shutil.copy(HERE / name, made.folder)
    return made


MODULES = ["gateway.ts", *(f"{name}.ts" for name in GATEWAYS if name != "sample")]


def test_eslint_biome_and_oxlint_find_nothing(linted):
    linted.run("eslint", *MODULES, RULES="recommended")
    linted.run("biome", "lint", "--error-on-warnings", *MODULES)
    linted.run("oxlint", "--deny-warnings", *MODULES)


def test_the_head_is_what_keeps_them_from_it(linted):
    text = (linted.folder / "gateway.ts").read_text().replace("eslint-disable", "").replace("biome-ignore-all", "")
    (linted.folder / "headless.ts").write_text(text)
    with pytest.raises(AssertionError, match="no-explicit-any"):
        linted.run("eslint", "headless.ts", RULES="recommended")
    with pytest.raises(AssertionError, match="noExplicitAny"):
        linted.run("biome", "lint", "--error-on-warnings", "headless.ts")


@pytest.mark.parametrize("rules", ["recommendedTypeChecked", "strictTypeChecked"])
def test_a_program_that_uses_the_module_is_linted_by_its_types(linted, rules):
    linted.run("eslint", "sample_ok.ts", RULES=rules)
