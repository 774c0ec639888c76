"""The group of all commands, and what ends one early: an error, Ctrl-C, SIGTERM."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any

import click

from gatewayfw.cli.command import Failed, reason_of, status_line
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
            status_line("")
            raise Failed(reason_of(error)) from error
        except KeyboardInterrupt:
            status_line("")  # or the ``^C``
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


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Provide an event that the first of two signals sets.

    The second raises `KeyboardInterrupt`. Only the main thread can handle signals.
    """
    stop = threading.Event()

    def asked(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    with _handled(asked, signal.SIGINT, signal.SIGTERM):
        yield stop


def interruptible() -> AbstractContextManager[None]:
    """Let SIGTERM raise `KeyboardInterrupt` inside, as Ctrl-C does. Main thread only."""
    return _handled(signal.default_int_handler, signal.SIGTERM)


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], *signals: signal.Signals) -> Iterator[None]:
    before = [(one, signal.signal(one, handler)) for one in signals]
    try:
        yield
    finally:
        for one, former in before:
            signal.signal(one, former)
