"""Strict JSON: from bytes to a value, within bounds.

This refuses what the usual readers accept: NaN and Infinity, numbers that fit no
64 bits, lone surrogates, a byte order mark, other encodings than UTF-8, nesting that ends in
a RecursionError. Of duplicate keys the last wins (our choice, as every JSON library does).
Messages name what is wrong, never a value that was sent.
"""

from __future__ import annotations

import json
from itertools import accumulate, count
from math import isfinite
from operator import sub
from typing import Any, NoReturn

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
_INT64_DIGITS = 20
_UNREAD = object()


def parse(data: bytes, settings: Settings) -> Any:
    """Return the value that strict JSON in UTF-8 means.

    Raises:
        BadRequest: not UTF-8, not JSON, too deep, too many values, a key or a text that is too
            long, or a value that no document can hold: a number out of range, a lone
            surrogate, NUL in a key.
    """
    text = _decode(data)
    # Counting bytes is almost free and shows for most bodies that they keep all limits.
    opening = data.count(b"[") + data.count(b"{")
    # Each value but the first has a comma of its own before it, or is the first in brackets, which are then not empty.
    values = 1 + opening - data.count(b"[]") - data.count(b"{}") + data.count(b",")
    if opening > settings.max_body_depth or values > settings.max_body_nodes:
        _check_structure(data, settings)
    value = _quickly(data)
    if value is _UNREAD:
        value = _strictly(text, settings)
    most = min(settings.max_body_key, settings.max_body_text)
    # No part is longer than the whole; in valid UTF-8 and JSON only an escape can give a surrogate or NUL.
    is_plain = "\\u" not in text if len(text) <= most else _has_short_texts(text, most)
    if not is_plain or values > settings.max_body_nodes:
        _check_parts(value, text, settings)
    return value


def _decode(data: bytes) -> str:
    if not data:
        raise BadRequest("the request body is empty")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadRequest("the request body is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise BadRequest("the request body starts with a byte order mark")
    return text


def _has_short_texts(text: str, most: int) -> bool:
    """Tell whether all keys and texts are short, and none holds an escape."""
    return "\\" not in text and max(map(len, text.split('"'))) <= most


def _check_parts(value: Any, text: str, settings: Settings) -> None:
    """Limit the number of values, and check keys and texts."""
    escaped, longest = "\\u" in text, settings.max_body_key
    keys = _check_values(value, settings, texts=escaped or len(text) > settings.max_body_text)
    if len(text) > longest and max(map(len, keys), default=0) > longest:
        raise BadRequest(f"a key of the request body is longer than {longest} characters")
    if escaped:
        _check_keys("\n".join(keys))


def _too_deep(limit: int) -> BadRequest:
    return BadRequest(f"the request body is nested deeper than {limit} levels")


def _too_many(limit: int) -> BadRequest:
    return BadRequest(f"the request body holds more than {limit} values")


def _quickly(data: bytes) -> Any:
    """Return what orjson reads, or `_UNREAD`; then `_strictly` finds the mistake.

    It ends at 1,024 levels, so that none has to be refused before. orjson 3.13 takes integers
    beyond 64 bits, as a float or up to 2**64-1: they are looked for in the text.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _UNREAD
    if _LONG_NUMBER in data.translate(_DIGITS_AS_ZEROS):
        bare = without_texts(data)
        if _LONG_NUMBER in bare.translate(_DIGITS_AS_ZEROS):  # an id has many digits, too
            for part in bare.translate(_BRACKETS_AS_COMMAS).split(b","):
                if len(part) >= len(_LONG_NUMBER) and part.removeprefix(b"-").isdigit():
                    _integer(part)
    return value


def _strictly(text: str, settings: Settings) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadRequest(f"malformed JSON at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise _too_deep(settings.max_body_depth) from None


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
        raise _too_deep(limit)


def _check_values(value: Any, settings: Settings, *, texts: bool) -> set[str]:
    """Limit the number of values, check texts, and return all keys.

    It checks texts only if ``texts`` is true.
    """
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
        elif texts and kind is str:
            _check_text(node, settings.max_body_text)
    return keys


def _check_keys(keys: str) -> None:
    _check_encodable(keys)
    if "\0" in keys:
        raise BadRequest("a key of the request body holds NUL")


def _check_text(text: str, limit: int) -> None:
    if len(text) > limit:
        raise BadRequest(f"a text of the request body is longer than {limit} characters")
    _check_encodable(text)


def _check_encodable(text: str) -> None:
    if text.isascii():  # Known without reading the characters.
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest("the request body holds a lone surrogate") from None


def _integer(text: str | bytes) -> int:
    # Check the length first: converting thousands of digits is slow, or raises a ValueError.
    if len(text) > _INT64_DIGITS or not LOWEST <= (value := int(text)) <= HIGHEST:
        raise BadRequest("the request body holds an integer that does not fit 64 bits")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise BadRequest("the request body holds a number that is too large")
    return value


def _constant(_text: str) -> NoReturn:
    raise BadRequest("the request body holds NaN or Infinity, which is not JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_constant)
