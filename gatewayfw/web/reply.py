"""The envelope: results and errors as JSON, and the log of errors.

JSON: ids become hex strings, datetimes ISO 8601 in UTC with milliseconds and `Z` (a naive one
is UTC), UUIDs text, members of an enum their values, cursors and other iterators arrays, NaN
and Infinity null. Keys must be strings, and integers fit 64 bits, signed or unsigned; a set,
bytes, a dataclass (its fields may not all be meant to be read) or any other object is the act's mistake, not the
client's. All our choice.

Cursors and iterators are read and written piece by piece, so that only one piece is in memory besides the JSON, and
reading stops once the reply has too many bytes. A list that is the result is written in the same way, and so are lists
that are values in the result.
"""

from __future__ import annotations

import logging
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from itertools import islice
from types import CoroutineType
from typing import Any, Protocol, final

import marshmallow
import orjson
from bson import Binary, DatetimeMS, Decimal128, ObjectId
from bson.binary import UUID_SUBTYPE
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from gatewayfw.acts.lifecycle import LATER
from gatewayfw.batches import PIECE, Batched
from gatewayfw.errors import (
    DefinitionError,
    GatewayError,
    HttpError,
    ReplyTooLarge,
    StorageError,
    UsageError,
    ValidationError,
)
from gatewayfw.logs import traceback_of
from gatewayfw.schemas.paths import Collected, shown

logger = logging.getLogger("gatewayfw")
#: The logger of errors that Flask's signal tells of as well, see `gatewayfw.observe.sentry`.
UNEXPECTED = "gatewayfw.errors"

#: The content type of every reply of the gateway, exactly.
CONTENT_TYPE = "application/json"

_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
#: Where bson 4 keeps the 12 bytes of an id: to read them there takes half as long as `str`.
HAS_BYTES = hasattr(ObjectId(), "_ObjectId__id")
#: Types that are written in pieces although they are in memory: their JSON may be many times larger.
_LISTS = frozenset({list, tuple})
#: Values of a list up to which it is written whole: in pieces it takes a fifth longer.
_SHORT = 64
#: The result of `_plain` for an iterator.
_ITERATOR = object()
#: The deadline is checked after this many bytes of JSON; a piece should not have more.
_PIECE_BYTES = 256 * 1024
_PASSED_ON = ("Allow", "Retry-After", "WWW-Authenticate")


class NotJsonError(TypeError):
    """The result of an act has no JSON form; the message names its type only."""


class ReplyBounds(Protocol):
    """The limits on a reply: see `gatewayfw.acts.lifecycle.RequestBounds`."""

    reply_bytes: int | None

    def check(self) -> None:
        """Raise `Timeout` when no time is left."""


def dumps(value: Any) -> bytes:
    """Return a value as JSON; see the head of this module for what is converted.

    Raises:
        NotJsonError: the value holds something that has no JSON.
        DefinitionError: it holds what had to be awaited, such as the result of an async function.
    """
    return _Writing(None).dumps(value)


def success(value: Any, bounds: ReplyBounds | None = None) -> bytes:
    """Return the envelope of a result, within bounds.

    Source: specification 3.1.

    Raises:
        NotJsonError: the result holds something that has no JSON.
        ReplyTooLarge: its JSON has more bytes than ``bounds.reply_bytes``.
        Timeout: the deadline passed between two pieces of a cursor.
    """
    writing = _Writing(bounds)
    kind = type(value)
    if kind is dict:  # most by far
        body = writing.object(value)
    elif kind in _LISTS:
        body = writing.list(value)
    elif isinstance(value, Batched):
        body = writing.array(value)
    else:
        body = writing.dumps(value)
    if bounds is not None and bounds.reply_bytes is not None and len(body) > bounds.reply_bytes:
        raise ReplyTooLarge(bounds.reply_bytes)
    return b'{"body":' + body + b',"success":true}'


