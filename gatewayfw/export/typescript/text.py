"""TypeScript as text: literals, names, comments, object types."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import indent

from gatewayfw.export.text import printable

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
#: The longest object that stands in one line.
_SHORT = 80


@dataclass(frozen=True)
class TypeMember:
    """One key of an object type."""

    name: str
    type: str
    optional: bool = False
    comment: str = ""


def literal(value: object) -> str:
    """Return a literal of a string, number or boolean.

    ``number`` for a number that JSON has no word for.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "number"
    return json.dumps(value, ensure_ascii=not str(value).isprintable())


def union(literals: Iterable[object]) -> str:
    """Return the union of some literals, each once; ``never`` for none."""
    return " | ".join(dict.fromkeys(map(literal, literals))) or "never"


def comment(text: str) -> str:
    """Return text as a JSDoc comment that ends its line; nothing for no text."""
    lines = [printable(line).rstrip() for line in text.strip().replace("*/", "*\\/").splitlines()]
    if len(lines) < 2:
        return f"/** {lines[0]} */\n" if lines else ""
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def block(members: Iterable[TypeMember]) -> str:
    """Return an object type, in one line where it is short and has no comments."""
    listed = list(members)
    if not listed:
        return "{}"
    parts = [f"{key(one.name)}{'?' if one.optional else ''}: {one.type}" for one in listed]
    line = f"{{ {'; '.join(parts)} }}"
    if len(line) <= _SHORT and "\n" not in line and not any(one.comment for one in listed):
        return line
    rows = [f"{comment(one.comment)}{part};\n" for one, part in zip(listed, parts, strict=True)]
    return "{\n" + indent("".join(rows), "  ") + "}"


def key(name: str) -> str:
    """Return a name as the key of an object."""
    return name if _IDENTIFIER.fullmatch(name) else literal(name)
