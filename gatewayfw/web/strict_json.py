"""Strict JSON: from bytes to a value, within bounds.

This refuses what the usual readers accept: NaN and Infinity, numbers that fit no
64 bits, lone surrogates, a byte order mark, other encodings than UTF-8, nesting that ends in
a RecursionError. Of duplicate keys the last wins (our choice, as every JSON library does).
Messages name what is wrong, never a value that was sent.
"""

from __future__ import annotations

from itertools import accumulate, count
from operator import sub
from typing import Any

import orjson

from gatewayfw.errors import BadRequest
from gatewayfw.schemas.values import HIGHEST, LOWEST
from gatewayfw.settings import Settings
from gatewayfw.wire.json_text import without_texts

_BRACKETS_AS_STEPS = bytes.maketrans(b"[]{}", b"\2\0\2\0")
_NO_BRACKETS = bytes(set(range(256)).difference(b"[]{}"))
# Fewer digits fit 64 bits.
_LONG_NUMBER = b"0" * 19
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_BRACKETS_AS_COMMAS = bytes.maketrans(b"[]{}:", b",,,,,")


def parse(data: bytes, settings: Settings) -> Any:
    """Return the value that strict JSON in UTF-8 means.

    Raises:
        BadRequest: not UTF-8, not JSON, too deep, too many values, a key or a text that is too
            long, or a value that no document can hold: a number out of range, a lone
            surrogate, NUL in a key.
    """
    if not data:
        raise BadRequest("the request body is empty")
    # Counting bytes is almost free and shows for most bodies that they keep all limits.
    opening = data.count(b"[") + data.count(b"{")
    # Each value but the first has a comma of its own before it, or is the first in brackets, which are then not empty.
    values = 1 + opening - data.count(b"[]") - data.count(b"{}") + data.count(b",")
    if opening > settings.max_body_depth or values > settings.max_body_nodes:
        _check_structure(data, settings)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _malformed(data, error) from None
    if _LONG_NUMBER in data.translate(_DIGITS_AS_ZEROS):
        _check_integers(data)
    most = min(settings.max_body_key, settings.max_body_text)
    # No part is longer than the whole.
    is_short = len(data) <= most or _has_short_texts(data, most)
    if not is_short or values > settings.max_body_nodes or b"\\u0000" in data:
        _check_parts(value, settings)
    return value


def _malformed(data: bytes, error: orjson.JSONDecodeError) -> BadRequest:
    try:
        data.decode()
    except UnicodeDecodeError:
        return BadRequest("the request body is not UTF-8")
    return BadRequest(f"malformed JSON at line {error.lineno} column {error.colno}")


def _has_short_texts(data: bytes, most: int) -> bool:
    """Tell whether all keys and texts are short, and none holds an escape."""
    return b"\\" not in data and max(map(len, data.split(b'"'))) <= most


def _check_integers(data: bytes) -> None:
    """Refuse integers beyond 64 bits."""
    # orjson 3.13 takes them: up to 2**64-1 as they are, others as floats.
    bare = without_texts(data)
    if _LONG_NUMBER not in bare.translate(_DIGITS_AS_ZEROS):  # an id has many digits, too
        return
    for part in bare.translate(_BRACKETS_AS_COMMAS).split(b","):
        if len(part) >= len(_LONG_NUMBER) and part.removeprefix(b"-").isdigit() and not LOWEST <= int(part) <= HIGHEST:
            raise BadRequest("the request body holds an integer that does not fit 64 bits")


def _check_structure(data: bytes, settings: Settings) -> None:
    """Refuse deep nesting, and most excess values, before the recursive parser."""
    # A text has two quotes, and at most every second text is a key: an almost free lower bound.
    if (data.count(b'"') - data.count(b'\\"')) // 4 > settings.max_body_nodes:
        raise _too_many(settings.max_body_nodes)
    bare = without_texts(data)
    if max(bare.count(b"[") + bare.count(b"{"), bare.count(b",") + 1) > settings.max_body_nodes:
        raise _too_many(settings.max_body_nodes)
    _check_depth(bare, settings.max_body_depth)


def _check_depth(bare: bytes, limit: int) -> None:
    # An opening bracket is 2, a closing one 0: at each place the depth is the sum less the count of both.
    # After a closing bracket too many it is too low, but the parser gets no further either.
    brackets = bare.translate(_BRACKETS_AS_STEPS, _NO_BRACKETS)
    if max(map(sub, accumulate(brackets), count(1)), default=0) > limit:
        raise BadRequest(f"the request body is nested deeper than {limit} levels")


def _check_parts(value: Any, settings: Settings) -> None:
    """Limit the number of values and all lengths; refuse NUL in a key."""
    limit, seen = settings.max_body_nodes, 0
    keys: set[str] = set()
    rest = [value]
    while rest:
        node = rest.pop()
        seen += 1
        if seen + len(rest) > limit:
            raise _too_many(limit)
        kind = type(node)  # The parser makes exactly these; `is` keeps the walk fast.
        if kind is list:
            rest.extend(node)
        elif kind is dict:
            keys.update(node)
            rest.extend(node.values())
        elif kind is str and len(node) > settings.max_body_text:
            raise BadRequest(f"a text of the request body is longer than {settings.max_body_text} characters")
    if max(map(len, keys), default=0) > settings.max_body_key:
        raise BadRequest(f"a key of the request body is longer than {settings.max_body_key} characters")
    if "\0" in "".join(keys):
        raise BadRequest("a key of the request body holds NUL")


def _too_many(limit: int) -> BadRequest:
    return BadRequest(f"the request body holds more than {limit} values")
