"""The command that writes types and clients: ``types``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from flask.cli import with_appcontext

from gatewayfw.cli.choice import NAME, find_gateway, report_errors
from gatewayfw.export import files
from gatewayfw.export.languages import LANGUAGES, generated

#: How many lines of a difference are shown.
_SHOWN = 40


@click.command("types")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="ts", show_default=True, help="The language.")
@click.option("--path", default="declarations", show_default=True, help="The folder to write into.")
@click.option("--check", is_flag=True, help="Write nothing; exit status 1 when a file differs.")
@click.option("--stdout", is_flag=True, help="Print the file instead.")
@NAME
@with_appcontext
def types(lang: str, path: str, check: bool, stdout: bool, name: str | None) -> None:
    """Write the types of all models and acts, for TypeScript with a client."""
    _, gateway = find_gateway(name)
    if check and stdout:
        raise click.UsageError("--check and --stdout do not go together")
    try:
        with report_errors():
            texts = generated(gateway.catalog(), lang)
            if stdout:
                click.echo("".join(texts.values()), nl=False)
            elif check:
                _check(Path(path), texts)
            else:
                _tell(Path(path), texts, files.write(Path(path), texts))
    except OSError as error:
        raise click.ClickException(str(error)) from error


def _tell(folder: Path, texts: dict[str, str], written: list[Path]) -> None:
    for name in texts:
        place = folder / name
        click.echo(f"wrote {place}" if place in written else f"{place} is up to date")


def _check(folder: Path, texts: dict[str, str]) -> None:
    lines = files.difference(folder, texts)
    if not lines:
        click.echo(", ".join(f"{folder / name} is up to date" for name in texts))
        return
    for line in lines[:_SHOWN]:
        click.echo(line)
    if len(lines) > _SHOWN:
        click.echo(f"... and {len(lines) - _SHOWN} more lines")
    sys.exit(1)
