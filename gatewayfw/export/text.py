"""What all exports share: a catalog's hash, a file's first line, some words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: What is said of frozen copies.
FROZEN = "as it was when it was related"


def digest(catalog: Mapping[str, Any]) -> str:
    """Return the first 16 hexadecimal digits of a catalog's SHA-256.

    It is that of its JSON, the order of keys included.
    """
    text = json.dumps(catalog, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def printable(text: str) -> str:
    """Return a line with a space for each hidden or direction-changing character."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def header(catalog: Mapping[str, Any]) -> str:
    """Return the text that opens each export, without the marks of a comment."""
    return f"gatewayfw {digest(catalog)}: generated; do not edit"
