"""The commands for stored files: ``files sweep``."""

from __future__ import annotations

import click
from flask.cli import with_appcontext

from gatewayfw.cli.choice import NAME, find_gateway, report_errors


@click.group("files")
def files() -> None:
    """Look after the bytes of files."""


@files.command("sweep")
@NAME
@with_appcontext
def sweep(name: str | None) -> None:
    """Delete bytes without a document that were stored more than an hour ago.

    The thread that works on jobs does it about once in an hour; where it is switched off, run this now and then.
    """
    _, gateway = find_gateway(name)
    with report_errors():
        count = gateway.files.sweep()
    click.echo(f"{count} {'file' if count == 1 else 'files'} swept")
