"""The reader: from a request to its checked body.

Messages name what is wrong and where the rule comes from, never a value that was sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from flask import Request
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.wsgi import get_content_length

from gatewayfw.errors import BadRequest, TooLarge, UnsupportedMediaType
from gatewayfw.settings import Settings
from gatewayfw.spelling import MAIN
from gatewayfw.web.patience import Patience
from gatewayfw.web.strict_json import parse

#: JSON in UTF-8.
MEDIA_TYPE = re.compile(r'application/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?;?[ \t]*', re.IGNORECASE)
_CHUNK = 64 * 1024


def read_body(request: Request, settings: Settings) -> dict[str, Any]:
    """Return the checked body of a request: `service`, `model`, `act` and `details`.

    A body with the key `batch` is returned as it came, for `gatewayfw.web.batch`.

    Raises:
        UnsupportedMediaType: not plain `application/json` in UTF-8, or a content encoding.
        TooLarge: more bytes than the lower of the host app's limit and ours.
        BadRequest: anything else is wrong with it.
    """
    check_media_type(request.environ)
    value = parse(_read(request, settings.max_body_bytes), settings)
    return value if type(value) is dict and "batch" in value else check_request(value)


def check_media_type(environ: Mapping[str, Any]) -> None:
    """Refuse a request that does not declare plain JSON in UTF-8.

    Raises:
        UnsupportedMediaType: not `application/json` in UTF-8, or a content encoding.
    """
    media_type = environ.get("CONTENT_TYPE", "")
    if media_type != "application/json" and not MEDIA_TYPE.fullmatch(media_type):
        raise UnsupportedMediaType("unsupported media type: send application/json in UTF-8")
    check_encoding(environ)


def check_encoding(environ: Mapping[str, Any]) -> None:
    """Refuse a request whose body is compressed.

    Raises:
        UnsupportedMediaType: a content encoding.
    """
    if environ.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("unsupported content encoding: send the body as it is")


def check_request(value: Any) -> dict[str, Any]:
    """Return a body's four keys, `service` filled in; others are ignored.

    Source: specification 2; that empty names are refused is our choice.

    Raises:
        BadRequest: a key is missing, unknown within `details`, or of the wrong type.
    """
    if not isinstance(value, dict):
        raise BadRequest("the request body must be an object")
    service = value.get("service")
    details = value.get("details")
    body = {
        "service": MAIN if service is None else _name("service", service),
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


def discard_body(request: Request, settings: Settings) -> None:
    """Read the body of a request that nobody else reads: see `Patience.discard`."""
    environ = request.environ
    length = get_content_length(environ) or 0
    if length > max(settings.max_body_bytes, settings.max_upload_bytes):
        return
    if length and "stream" not in request.__dict__ and not isinstance(environ["wsgi.input"], BytesIO):
        with Patience(environ) as patience:
            patience.discard(request, length)


def _name(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{key} must be a string that is not empty")
    return value


def _read(request: Request, limit: int) -> bytes:
    """Return the bytes of the body, reading at most one byte beyond ``limit``.

    `request.max_content_length` is left alone: to set it would raise a host's lower limit.
    """
    length = get_content_length(request.environ)
    if length is not None and length > limit:
        raise too_large()
    try:
        if length and "stream" not in vars(request) and type(request) is Request:
            data = _whole(request, length)
        else:
            # `get_data` is bounded by the length, and knows the body that a host's hook has read before.
            data = (b"" if length is not None else _chunked(request, limit)) or request.get_data()
    except RequestEntityTooLarge:
        raise too_large() from None
    except Exception:
        # The client left, or a chunk is malformed. Each server raises a class of its own for it:
        # werkzeug 3.1 OSError, gunicorn 27 an Exception that it does not export.
        raise unreadable() from None
    if len(data) > limit:
        raise too_large()
    if length is not None and 0 < len(data) < length:  # Gunicorn 27 says nothing when the client left.
        raise unreadable()
    return data


def _whole(request: Request, length: int) -> bytes:
    """Return a body that nobody has read, and keep it readable for later callers.

    werkzeug's streams take 10 us more.
    """
    most = request.max_content_length
    if most is not None and length > most:
        raise RequestEntityTooLarge
    environ = request.environ
    stream, data = environ["wsgi.input"], b""
    while len(data) < length and (block := stream.read(length - len(data))):
        data += block
    if len(data) < length:
        raise ClientDisconnected
    environ["wsgi.input"] = BytesIO(data)
    return data


def _chunked(request: Request, limit: int) -> bytes:
    """Return a body without a length, one byte beyond the limit at most."""
    data = bytearray()
    while len(data) <= limit and (block := request.stream.read(min(_CHUNK, limit + 1 - len(data)))):
        data += block
    return bytes(data)


def too_large() -> TooLarge:
    """Return the error for a body, or a request with files, of too many bytes."""
    return TooLarge("the request body is too large")


def unreadable() -> BadRequest:
    """Return the error for a body that did not arrive as it was announced."""
    return BadRequest("the request body could not be read")
