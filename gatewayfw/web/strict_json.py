"""Strict JSON: the values of a body, within the limits of the settings.

It refuses what the usual readers accept: NaN and Infinity, numbers that fit no 64 bits, lone surrogates, a byte order
mark, other encodings than UTF-8, nesting that ends in a RecursionError. Of duplicate keys the last wins (our choice, as
every JSON library does). Messages name what is wrong and where the rule comes from, never a value that was sent.
"""

from itertools import accumulate, count
from operator import sub
from typing import Any

import orjson

from gatewayfw import messages
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
        raise BadRequest(messages.EMPTY_BODY)
    # Counting bytes is almost free and shows for most bodies that they keep all limits.
    size, opening = len(data), data.count(b"[") + data.count(b"{")
    # No body has more values than bytes. Each value but the first has a comma of its own before it, or is the first in
    # brackets, which are then not empty.
    if (values := size) > settings.max_body_nodes:
        values = 1 + opening - data.count(b"[]") - data.count(b"{}") + data.count(b",")
    if opening > settings.max_body_depth or values > settings.max_body_nodes:
        _check_structure(data, settings)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _malformed(data, error) from None
    if _holds(data.translate(_DIGITS_AS_ZEROS), _LONG_NUMBER):
        _check_integers(data)
    has_escapes = _holds(data, b"\\")
    # No part is longer than the whole; without escapes, what stands between two quotes is a whole part.
    if (longest := size) > settings.max_body_key and not has_escapes:
        longest = max(map(len, data.split(b'"')))
    is_short = longest <= settings.max_body_key and longest <= settings.max_body_text
    if not is_short or values > settings.max_body_nodes or (has_escapes and _holds(data, b"\\u0000")):
        _check_parts(value, settings)
    return value


def _holds(data: bytes, part: bytes) -> bool:
    # `in` tries to take the part for a number first, which costs as much as all else here (Python 3.11).
    return data.find(part) >= 0


def _malformed(data: bytes, error: orjson.JSONDecodeError) -> BadRequest:
    try:
        data.decode()
    except UnicodeDecodeError:
        return BadRequest(messages.NO_UTF8)
    return BadRequest(messages.MALFORMED_JSON.format(line=error.lineno, column=error.colno))


def _check_integers(data: bytes) -> None:
    """Refuse integers beyond 64 bits."""
    # orjson 3.13 takes them: up to 2**64-1 as they are, others as floats.
    bare = without_texts(data)
    if not _holds(bare.translate(_DIGITS_AS_ZEROS), _LONG_NUMBER):  # an id has many digits, too
        return
    for part in bare.translate(_BRACKETS_AS_COMMAS).split(b","):
        if len(part) >= len(_LONG_NUMBER) and part.removeprefix(b"-").isdigit() and not LOWEST <= int(part) <= HIGHEST:
            raise BadRequest(messages.LONG_INTEGER)


def _check_structure(data: bytes, settings: Settings) -> None:
    """Refuse deep nesting, and most excess values, before the recursive parser."""
    # A text has two quotes, and at most every second text is a key: an almost free lower bound.
    if (data.count(b'"') - data.count(b'\\"')) // 4 > settings.max_body_nodes:
        raise _too_many(settings.max_body_nodes)
    bare = without_texts(data)
    if max(bare.count(b"[") + bare.count(b"{"), bare.count(b",") + 1) > settings.max_body_nodes:
        raise _too_many(settings.max_body_nodes)
    # An opening bracket is 2, a closing one 0: at each place the depth is the sum less the count of both.
    # After a closing bracket too many it is too low, but the parser gets no further either.
    brackets = bare.translate(_BRACKETS_AS_STEPS, _NO_BRACKETS)
    if max(map(sub, accumulate(brackets), count(1)), default=0) > settings.max_body_depth:
        raise BadRequest(messages.BODY_TOO_DEEP.format(max=settings.max_body_depth))


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
            raise BadRequest(messages.LONG_TEXT_IN_BODY.format(max=settings.max_body_text))
    if max(map(len, keys), default=0) > settings.max_body_key:
        raise BadRequest(messages.LONG_KEY_IN_BODY.format(max=settings.max_body_key))
    if "\0" in "".join(keys):
        raise BadRequest(messages.NUL_IN_KEY)


def _too_many(limit: int) -> BadRequest:
    return BadRequest(messages.TOO_MANY_VALUES.format(max=limit))
