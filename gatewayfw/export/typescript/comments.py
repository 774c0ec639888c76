"""What the comments of the TypeScript say of fields, links and acts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gatewayfw.export.text import FROZEN, printable
from gatewayfw.schemas.kinds.base import Description

#: The words for bounds in the comment of a field.
_NOTES = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "places": "decimal places",
    "minBytes": "bytes at least",
    "maxBytes": "bytes at most",
    "minItems": "at least",
    "maxItems": "at most",
    "pattern": "pattern",
    "format": "format",
    "default": "default",
}


def comment(text: str) -> str:
    """Return text as a JSDoc comment that ends its line; nothing for no text."""
    lines = [printable(line).rstrip() for line in text.strip().replace("*/", "*\\/").splitlines()]
    if len(lines) < 2:
        return f"/** {lines[0]} */\n" if lines else ""
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def noted(kind: Description) -> str:
    """Return what a comment adds: whose id a field is, its bounds and default."""
    items = kind.get("items", {})
    ids = [f"id of {kind['of']}"] if "of" in kind else [f"ids of {items['of']}"] if "of" in items else []
    bounds = [f"{word} {json.dumps(kind[name], ensure_ascii=False)}" for name, word in _NOTES.items() if name in kind]
    whole = ["numbers must be whole"] if kind.get("whole") else []
    types = [" or ".join(kind["types"])] if kind.get("types") else []
    line = ", ".join([*types, *ids, *bounds, *whole])
    return line and f"{line if types else line[0].upper() + line[1:]}."


def said_of(link: Mapping[str, Any]) -> str:
    """Return the comment of a link: what it is the reverse of, its limit and order."""
    sort = link["sort"]
    of = f"reverse of {link['model']}.{link['of']}" if "of" in link else ""
    frozen = FROZEN if "frozen" in link else ""
    most = "" if link["limit"] is None else f"at most {link['limit']}"
    order = "" if sort is None else f"by {sort['field']} {sort['order']}ending"
    listed = "listed by default" if "default" in link else ""
    line = ", ".join(filter(None, [of, frozen, most, order, listed]))
    return line and f"{line[0].upper()}{line[1:]}."


def comment_on(act: Mapping[str, Any]) -> str:
    """Return the comment of an act: what it does, for whom, and its errors."""
    access = "For anyone." if act["access"] == "public" else ""
    roles = f"For the roles {', '.join(act['roles'])}." if act["roles"] else ""
    limit = f"At most {' and '.join(act['limit'])}." if act["limit"] else ""
    again = "May be repeated with a key." if act["idempotent"] else ""
    named = [f"{error['status']} {error['code']}" for error in act["errors"]]
    errors = f"Errors of its own: {', '.join(named)}." if named else ""
    last = " ".join(filter(None, [access, roles, limit, again, errors]))
    return "\n\n".join(filter(None, [act["description"], last]))
