"""The strict reader: from the bytes of a request to a checked body.

What the usual readers let through is refused here: NaN and Infinity, numbers that fit no
64 bits, lone surrogates, a byte order mark, other encodings than UTF-8, nesting that ends in
a RecursionError. Of duplicate keys the last wins (our choice, as every JSON library does).
Messages name what is wrong and where the rule comes from, never a value that was sent.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, NoReturn

from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge

from gatewayfw.errors import BadRequest, TooLarge, UnsupportedMediaType
from gatewayfw.settings import Settings

MAIN_SERVICE = "main"

_MEDIA_TYPE = re.compile(r'application/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?;?[ \t]*', re.IGNORECASE)
# Every alternative matches without stepping back, so that the scan is linear for any input:
# a string that never ends is matched up to the end of the text.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_INT64 = range(-(2**63), 2**63)
_INT64_DIGITS = 20
_CHUNK = 64 * 1024


def read_body(request: Request, settings: Settings) -> dict[str, Any]:
    """Return the checked body of a request: `service`, `model`, `act` and `details`.

    Raises:
        UnsupportedMediaType: not plain `application/json` in UTF-8, or a content encoding.
        TooLarge: more bytes than the lower one of the host's limit and ours.
        BadRequest: anything else that is wrong with it.
    """
    if not _MEDIA_TYPE.fullmatch(request.headers.get("Content-Type", "")):
        raise UnsupportedMediaType("unsupported media type: send application/json in UTF-8")
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("unsupported content encoding: send the body as it is")
    return check_request(parse(_read(request, settings.max_body_bytes), settings))


def parse(data: bytes, settings: Settings) -> Any:
    """Return the value that strict JSON in UTF-8 means.

    Raises:
        BadRequest: not UTF-8, not JSON, too deep, too many values, or a value that no
            document can hold: a number out of range, a lone surrogate, NUL in a key.
    """
    if not data:
        raise BadRequest("the request body is empty")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadRequest("the request body is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise BadRequest("the request body starts with a byte order mark")
    _check_depth(text, settings.max_body_depth)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadRequest(f"malformed JSON at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise _too_deep(settings.max_body_depth) from None
    # Only an escape can bring a surrogate or a NUL into text that was valid UTF-8 and JSON.
    _check_values(value, settings.max_body_nodes, strings="\\u" in text)
    return value


def check_request(value: Any) -> dict[str, Any]:
    """Return a request body with its four keys, `service` filled in; other keys are ignored.

    Source: contract, "Request body". Empty names are refused, our choice.

    Raises:
        BadRequest: a key is missing, unknown within `details`, or of the wrong type.
    """
    if not isinstance(value, dict):
        raise BadRequest("the request body must be an object")
    service = value.get("service")
    details = value.get("details")
    body = {
        "service": MAIN_SERVICE if service is None else _name("service", service),
        "model": _name("model", value.get("model")),
        "act": _name("act", value.get("act")),
        "details": details,
    }
    if not isinstance(details, dict):
        raise BadRequest("details must be an object with set and get")
    for key in ("set", "get"):
        if not isinstance(details.get(key), dict):
            raise BadRequest(f"details.{key} must be an object")
    if len(details) > 2:
        raise BadRequest("details must hold set and get only")
    return body


def _name(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{key} must be a string that is not empty")
    return value


def _read(request: Request, limit: int) -> bytes:
    """Return the bytes of the body, never reading more than one block beyond ``limit``.

    `request.max_content_length` is left alone: to set it would raise a host's lower limit.
    """
    length = request.content_length
    if (length or 0) > limit:
        raise _too_large()
    try:
        # `get_data` is bounded by the length, and knows the body that a host's hook has read before.
        data = (b"" if length is not None else _chunked(request, limit)) or request.get_data()
    except RequestEntityTooLarge:
        raise _too_large() from None
    except Exception:
        # The client left, or a chunk is malformed. Each server raises a class of its own for it:
        # werkzeug 3.1 OSError, gunicorn 27 an Exception that it does not export.
        raise _unreadable() from None
    if len(data) > limit:
        raise _too_large()
    if length is not None and 0 < len(data) < length:  # Gunicorn 27 says nothing when the client left.
        raise _unreadable()
    return data


def _chunked(request: Request, limit: int) -> bytes:
    """Return a body without a length, one block beyond the limit at most."""
    data = bytearray()
    while len(data) <= limit and (block := request.stream.read(min(_CHUNK, limit + 1))):
        data += block
    return bytes(data)


def _too_large() -> TooLarge:
    return TooLarge("the request body is too large")


def _unreadable() -> BadRequest:
    return BadRequest("the request body could not be read")


def _too_deep(limit: int) -> BadRequest:
    return BadRequest(f"the request body is nested deeper than {limit} levels")


def _check_depth(text: str, limit: int) -> None:
    """Refuse deep nesting before the parser, which is recursive, sees it."""
    if text.count("[") + text.count("{") <= limit:
        return
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match.group()
        if token in ("[", "{"):
            depth += 1
            if depth > limit:
                raise _too_deep(limit)
        elif token in ("]", "}"):
            depth -= 1


def _check_values(value: Any, limit: int, *, strings: bool) -> None:
    """Bound the number of values; with ``strings``, look into every key and text as well."""
    count = 0
    rest = [value]
    while rest:
        node = rest.pop()
        count += 1
        if count + len(rest) > limit:
            raise BadRequest(f"the request body holds more than {limit} values")
        if isinstance(node, list):
            rest.extend(node)
        elif isinstance(node, dict):
            if strings:
                _check_keys(node)
            rest.extend(node.values())
        elif strings and isinstance(node, str):
            _check_text(node)


def _check_keys(node: dict[str, Any]) -> None:
    for key in node:
        _check_text(key)
        if "\0" in key:
            raise BadRequest("a key of the request body holds NUL")


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadRequest("the request body holds a lone surrogate") from None


def _integer(text: str) -> int:
    # The length is asked first: to convert thousands of digits is slow, or a ValueError.
    if len(text) > _INT64_DIGITS or (value := int(text)) not in _INT64:
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
