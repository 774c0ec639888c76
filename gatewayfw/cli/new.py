"""The command that begins a project: ``new``."""

from __future__ import annotations

from pathlib import Path

import click

from gatewayfw.cli.command import JSON, Failed, format_json
from gatewayfw.starter.project import write_project


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
