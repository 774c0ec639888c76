"""Strict JSON as text: written, read, and looked at before it is read."""

import json
from typing import Any, NoReturn

#: Most values of a reply, counted by commas and brackets. 10 MB of "[]," would take seconds and 200 MB to parse, and no
#: other thread runs meanwhile.
MAX_VALUES = 500_000


def encode(value: Any, /) -> bytes:
    """Return a value as strict JSON in UTF-8.

    Raises:
        TypeError: a value JSON has no form for.
        ValueError: NaN, an infinite number, or text that has no UTF-8 form.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def decode(data: bytes) -> Any:
    """Return what JSON in UTF-8 means; None if it is not strict."""
    try:
        return json.loads(data.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def holds_too_many(data: bytes) -> bool:
    """Tell whether JSON may hold more than `MAX_VALUES` values."""
    return _marks(data) > MAX_VALUES and _marks(without_texts(data)) > MAX_VALUES


def without_texts(data: bytes) -> bytes:
    """Return JSON without strings and spaces.

    For invalid JSON the result is correct up to the first mistake.
    """
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2]).translate(None, b" \t\r\n")


def _marks(data: bytes) -> int:
    return sum(data.count(mark) for mark in (b",", b"[", b"{"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
