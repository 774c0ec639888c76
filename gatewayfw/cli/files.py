"""The commands for stored files: ``files sweep``."""

from __future__ import annotations

import click
from flask.cli import with_appcontext

from gatewayfw.cli.choice import JSON, NAME, find_gateway
from gatewayfw.cli.outages import tell_outages_of
from gatewayfw.cli.output import format_json, has_terminal, status_line
from gatewayfw.cli.signals import interruptible


@click.group("files")
def files() -> None:
    """Look after the bytes of files."""


@files.command("sweep", epilog="Example: flask gateway files sweep")
@NAME
@JSON
@with_appcontext
def sweep(name: str | None, as_json: bool) -> None:
    """Delete the bytes of files that have no document, if older than an hour.

    The thread that works on jobs does this about once an hour; if it is switched off, run this command now and then.
    """
    _, gateway = find_gateway(name)
    tell_outages_of(gateway.odm)
    with interruptible():
        try:
            count = gateway.files.sweep(on_progress=_show if has_terminal() else None)
        finally:
            if has_terminal():
                status_line("")
    click.echo(format_json({"swept": count}) if as_json else _told(count))


def _show(count: int) -> None:
    status_line(_told(count))


def _told(count: int) -> str:
    return f"{count} {'file' if count == 1 else 'files'} swept"
