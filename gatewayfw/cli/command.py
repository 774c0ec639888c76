"""What commands share: options, the gateway they are for, output, what ends them.

The texts of documents and ids may come from anybody. Control characters of the terminal and characters that change the
direction of writing are therefore escaped.
"""

import errno
import io
import json
import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any

import click
from flask import Flask, current_app

from gatewayfw.core import Gateway
from gatewayfw.errors import GatewayError, Unavailable
from gatewayfw.logs import escaped
from gatewayfw.odm import Odm

NAME = click.option("--name", help="The name of the gateway, if the app has several.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
#: The exit status after a signal, as shells use it for Ctrl-C.
INTERRUPTED = 130
#: Why an output cannot be written. A pipe that was closed is click's own business: it ends in silence, with status 1.
_UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


class Failed(click.ClickException):
    """Ends a command with its message and exit status 1.

    Each line of the message is escaped: it may quote what the database or a service said.
    """

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(map(escaped, message.split("\n"))))


def app() -> Flask:
    """Return the app that the command runs in."""
    return current_app._get_current_object()  # type: ignore[attr-defined,no-any-return]  # a proxy


def find_gateway(name: str | None) -> tuple[str, Gateway]:
    """Return the gateway that ``--name`` means, or the only one, with its name."""
    gateways: Mapping[str, Gateway] = app().extensions.get("gatewayfw", {})
    if not gateways:
        raise Failed("this app has no gateway")
    listed = ", ".join(gateways)
    if name is None:
        if len(gateways) > 1:
            raise click.UsageError(f"this app has several gateways; give --name with one of: {listed}")
        name = next(iter(gateways))
    if name not in gateways:
        raise click.UsageError(f"no gateway is named {name!r}; there are: {listed}")
    return name, gateways[name]


def find_odm(name: str | None) -> Odm:
    """Return the object-document mapper of the gateway that ``--name`` means.

    Ends the command with exit status 1 when a definition is wrong.

    Raises:
        DefinitionError: no database is set.
    """
    _, gateway = find_gateway(name)
    problems = gateway.schemas.problems()
    if problems:
        raise Failed("; ".join(problems))
    _ = gateway.odm.storage
    tell_outages_of(gateway.odm)
    return gateway.odm


def tell_outages_of(odm: Odm) -> None:
    """Let the error that ends the current command say why this database is away.

    The storage logs it, too: unseen where the app's logging goes to a file, a second time where none is configured.
    """
    if context := click.get_current_context(silent=True):
        context.meta[__name__] = odm
    logger = logging.getLogger("gatewayfw.storage")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def reason_of(error: GatewayError) -> str:
    """Return why the current command failed, in words that are not for clients."""
    context = click.get_current_context(silent=True)
    odm = context.meta.get(__name__) if context else None
    trouble = odm.storage.trouble() if odm is not None and isinstance(error, Unavailable) else None
    return error.message if trouble is None else trouble.text


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows below their titles, in aligned columns, all of it printable."""
    shown = [[escaped(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown)
    return "\n".join(line.rstrip() for line in lines)


def show_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], as_json: bool) -> None:
    """Print rows as a `table` or, in JSON, as objects by the columns."""
    objects = [dict(zip(columns, row, strict=True)) for row in rows] if as_json else []
    click.echo(format_json(objects) if as_json else table(columns, rows))


def format_json(value: Any, indent: int | None = 2) -> str:
    """Return a value as JSON, in one line or several, all of it printable."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    lines = text.split("\n")  # These belong to the layout: JSON has escaped them in texts already.
    return text if all(map(str.isprintable, lines)) else "\n".join(map(_escaped_json, lines))


def _escaped_json(line: str) -> str:
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in line)


def has_terminal() -> bool:
    """Tell whether stderr is a terminal, on which a status line can change."""
    return sys.stderr.isatty()


def status_line(text: str) -> None:
    """Replace the status line on a terminal; an empty text removes it."""
    if has_terminal():
        width = shutil.get_terminal_size().columns - 1
        click.echo(f"\r\x1b[K{escaped(text)[:width]}", nl=False, err=True)


# -- what ends a command early: an error, Ctrl-C, SIGTERM


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
