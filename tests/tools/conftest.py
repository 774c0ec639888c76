"""Fixtures of the tests with other people's tools; these tests run only by ``./dev test --tools``.

Tools and compilers start slowly, so each is asked as seldom as it can be: of several files, it names the one at fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from functools import cache
from pathlib import Path

import pytest

from gatewayfw.export.openapi import openapi
from tests.installing import node_modules, python_packages, ran
from tests.playground.service import served
from tests.tools.services import DOCUMENTS, GATEWAYS, things

HERE = Path(__file__).parent
#: They download tools and take long.
collect_ignore_glob = [] if os.environ.get("GATEWAYFW_TEST_TOOLS") == "1" else ["test_*.py"]


@cache
def catalog(name):
    """What a gateway, by its name, says of itself."""
    return GATEWAYS[name]().catalog()


class Toolbox:
    """A folder with the files and the programs of one tool.

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

    def runs(self, name: str, *words: str) -> None:
        """Fail the test if a program in TypeScript fails."""
        self.run("esbuild", f"{name}.ts", "--bundle", "--platform=node", "--format=esm", f"--outfile={name}.mjs")
        ran(["node", f"{name}.mjs", *words], self.folder)

    def write(self, name: str, value: object) -> None:
        """Write a value as JSON."""
        (self.folder / name).write_text(json.dumps(value), "utf-8")


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory):
    """Make the folder of a tool, by name."""
    return lambda name: Toolbox(name, tmp_path_factory.mktemp(name))


@pytest.fixture(scope="module")
def documents(toolbox):
    """Make such a folder with the documents of all gateways, and what is sent to the one with awkward kinds."""

    def documents(tool, **servers):
        made = toolbox(tool)
        for label, (name, virtual_paths) in DOCUMENTS.items():
            more = {"servers": [servers[label]]} if label in servers else {}
            made.write(f"{label}.json", openapi(catalog(name), virtual_paths=virtual_paths, **more))
        made.write("things.json", list(things().documents))
        return made

    return documents


@pytest.fixture(scope="module")
def urls():
    """Where the sample service and the one with awkward kinds are served."""
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(served(GATEWAYS[name]().create_app())) for name in ("sample", "awkward")}
