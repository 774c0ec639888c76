"""Fixtures of the tests of exports."""

from __future__ import annotations

import shutil

import pytest

from tests.export.compiling import HERE, Project
from tests.installing import node_modules


@pytest.fixture(scope="session")
def compilers():
    """The folder with TypeScript's compilers."""
    return node_modules(HERE)


@pytest.fixture
def project(compilers, tmp_path):
    """Make a folder of TypeScript files, by name, with those of `tests/export/ts` that are named."""

    def project(*shared, **texts):
        for name in ("tsconfig.json", *(f"{one}.ts" for one in shared)):
            shutil.copy(HERE / name, tmp_path)
        for name, text in texts.items():
            (tmp_path / f"{name}.ts").write_text(text)
        return Project(tmp_path, compilers)

    return project
