"""The group of all commands: what ends one of them early, ends each of them alike."""

from __future__ import annotations

from typing import Any

import click

from gatewayfw.cli.output import Failed, has_terminal, status_line
from gatewayfw.errors import GatewayError

#: The exit status after a signal, as shells use it for Ctrl-C.
INTERRUPTED = 130


class Commands(click.Group):
    """Ends a command with the message of our error, or says that it was interrupted.

    An error may come from the app, too, before the command begins: its database's URI, its token key, its definitions.
    The exit status is 1 after an error and 130 after Ctrl-C.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except GatewayError as error:
            _clear()
            raise Failed(error.message) from error
        except KeyboardInterrupt:
            _clear()
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


def _clear() -> None:
    """Remove the status line that the command left on the terminal, or the ``^C``."""
    if has_terminal():
        status_line("")
