"""The reader: from a request to its checked body."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from flask import Request
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from gatewayfw import messages
from gatewayfw.errors import BadRequest, TooLarge, UnsupportedMediaType
from gatewayfw.settings import Settings
from gatewayfw.spelling import MAIN
from gatewayfw.web.flask_request import LazyRequest
from gatewayfw.web.slow_bodies import CHUNK, Patience
from gatewayfw.web.strict_json import parse

#: JSON in UTF-8.
MEDIA_TYPE = re.compile(r'application/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?;?[ \t]*', re.IGNORECASE)
#: Other classes, a host's, may read a body in their own way.
_READ_AS_FLASK_DOES = (Request, LazyRequest)


def read_body(request: Request, settings: Settings) -> dict[str, Any]:
    """Return the checked body of a request: `service`, `model`, `act` and `details`.

    A body with the key `batch` is returned as it came, for `gatewayfw.web.batch`.

    Raises:
        UnsupportedMediaType: not plain `application/json` in UTF-8, or a content encoding.
        TooLarge: more bytes than the lower of the host app's limit and ours.
        BadRequest: anything else is wrong with it.
    """
    media_type = request.environ.get("CONTENT_TYPE", "")
    if media_type != "application/json" and not MEDIA_TYPE.fullmatch(media_type):
        raise UnsupportedMediaType(messages.NO_JSON_TYPE)
    check_encoding(request.environ)
    value = parse(_read(request, settings.max_body_bytes), settings)
    return value if type(value) is dict and "batch" in value else check_request(value)


def check_encoding(environ: Mapping[str, Any]) -> None:
    """Refuse a request whose body is compressed.

    Raises:
        UnsupportedMediaType: a content encoding.
    """
    given = environ.get("HTTP_CONTENT_ENCODING")
    if given and given.strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType(messages.ENCODED_BODY)


def check_request(value: Any) -> dict[str, Any]:
    """Return a body's four keys, `service` filled in; others are ignored.

    Source: specification 2; that empty names are refused is our choice.

    Raises:
        BadRequest: a key is missing, unknown within `details`, or of the wrong type.
    """
    if not isinstance(value, dict):
        raise BadRequest(messages.NO_BODY_OBJECT)
    service, details = value.get("service"), value.get("details")
    body = {
        "service": MAIN if service is None else _name("service", service),
        "model": _name("model", value.get("model")),
        "act": _name("act", value.get("act")),
        "details": details,
    }
    if not isinstance(details, dict):
        raise BadRequest(messages.NO_DETAILS)
    for key in ("set", "get"):
        if not isinstance(details.get(key), dict):
            raise BadRequest(messages.NO_PART_OF_DETAILS.format(key=key))
    if len(details) > 2:
        raise BadRequest(messages.OTHERS_IN_DETAILS)
    return body


def discard_body(request: Request, settings: Settings) -> None:
    """Read the body of a request that nobody else reads: see `Patience.discard`."""
    environ = request.environ
    length = find_length(environ) or 0
    if length > max(settings.max_body_bytes, settings.max_upload_bytes):
        return
    if length and "stream" not in request.__dict__ and not isinstance(environ["wsgi.input"], BytesIO):
        with Patience(environ) as patience:
            patience.discard(request, length)


def _name(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadRequest(messages.NO_NAME.format(key=key))
    return value


def find_length(environ: Mapping[str, Any]) -> int | None:
    """Return how many bytes a body is announced to have; None if it comes in chunks.

    That is 0 where it is no number, as with werkzeug's `get_content_length`, which takes twice as long.
    """
    given: str | None = environ.get("CONTENT_LENGTH")
    if given is None or "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return None
    try:
        return int(given) if given.strip().isdecimal() else 0
    except ValueError:  # more digits than Python reads
        return 0


def _read(request: Request, limit: int) -> bytes:
    """Return the bytes of the body, reading at most one byte beyond ``limit``.

    `request.max_content_length` is left alone: to set it would raise a host's lower limit.
    """
    length = find_length(request.environ)
    if length is not None and length > limit:
        raise TooLarge(messages.BODY_TOO_LARGE)
    try:
        if length and "stream" not in request.__dict__ and type(request) in _READ_AS_FLASK_DOES:
            return _whole(request, length)
        # `get_data` is bounded by the length, and knows the body that a host's hook has read before.
        data = (b"" if length is not None else _chunked(request, limit)) or request.get_data()
    except RequestEntityTooLarge:
        raise TooLarge(messages.BODY_TOO_LARGE) from None
    except Exception:
        # The client left, or a chunk is malformed. Each server raises a class of its own for it:
        # werkzeug 3.1 OSError, gunicorn 27 an Exception that it does not export.
        raise BadRequest(messages.UNREADABLE_BODY) from None
    if len(data) > limit:
        raise TooLarge(messages.BODY_TOO_LARGE)
    if length is not None and 0 < len(data) < length:  # Gunicorn 27 says nothing when the client left.
        raise BadRequest(messages.UNREADABLE_BODY)
    return data


def _whole(request: Request, length: int) -> bytes:
    """Return a body that nobody has read, and keep it readable for later callers.

    werkzeug's streams take 10 us more.
    """
    most = request.max_content_length
    if most is not None and length > most:
        raise RequestEntityTooLarge
    environ = request.environ
    stream = environ["wsgi.input"]
    data: bytes = stream.read(length)
    while (missing := length - len(data)) > 0:
        block = stream.read(missing)
        if not block:
            raise ClientDisconnected
        data += block
    environ["wsgi.input"] = BytesIO(data)
    return data


def _chunked(request: Request, limit: int) -> bytes:
    """Return a body without a length, one byte beyond the limit at most."""
    data = bytearray()
    while len(data) <= limit and (block := request.stream.read(min(CHUNK, limit + 1 - len(data)))):
        data += block
    return bytes(data)
