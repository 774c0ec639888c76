"""The page of all settings, made from their source: ``python -m tests.settings_page`` writes it."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path

from gatewayfw import settings
from gatewayfw.settings import Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
START = "<!-- generated from gatewayfw/settings.py by python -m tests.settings_page -->\n"
_TYPES = {
    "float": "seconds",
    "int": "whole number",
    "bool": "true or false",
    "bool | None": "true, false or unset",
    "str": "text",
    "tuple[str, ...]": "texts, separated by commas",
}


def comments():
    """What the comment above each setting says, by the setting's name."""
    lines = inspect.getsource(settings).splitlines()
    (found,) = [one for one in ast.parse("\n".join(lines)).body if getattr(one, "name", "") == "Settings"]
    texts = {}
    for statement in found.body:
        if isinstance(statement, ast.AnnAssign):
            above = []
            while (line := lines[statement.lineno - 2 - len(above)].strip()).startswith("#:"):
                above.append(line.removeprefix("#:").strip())
            texts[statement.target.id] = " ".join(reversed(above))
    return texts


def rows():
    """A row of the table for each setting."""
    texts = comments()
    for one in fields(Settings):
        yield f"| `{one.name}` | {_TYPES[str(one.type)]} | {shown(one.default)} | {texts[one.name]} |"


def shown(default):
    """A default as the page has it."""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(default)
    return "unset" if default in (None, "") else f"{default:g}" if isinstance(default, float) else str(default)


def table():
    """The generated part of the page."""
    head = "| Setting | Type | Default | Meaning |\n|---|---|---|---|\n"
    return START + head + "\n".join(rows()) + "\n"


def write():
    """Put the table of today into the page."""
    text = PAGE.read_text("utf-8")
    PAGE.write_text(re.sub(rf"{re.escape(START)}(?:\|.*\n)*", lambda _: table(), text), "utf-8")


if __name__ == "__main__":
    write()
