"""What commands print: tables and JSON.

Texts of documents and of their ids are anybody's. A terminal shows them without its own control
characters and without those that turn the direction of writing: both are written out.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from typing import Any

import click

from gatewayfw.logs import escaped


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows below their titles, in aligned columns.

    What cannot be printed is written out.
    """
    shown = [[escaped(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown)
    return "\n".join(line.rstrip() for line in lines)


def dumped(value: Any, indent: int | None = 2) -> str:
    """Return a value as JSON, in one line or several, all of it printable."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    lines = text.split("\n")  # Those of the layout: in texts they are escaped already.
    return text if all(map(str.isprintable, lines)) else "\n".join(map(_escaped_json, lines))


def _escaped_json(line: str) -> str:
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in line)


def status_line(text: str) -> None:
    """Replace the line on the terminal of stderr; an empty text takes it away."""
    width = shutil.get_terminal_size().columns - 1
    click.echo(f"\r\x1b[K{escaped(text)[:width]}", nl=False, err=True)
