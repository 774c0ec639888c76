"""The command that writes types and clients: ``types``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from flask.cli import with_appcontext

from gatewayfw.cli.choice import JSON, NAME, find_gateway
from gatewayfw.cli.output import Failed, format_json
from gatewayfw.export import files
from gatewayfw.export.languages import LANGUAGES, generated
from gatewayfw.logs import escaped

#: How many lines of a difference are shown.
_SHOWN = 40


@click.command("types", epilog="Example: flask gateway types --lang ts --path src/api")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="ts", show_default=True, help="The language.")
@click.option("--path", default="declarations", show_default=True, help="The folder to write into.")
@click.option("--check", is_flag=True, help="Write nothing; exit status 1 if a file is missing or out of date.")
@click.option("--stdout", is_flag=True, help="Print the file instead of writing it.")
@NAME
@JSON
@with_appcontext
def types(lang: str, path: str, check: bool, stdout: bool, name: str | None, as_json: bool) -> None:
    """Write the types of all models and acts, with a client."""
    _, gateway = find_gateway(name)
    for option, given in (("--check", check), ("--json", as_json)):
        if given and stdout:
            raise click.UsageError(f"{option} and --stdout do not go together")
    texts, folder = generated(gateway.catalog(), lang), Path(path)
    if stdout:
        click.echo("".join(texts.values()), nl=False)
        return
    try:
        lines = files.difference(folder, texts) if check else []
        written = [] if check else files.write(folder, texts)
    except OSError as error:
        raise Failed(str(error)) from error
    if check:
        _check(folder, texts, lines, as_json)
    else:
        _tell(folder, texts, written, as_json)


def _tell(folder: Path, texts: dict[str, str], written: list[Path], as_json: bool) -> None:
    if as_json:
        click.echo(format_json({str(folder / name): folder / name in written for name in texts}))
        return
    for name in texts:
        place = folder / name
        click.echo(escaped(f"wrote {place}" if place in written else f"{place} is up to date"))


def _check(folder: Path, texts: dict[str, str], lines: list[str], as_json: bool) -> None:
    if as_json:
        click.echo(format_json({"upToDate": not lines, "difference": lines}))
    elif not lines:
        _tell(folder, texts, [], False)
    else:
        for line in lines[:_SHOWN]:
            click.echo(escaped(line))
        if len(lines) > _SHOWN:
            click.echo(f"... and {len(lines) - _SHOWN} more lines")
    if lines:
        sys.exit(1)
