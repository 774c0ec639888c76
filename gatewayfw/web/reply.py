"""The reply to a request that went well: results as JSON, within their bounds.

JSON: ids become hex strings, datetimes ISO 8601 in UTC with milliseconds and `Z` (a naive one
is UTC), UUIDs text, members of an enum their values, cursors and other iterators arrays, NaN
and Infinity null. Keys must be strings, and integers fit 64 bits, signed or unsigned; a set,
bytes, a dataclass (its fields may not all be meant to be read) or any other object is the act's mistake, not the
client's. All our choice.

Cursors and iterators are read and written piece by piece, so that only one piece is in memory besides the JSON, and
reading stops once the reply has too many bytes. A list that is the result is written in the same way, and so are lists
that are values in the result.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from types import CoroutineType
from typing import Any, final

import orjson
from bson import DatetimeMS, Decimal128, ObjectId
from flask import Response
from werkzeug.datastructures import Headers

from gatewayfw.acts.hooks import LATER
from gatewayfw.acts.replies import Reply, RequestBounds, WrittenReply
from gatewayfw.errors import DefinitionError, ReplyTooLarge
from gatewayfw.pieces import PIECE, Batched
from gatewayfw.schemas.values import binary_text, instant_text

logger = logging.getLogger("gatewayfw")

#: The content type of every reply of the gateway, exactly.
CONTENT_TYPE = "application/json"

_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
#: Where bson 4 keeps the 12 bytes of an id: to read them there takes half as long as `str`.
HAS_BYTES = hasattr(ObjectId(), "_ObjectId__id")
#: Types that are written in pieces although they are in memory: their JSON may be many times larger.
_LISTS = frozenset({list, tuple})
#: Values of a list up to which it is written whole: in pieces it takes a fifth longer.
_SHORT = 64
#: Bytes of a datetime's JSON with microseconds, in quotes.
_WITH_FRACTION = len('"2000-01-01T00:00:00.000000"')
#: The result of `_plain` for an iterator.
_ITERATOR = object()
#: The deadline is checked after this many bytes of JSON; a piece should not have more.
_PIECE_BYTES = 256 * 1024


class NotJsonError(TypeError):
    """The result of an act has no JSON form; the message names its type and path only."""


def dumps(value: Any) -> bytes:
    """Return a value as JSON; see the head of this module for what is converted.

    Raises:
        NotJsonError: the value holds something that has no JSON.
        DefinitionError: it holds what had to be awaited, such as the result of an async function.
    """
    return _Writing(None).dumps(value)


def success(value: Any, bounds: RequestBounds | None = None) -> bytes:
    """Return the envelope of a result, within bounds.

    Source: specification 3.1.

    Raises:
        NotJsonError: the result holds something that has no JSON.
        ReplyTooLarge: its JSON has more bytes than ``bounds.reply_bytes``.
        Timeout: the deadline passed between two pieces of a cursor.
    """
    writing = _Writing(bounds)
    kind = type(value)
    try:
        if kind is dict:  # most by far
            body = writing.object(value)
        elif kind in _LISTS:
            body = writing.list(value)
        elif isinstance(value, Batched):
            body = writing.array(value)
        else:
            body = writing.dumps(value)
    except NotJsonError as error:
        place = _place_without_json(value)
        raise NotJsonError(f"{error}, at {place}") if place else error from None
    if bounds is not None and bounds.reply_bytes is not None and len(body) > bounds.reply_bytes:
        raise ReplyTooLarge(bounds.reply_bytes)
    return b'{"body":' + body + b',"success":true}'


def finish(value: Any, bounds: RequestBounds | None = None) -> bytes | WrittenReply:
    """Return the envelope of an act's result.

    Of a `Reply` it comes with status and headers. Raises what `success` raises.
    """
    if type(value) is Reply:
        return WrittenReply(value.status, value.lines, success(value.body, bounds))
    return success(value, bounds)


@final
class _Writing:
    """The writing of one body; ``_bytes`` counts the iterators written so far."""

    __slots__ = ("_bytes", "_bounds")

    def __init__(self, bounds: RequestBounds | None) -> None:
        self._bounds = bounds
        self._bytes = 0

    def dumps(self, value: Any) -> bytes:
        try:
            # A method costs each id twice the time of a function, and most values hold no iterator.
            return orjson.dumps(value, default=_simple, option=_OPTIONS)
        except orjson.JSONEncodeError:
            return self._carefully(value)

    def _carefully(self, value: Any) -> bytes:
        try:
            return orjson.dumps(value, default=self._plain, option=_OPTIONS)
        except orjson.JSONEncodeError as error:
            # orjson wraps whatever `_plain` raises, also a SystemExit or a timeout while a cursor is drained.
            if error.__cause__ is not None:
                raise error.__cause__ from None
            raise NotJsonError(f"the result of the act is not JSON: {error}") from None

    def _plain(self, value: Any) -> Any:
        plain = _plain(value)
        return orjson.Fragment(self.array(value)) if plain is _ITERATOR else plain

    def object(self, value: Mapping[str, Any]) -> bytes:
        if _LISTS.isdisjoint(map(type, value.values())):
            return self.dumps(value)
        long = {key: one for key, one in value.items() if type(one) in _LISTS and len(one) > _SHORT}
        if not long:
            return self.dumps(value)
        return self.dumps({**value, **{key: orjson.Fragment(self.list(one)) for key, one in long.items()}})

    def list(self, values: Sequence[Any]) -> bytes:
        """Return the array of a list in memory, without checking the deadline."""
        return self.dumps(values) if len(values) <= _SHORT else self._pieces([values], 1, None)

    def array(self, values: Iterable[Any]) -> bytes:
        """Return an iterable as an array; each piece is forgotten once written."""
        # A database gives fewer values at once where they are large; of others it is seen when one is written.
        batches, size = (values.batches(), PIECE) if isinstance(values, Batched) else (iter([values]), 1)
        return self._pieces(batches, size, self._bounds)

    def _pieces(self, batches: Iterable[Iterable[Any]], size: int, deadline: RequestBounds | None) -> bytes:
        most = None if self._bounds is None else self._bounds.reply_bytes
        parts: list[bytes] = []
        known = self._bytes + 1
        due = False
        for batch in batches:
            rest = iter(batch)
            while piece := list(islice(rest, size)):
                if due and deadline is not None:
                    deadline.check()
                data = self.dumps(piece)
                parts.append(data)
                # Iterators inside of the piece have counted themselves: now they are a part of it.
                known = self._bytes = known + len(data) - 1
                if most is not None and known > most:
                    raise ReplyTooLarge(most)
                due = len(piece) == PIECE or len(data) >= _PIECE_BYTES
                size = max(1, min(PIECE, len(piece) * _PIECE_BYTES // len(data)))
            due = True
        return parts[0] if len(parts) == 1 else b"[%b]" % b",".join([memoryview(part)[1:-1] for part in parts])


def _simple(value: Any) -> Any:
    """Return a value in a form that orjson knows.

    TypeError for an iterator, of which nothing was read then.
    """
    kind = type(value)
    if kind is ObjectId and HAS_BYTES:  # most by far
        return value._ObjectId__id.hex()  # a name of bson's own
    if kind is datetime:
        return _instant(value)
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
        return binary_text(value)
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


def _place_without_json(value: Any) -> str:
    """Return the path to what JSON cannot express; empty for the value itself."""
    names: list[str] = []
    while True:
        parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        name, value = next((part for part in parts if not _has_json(part[1])), (None, None))
        if name is None:
            return ".".join(names)
        names.append(str(name))


def _has_json(value: Any) -> bool:
    """Tell whether JSON can express a value; what is in an iterator is not looked at."""
    try:
        orjson.dumps(value, default=lambda part: None if (plain := _plain(part)) is _ITERATOR else plain)
    except orjson.JSONEncodeError:
        return False
    return True


def _never_awaited(value: Any) -> DefinitionError:
    if isinstance(value, CoroutineType):
        value.close()  # else Python warns that nobody ran it
    kind = type(value).__name__
    return DefinitionError(f"the result of the act holds a {kind}, which nobody awaits: acts are plain functions")


def _instant(value: datetime) -> str:
    if type(value) is datetime and value.tzinfo is None:
        # A tenth of what `isoformat` takes. In quotes; microseconds of 0 are left out.
        text = orjson.dumps(value)
        return f"{text[1:24].decode()}Z" if len(text) == _WITH_FRACTION else f"{text[1:20].decode()}.000Z"
    return instant_text(value)


FIXED = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))
_CONTENT_TYPE = ("Content-Type", CONTENT_TYPE)
#: The status of a `Success`.
OK = "200 OK"


@final
class Success:
    """The reply to a successful request, sent with the status `OK`.

    ``payload`` is an envelope's JSON; ``headers`` have none of CORS.
    """

    __slots__ = ("headers", "payload")

    def __init__(self, payload: bytes, request_id: str) -> None:
        self.payload = payload
        length = ("Content-Length", str(len(payload)))
        self.headers = [_CONTENT_TYPE, length, *FIXED, ("X-Request-Id", request_id)]


class Answer(Response):
    """A `Success` as a response, sent unchanged unless somebody has changed it.

    What werkzeug makes of it is the same, but it looks through the headers several times. That is left
    to it after a hook of the host set another status or body, a header, an attribute or a callback.
    """

    def __init__(self, success: Success) -> None:
        self._pairs, self._chunks = success.headers, [success.payload]
        headers = Headers()
        headers[:] = self._pairs
        super().__init__(self._chunks, OK, headers)
        self._attributes = len(self.__dict__) + 1

    def call_on_close(self, func: Callable[[], Any]) -> Callable[[], Any]:
        """Call a function at the end; werkzeug's way of sending does."""
        self._attributes = 0
        return super().call_on_close(func)

    def get_wsgi_response(self, environ: dict[str, Any]) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        """Return body, status and headers."""
        pairs = self.headers.to_wsgi_list()
        is_as_made = self.response is self._chunks and self.status == OK and pairs == self._pairs
        if is_as_made and len(self.__dict__) == self._attributes and environ["REQUEST_METHOD"] == "POST":
            return self._chunks, OK, pairs
        return super().get_wsgi_response(environ)
