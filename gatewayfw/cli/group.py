"""The group of all commands: what ends one of them early, ends each of them alike."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from gatewayfw.cli.outages import reason_of
from gatewayfw.cli.output import Failed, has_terminal, status_line
from gatewayfw.errors import GatewayError

#: The exit status after a signal, as shells use it for Ctrl-C.
INTERRUPTED = 130
#: Why an output cannot be written. A pipe that was closed is click's own business: it ends in silence, with status 1.
_UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


class Commands(click.Group):
    """Ends a command with the message of our error, or says that it was interrupted.

    An error may come from the app, too, before the command begins: its database's URI, its token key, its definitions.
    The exit status is 1 after an error, such as a full disk behind the output, and 130 after Ctrl-C.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; ``--help`` prints."""
        with _written():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the arguments name."""
        try:
            with _written():
                return super().invoke(ctx)
        except GatewayError as error:
            _clear()
            raise Failed(reason_of(error)) from error
        except KeyboardInterrupt:
            _clear()
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@contextmanager
def _written() -> Iterator[None]:
    """End a command whose output cannot be written with a message."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in _UNWRITABLE or error.filename is not None:
            raise
        sys.stdout = io.StringIO()  # what is buffered in the old one would fail again at the exit
        raise Failed(f"the output cannot be written: {os.strerror(error.errno)}") from error


def _clear() -> None:
    """Remove the status line that the command left on the terminal, or the ``^C``."""
    if has_terminal():
        status_line("")
