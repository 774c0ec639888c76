"""The files of a new project, and where they go."""

from __future__ import annotations

import keyword
import os
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from gatewayfw.errors import DefinitionError

#: The name that the files have, as their package and in their texts.
_NAME = re.compile(r"\bshop\b")
#: What the files end with here, so that no tool takes them for a part of this package.
_SUFFIX = ".txt"
_PACKAGE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PROGRAMS = frozenset({"dev"})


def project(name: str) -> dict[PurePosixPath, str]:
    """Return the texts of a project by their paths.

    Raises:
        DefinitionError: the name cannot be that of its package.
    """
    if not _PACKAGE.fullmatch(name) or keyword.iskeyword(name):
        raise DefinitionError(f"{name!r} is no name of a package: small letters, digits and _, beginning with a letter")
    if name in sys.stdlib_module_names or name in {"gatewayfw", "tests", "flask", "gunicorn"}:
        raise DefinitionError(f"{name!r} would hide the module of that name")
    found = _found(files("gatewayfw.starter").joinpath("files"), PurePosixPath())
    return {PurePosixPath(_NAME.sub(name, str(path))): _NAME.sub(name, text) for path, text in found}


def write_project(name: str, folder: Path) -> list[Path]:
    """Write a project into a new folder of its name.

    That folder is made in ``folder``, which is made if it does not exist.

    Raises:
        DefinitionError: see `project`.
        FileExistsError: there is such a folder or file.
        OSError: it cannot be written.
    """
    texts, root = project(name), folder / name
    folder.mkdir(parents=True, exist_ok=True)
    root.mkdir()
    for path, text in texts.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        if path.name in _PROGRAMS:
            os.chmod(place, 0o755)
    return [root / path for path in texts]


def _found(folder: Traversable, at: PurePosixPath) -> Iterator[tuple[PurePosixPath, str]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _found(entry, at / entry.name)
        elif entry.name.endswith(_SUFFIX):
            yield at / entry.name.removesuffix(_SUFFIX), entry.read_text("utf-8")
