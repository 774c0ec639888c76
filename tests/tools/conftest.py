"""Fixtures of the tests with other people's tools; these tests run only by ``./dev test --tools``."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path

import pytest

from gatewayfw.core import Gateway
from gatewayfw.export.openapi import openapi
from tests.installing import node_modules, python_packages, ran
from tests.playground.service import served
from tests.tools.services import GATEWAYS, things

HERE = Path(__file__).parent
#: They download tools and take long.
collect_ignore_glob = [] if os.environ.get("GATEWAYFW_TEST_TOOLS") == "1" else ["test_*.py"]


class Toolbox:
    """A folder for one test, with the files and the programs of one tool.

    The files are those of a folder beside this file: a lock file of npm or `requirements.txt`, and what a test needs.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.folder, source = folder, HERE / name
        if (source / "package.json").is_file():
            (folder / "node_modules").symlink_to(node_modules(source) / "node_modules")
            self.programs = folder / "node_modules" / ".bin"
        else:
            self.programs = python_packages(source / "requirements.txt") / "bin"
        for file in source.iterdir():
            shutil.copy(file, folder)

    def run(self, program: str, *words: str, **variables: str) -> str:
        """What a program of the tool prints; fails the test if it fails."""
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        return ran([str(self.programs / program), *words], self.folder, PATH=path, **variables)

    def compiles(self, *names: str) -> None:
        """Fail the test if the compiler finds an error in files, or in anything that they import."""
        shutil.copy(HERE / "equal.ts", self.folder)
        self.write("tsconfig.json", json.loads((HERE / "tsconfig.json").read_text()) | {"files": list(names)})
        self.run("tsc", "-p", ".")

    def typescript(self, name: str, *words: str) -> None:
        """Check a program by the compiler, then run it."""
        self.compiles(f"{name}.ts")
        self.run("esbuild", f"{name}.ts", "--bundle", "--platform=node", "--format=esm", "--outfile=out.mjs")
        ran(["node", "out.mjs", *words], self.folder)

    def write(self, name: str, value: object) -> None:
        """Write a value as JSON."""
        (self.folder / name).write_text(json.dumps(value), "utf-8")


@pytest.fixture
def toolbox(tmp_path):
    """Make the folder of a tool, by name."""
    return lambda name: Toolbox(name, tmp_path)


def documented(made: Toolbox, gw: Gateway, **options) -> None:
    """Write the document of a gateway into a folder."""
    made.write("openapi.json", openapi(gw.catalog(), **options))


@pytest.fixture
def read(toolbox):
    """Make the folder of a tool with the document of a gateway, by their names."""

    def read(tool, name, **options):
        made = toolbox(tool)
        documented(made, GATEWAYS[name](), **options)
        return made

    return read


@pytest.fixture
def live(toolbox):
    """Make such a folder, and serve the gateway: give folder and URL."""
    with contextlib.ExitStack() as stack:

        def live(tool, name, **options):
            made, gw = toolbox(tool), GATEWAYS[name]()
            documented(made, gw, **options)
            made.write("documents.json", list(things().documents))
            return made, stack.enter_context(served(gw.create_app()))

        yield live
