"""A look at JSON text before it is parsed."""

from __future__ import annotations


def without_texts(data: bytes) -> bytes:
    """Return JSON without strings and spaces.

    For invalid JSON the result is correct up to the first mistake.
    """
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2]).translate(None, b" \t\r\n")
