"""What commands print: tables, JSON and errors.

The texts of documents and ids may come from anybody. Control characters of the terminal and characters that change the
direction of writing are therefore escaped.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from gatewayfw.logs import escaped


class Failed(click.ClickException):
    """Ends a command with its message and exit status 1.

    Each line of the message is escaped: it may quote what the database or a service said.
    """

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(map(escaped, message.split("\n"))))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows below their titles, in aligned columns.

    Unprintable characters are escaped.
    """
    shown = [[escaped(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown)
    return "\n".join(line.rstrip() for line in lines)


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
    """Replace the status line on stderr's terminal; an empty text removes it."""
    width = shutil.get_terminal_size().columns - 1
    cursor = "" if text else "\x1b[?25h"  # click's progress bar hides it until its own end.
    click.echo(f"\r\x1b[K{cursor}{escaped(text)[:width]}", nl=False, err=True)