@final
class _Writing:
    """The writing of one body; ``_bytes`` counts the iterators written so far."""

    __slots__ = ("_bytes", "_bounds")

    def __init__(self, bounds: ReplyBounds | None) -> None:
        self._bounds = bounds
        self._bytes = 0

    def dumps(self, value: Any) -> bytes:
        try:
            # A method costs each id twice the time of a function, and most values hold no iterator.
            return orjson.dumps(value, default=_simple, option=_OPTIONS)
        except orjson.JSONEncodeError:
            return self._carefully(value)

    def _carefully(self, value: Any) -> bytes:
        """Write a value with iterators in it, or say why JSON cannot express it."""
        try:
            return orjson.dumps(value, default=self._plain, option=_OPTIONS)
        except orjson.JSONEncodeError as error:
            # orjson wraps whatever `_plain` raises, also a SystemExit or a timeout while a cursor is drained.
            if error.__cause__ is not None:
                raise error.__cause__ from None
            raise NotJsonError(f"the result of the act is not JSON: {error}") from None

    def _plain(self, value: Any) -> Any:
        if type(value) is ObjectId and HAS_BYTES:  # most by far
            return value._ObjectId__id.hex()  # type: ignore[attr-defined]  # a name of bson's own
        plain = _plain(value)
        return orjson.Fragment(self.array(value)) if plain is _ITERATOR else plain

    def object(self, value: Mapping[str, Any]) -> bytes:
        """Return an object whose lists are written piece by piece."""
        if _LISTS.isdisjoint(map(type, value.values())):
            return self.dumps(value)
        long = {key: one for key, one in value.items() if type(one) in _LISTS and len(one) > _SHORT}
        if not long:
            return self.dumps(value)
        return self.dumps({**value, **{key: orjson.Fragment(self.list(one)) for key, one in long.items()}})

    def list(self, values: Sequence[Any]) -> bytes:
        """Return the array of a list in memory, without checking the deadline."""
        if len(values) <= _SHORT:
            return self.dumps(values)
        most = None if self._bounds is None else self._bounds.reply_bytes
        parts, known, start, size = [], self._bytes + 1, 0, 1
        while piece := values[start : start + size]:
            data = self.dumps(piece)
            parts.append(data[1:-1])
            known = self._bytes = known + len(data) - 1
            if most is not None and known > most:
                raise ReplyTooLarge(most)
            start += size
            size = min(PIECE, size * _PIECE_BYTES // len(data) or 1)
        return b"[%b]" % b",".join(parts)

    def array(self, values: Iterable[Any]) -> bytes:
        """Return an iterable as an array; each piece is forgotten once written."""
        parts: list[bytes] = []
        known = self._bytes + 1
        # A database gives fewer values at once where they are large; of others it is seen when one is written.
        batches, size = (values.batches(), PIECE) if isinstance(values, Batched) else ((values,), 1)
        due = False
        for batch in batches:
            rest = iter(batch)
            while piece := list(islice(rest, size)):
                if due and self._bounds is not None:
                    self._bounds.check()
                data = self.dumps(piece)
                parts.append(data)
                # Iterators inside of the piece have counted themselves: now they are a part of it.
                known = self._bytes = known + len(data) - 1
                most = None if self._bounds is None else self._bounds.reply_bytes
                if most is not None and known > most:
                    raise ReplyTooLarge(most)
                due = len(piece) == PIECE or len(data) >= _PIECE_BYTES
                size = max(1, min(PIECE, len(piece) * _PIECE_BYTES // len(data)))
            due = True
        return parts[0] if len(parts) == 1 else b"[%b]" % b",".join([memoryview(part)[1:-1] for part in parts])


def failure(error: GatewayError, detail: bool, request_id: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and envelope of an error.

    See `client_error` for other exceptions.

    With ``detail`` the body holds `code`, `errors` and `requestId` besides the message. An error
    of an author's own class that cannot be read so (headers that are None, a message that raises)
    is logged, and answered as `internal error`.
    """
    try:
        return _written(error, detail, request_id)
    except Exception as broken:
        logger.error("%s is no proper error: %s\n%s", type(error).__name__, request_id, traceback_of(broken))
        return _written(GatewayError(), detail, request_id)


def _written(error: GatewayError, detail: bool, request_id: str) -> tuple[int, dict[str, str], bytes]:
    status = error.status if type(error.status) is int and 400 <= error.status <= 599 else 500
    code = _code(error)
    body: dict[str, Any] = {"message": _utf8(getattr(error, "message", "internal error"))}
    if detail:
        errors = {_utf8(path): [_utf8(text) for text in texts] for path, texts in _errors(error).items()}
        body |= {"code": code, "errors": errors, "requestId": request_id}
    headers = {
        name: str(value)
        for name, value in error.headers.items()
        if _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(str(value))
    }
    own = error_headers(status, code)
    if status == 401 and "WWW-Authenticate" in headers:  # The error names the way to authenticate.
        del own["WWW-Authenticate"]
    return status, {**headers, **own}, dumps({"body": body, "success": False})


def error_headers(status: int, code: str | None = None) -> dict[str, str]:
    """Return the headers of every error reply with this status; none below 400."""
    if status < 400:
        return {}
    headers = {"X-Error-Code": code or HttpError("", status).code}
    return {**headers, "WWW-Authenticate": "Token"} if status == 401 else headers


def client_error(error: Exception, *, expose: bool) -> GatewayError:
    """Return the error that a client may see instead of an exception.

    Source: specification 21.

    - our own errors as they are, but the message of a `StorageError`, `DefinitionError` or `UsageError`;
    - `Exception` itself: its text is its author's message, status 500;
    - what `flask.abort` raises: its status (or that of its response) with the description that its
      author gave it, else with that status's name, unless it is no error;
    - a marshmallow `ValidationError` of an act: a validation error with its messages;
    - anything else: `internal error`, or class and text with ``expose``.
    """
    if isinstance(error, GatewayError) and not is_unexpected(error):
        return error
    if isinstance(error, HTTPException) and _is_error(error):
        return _error_of_abort(error)
    if isinstance(error, marshmallow.ValidationError):
        collected = Collected()
        collected.add_all(error.normalized_messages(), "")  # type: ignore[no-untyped-call]  # marshmallow 4.4
        return ValidationError(collected.errors)
    if type(error) is Exception:
        return HttpError(_text(error))
    shown = GatewayError(f"{type(error).__name__}: {_text(error)}" if expose else "internal error")
    shown.code = error.code if isinstance(error, GatewayError) else shown.code
    return shown


def is_unexpected(error: Exception) -> bool:
    """Tell whether an exception is the program's fault: its traceback is logged."""
    if isinstance(error, GatewayError):
        return isinstance(error, DefinitionError | StorageError | UsageError)
    if isinstance(error, HTTPException):
        return not _is_error(error)
    return type(error) is not Exception and not isinstance(error, marshmallow.ValidationError)


def log_error(error: Exception, status: int, request_id: str, asked: Mapping[str, Any]) -> None:
    """Log an error of the server's side, never with a value that was sent.

    An unexpected one comes with its traceback; see `gatewayfw.logs`.
    """
    names = " ".join(f"{key}={shown(asked[key])}" for key in ("service", "model", "act") if key in asked)
    where = f"request_id={request_id} {names}".rstrip()
    if is_unexpected(error):
        logging.getLogger(UNEXPECTED).error("unexpected error: %s\n%s", where, traceback_of(error))
    elif status >= 500:
        logger.warning("%s: status=%d %s", type(error).__name__, status, where)


def _simple(value: Any) -> Any:
    """Return a value in a form that orjson knows.

    TypeError for an iterator, of which nothing was read then.
    """
    if type(value) is ObjectId and HAS_BYTES:  # most by far
        return value._ObjectId__id.hex()  # type: ignore[attr-defined]  # a name of bson's own
    plain = _plain(value)
    if plain is _ITERATOR:
        raise TypeError
    return plain


def _plain(value: Any) -> Any:
    """Return a value in a form that orjson knows; `_ITERATOR` for an array."""
    if isinstance(value, Batched):  # most by far; to ask whether it is a mapping takes longer than all of these
        return _ITERATOR
    if isinstance(value, ObjectId):
        return str(value)
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, date):
        return value.isoformat()
    # What other tools may have stored: exact decimals, and dates beyond the year 9999 as milliseconds since 1970.
    if isinstance(value, Decimal128):
        return format(value.to_decimal(), "f")
    if isinstance(value, bytes):
        return _text_of(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, DatetimeMS):
        return int(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, LATER):  # asyncio's futures are iterable, too
        raise _never_awaited(value)
    if isinstance(value, Iterable) and not isinstance(value, set | frozenset | bytearray | memoryview):
        return _ITERATOR
    raise NotJsonError(f"the result of the act holds a value of the type {type(value).__name__}, which is not JSON")


def _text_of(value: bytes) -> str:
    """Return the text of binary data: of a UUID its own, of any other base64."""
    if isinstance(value, Binary) and value.subtype == UUID_SUBTYPE:
        return str(value.as_uuid())
    return b64encode(value).decode("ascii")


def _never_awaited(value: Any) -> DefinitionError:
    if isinstance(value, CoroutineType):
        value.close()  # else Python warns that nobody ran it
    kind = type(value).__name__
    return DefinitionError(f"the result of the act holds a {kind}, which nobody awaits: acts are plain functions")


def _instant(value: datetime) -> str:
    utc = value if value.tzinfo is None else value.astimezone(timezone.utc)
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _is_error(error: HTTPException) -> bool:
    return 400 <= _status(error) <= 599


def _status(error: HTTPException) -> int:
    status = error.code if error.response is None else getattr(error.response, "status_code", None)
    return status if type(status) is int else 0


def _error_of_abort(error: HTTPException) -> GatewayError:
    status = _status(error)
    # Only a description by the author is in the instance; werkzeug's are in the class.
    own = vars(error).get("description") if error.response is None else None
    message = own if isinstance(own, str) and own else HTTP_STATUS_CODES.get(status, "error")
    shown = HttpError(message, status)
    headers = error.get_headers() if error.response is None else error.get_response().headers
    shown.headers = {name: value for name, value in headers if name in _PASSED_ON}
    return shown


def _errors(error: GatewayError) -> Mapping[str, list[str]]:
    return getattr(error, "errors", {})


def _code(error: GatewayError) -> str:
    return error.code if _CODE.fullmatch(error.code) else "error"  # Authors may define their own.


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # The author's own __str__ or __repr__: an error reply must not fail over it.
        return "internal error"


def _utf8(text: Any) -> str:
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")
