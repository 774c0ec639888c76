"""The reader: from a request to its checked body, which is strict JSON.

It refuses what the usual readers accept: NaN and Infinity, numbers that fit no 64 bits, lone surrogates, a byte order
mark, other encodings than UTF-8, nesting that ends in a RecursionError. Of duplicate keys the last wins (our choice, as
every JSON library does). Messages name what is wrong and where the rule comes from, never a value that was sent.
"""

import re
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from itertools import accumulate, count
from operator import sub
from typing import IO, Any, Self, final

import orjson
from flask import Request
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from gatewayfw import messages
from gatewayfw.errors import BadRequest, TooLarge, UnsupportedMediaType
from gatewayfw.schemas.values import HIGHEST, LOWEST
from gatewayfw.settings import Settings
from gatewayfw.spelling import MAIN
from gatewayfw.web.flask_request import LazyRequest
from gatewayfw.wire.json_text import without_texts

#: JSON in UTF-8.
MEDIA_TYPE = re.compile(r'application/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?;?[ \t]*', re.IGNORECASE)
_CHUNK = 64 * 1024
#: Other classes, a host's, may read a body in their own way.
_READ_AS_FLASK_DOES = (Request, LazyRequest)
_BRACKETS_AS_STEPS = bytes.maketrans(b"[]{}", b"\2\0\2\0")
_NO_BRACKETS = bytes(set(range(256)).difference(b"[]{}"))
# Fewer digits fit 64 bits.
_LONG_NUMBER = b"0" * 19
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_BRACKETS_AS_COMMAS = bytes.maketrans(b"[]{}:", b",,,,,")


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
    while len(data) <= limit and (block := request.stream.read(min(_CHUNK, limit + 1 - len(data)))):
        data += block
    return bytes(data)


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


# -- how long a client may take to send a body: by the bytes that arrived

#: Seconds that a body may take, and the bytes that earn one second more. Our choice: a slow phone sends twice as much.
SECONDS, EARNS = 20.0, 8 * 1024
#: Bytes that are read at once.
CHUNK = 64 * 1024
#: The keys under which servers give the socket of the request.
_SOCKETS = ("gunicorn.socket", "werkzeug.socket")
#: Bytes of a read that nobody can end: a server waits for all of them.
_STEP = 1024


@final
class Patience:
    """The time for one body; used inside ``with`` while it is read.

    It has `SECONDS`, and one more for each `EARNS` bytes that arrived; only the time in `read` counts. A server waits
    until all bytes of a read are there. So the connection is cut when the time is over, as far as the server gives its
    socket; else little is read at once, and the time is looked at in between.
    """

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._socket = next((environ[key] for key in _SOCKETS if key in environ), None)
        self._count, self._spent = 0, 0.0
        self._since: float | None = None
        self._is_cut = False
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        if self._socket is not None:
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()

    def read(self, stream: IO[bytes]) -> bytes:
        """Return the next bytes, `CHUNK` at most; nothing at the end.

        Raises:
            BadRequest: the time is over.
        """
        size = _STEP if self._socket is None else CHUNK
        self._since = begun = time.monotonic()
        try:
            block = stream.read(size)
            self._count += len(block)
        finally:
            self._since = None
            self._spent += time.monotonic() - begun
            if self._is_cut or self._left() <= 0:
                raise BadRequest(messages.SLOW_BODY)
        return block

    def discard(self, request: Request, most: int) -> None:
        """Read what is left of an unwanted body, up to ``most`` bytes, while that works.

        A server closes a connection with such a rest. A proxy that is still sending it, or sends the next request on
        that connection, whoever's it is, then answers 502.
        """
        with suppress(Exception):
            while most > 0 and not self._is_cut and self._left() > 0 and (block := self.read(request.stream)):
                most -= len(block)

    def _left(self) -> float:
        since = self._since
        reading = 0.0 if since is None else time.monotonic() - since
        return SECONDS + self._count / EARNS - self._spent - reading

    def _watch(self) -> None:
        while not self._ended.wait(max(self._left(), 0.01)):
            if self._since is not None and self._left() <= 0:
                self._is_cut = True
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RD)  # type: ignore[arg-type]  # never None here
                return
