"""The command that begins a project: ``new``."""

import keyword
import os
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

import click

from gatewayfw.cli.command import JSON, Failed, format_json
from gatewayfw.errors import DefinitionError

#: The name that the files have, as their package and in their texts.
_NAME = re.compile(r"\bshop\b")
#: What the files end with here, so that no tool takes them for a part of this package.
_SUFFIX = ".txt"
_PACKAGE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PROGRAMS = frozenset({"dev"})


@click.command("new", epilog="Example: flask gateway new shop --path projects")
@click.argument("name")
@click.option(
    "--path",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="The folder to put the project's own folder in; made if it does not exist.",
)
@JSON
def new(name: str, path: Path, as_json: bool) -> None:
    """Write a small starter service into a new folder.

    It has users who log in, two models with a relation, tests, and what production needs. NAME is the name of its
    package, such as shop. This command needs no app. Afterwards: `cd shop` and `./dev test`.
    """
    try:
        written = write_project(name, path)
    except FileExistsError as error:
        raise Failed(f"{path / name} is there already") from error
    except OSError as error:
        raise Failed(f"{path / name} cannot be written: {error.strerror}") from error
    if as_json:
        click.echo(format_json([str(one) for one in written]))
    else:
        click.echo(f"wrote {len(written)} files into {path / name}\n\ncd {path / name}\n./dev test\n./dev run")


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
