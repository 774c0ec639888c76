"""What commands print: tables and JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from typing import Any

import click


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows below their titles, the columns aligned."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows))
    return "\n".join(line.rstrip() for line in lines)


def dumped(value: Any) -> str:
    """Return a value as JSON over several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def status_line(text: str) -> None:
    """Show a line on the terminal of stderr in place of the one before; an empty text takes it away."""
    width = shutil.get_terminal_size().columns - 1
    click.echo(f"\r\x1b[K{text[:width]}", nl=False, err=True)
