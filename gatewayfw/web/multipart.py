"""Requests with files: ``multipart/form-data`` whose first part is the JSON.

The part ``gateway-body`` is read first. The others are read only after the act is known to take files, the JSON is
valid and the access hooks have passed; until then they wait in the connection. Each is bounded by its own size while
it is read, and kept in memory only up to `MEMORY` bytes. Nothing is kept of a request that is refused; what is left of
it is read and thrown away, as far as its length is known: see `Patience.discard`.

Parts that were not declared, come twice, have a head twice or another encoding are refused, and so are bytes before the
first or after the last boundary. Source: RFC 7578, section 4; what is refused beyond it is our choice.
"""

import hashlib
import re
import tempfile
import unicodedata
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO, cast, final

from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio import multipart

from gatewayfw import messages
from gatewayfw.errors import BadRequest, Forbidden, GatewayError, TooLarge, UnsupportedMediaType, ValidationError
from gatewayfw.files.stores import error_of
from gatewayfw.messages import Text
from gatewayfw.schemas.kinds.file import HEAD, FileField, Upload, type_of
from gatewayfw.settings import Settings
from gatewayfw.web.reader import MEDIA_TYPE, check_encoding, check_request, find_length
from gatewayfw.web.slow_bodies import CHUNK, Patience
from gatewayfw.web.strict_json import parse

_SPOOLING = "the upload could not be spooled to the directory of temporary files"
#: The part that holds the JSON.
BODY = "gateway-body"
#: The header that pages of other origins cannot send without asking first, and a form not at all.
HEADER = "X-Gateway"
#: Bytes of a file beyond which it is spooled to a temporary file.
MEMORY = 256 * 1024
#: The most characters of a file's name.
LONGEST_NAME = 255

#: Bytes that the head of a part may have, besides one chunk.
_HEADS = 16 * 1024
#: RFC 2046 allows 70 characters; Werkzeug's test client sends up to 72.
_MULTIPART = re.compile(
    r"multipart/form-data[ \t]*;[ \t]*boundary=(?:\"([0-9A-Za-z'()+_,./:=? -]{0,71}[0-9A-Za-z'()+_,./:=?-])\""
    r"|([0-9A-Za-z'+_.-]{1,72}))[ \t]*;?[ \t]*",
    re.IGNORECASE,
)
_TEXT_TYPE = re.compile(r'text/plain[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?;?[ \t]*', re.IGNORECASE)
_ENCODINGS = ("", "binary", "8bit", "7bit")
#: The categories of characters that could change how the rest of a name is shown.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def boundary_of(media_type: str) -> bytes | None:
    """Return the boundary of ``multipart/form-data``; None for any other media type.

    Other parameters, such as a charset, make it another one.
    """
    found = _MULTIPART.fullmatch(media_type)
    return None if found is None else (found[1] or found[2]).encode()


@final
class Form:
    """A request with files, read from its beginning to its end, once.

    Attributes:
        files: those received so far, by their paths.

    Raises:
        Forbidden: the header `HEADER` is missing; nothing was read.
        UnsupportedMediaType: a content encoding.
        TooLarge: it announces more bytes than allowed; nothing was read.
    """

    def __init__(self, request: Request, boundary: bytes, settings: Settings) -> None:
        if request.environ.get("HTTP_X_GATEWAY") != "1":
            raise Forbidden(messages.NO_UPLOAD_HEADER.format(header=HEADER))
        check_encoding(request.environ)
        most = settings.max_upload_bytes
        if (find_length(request.environ) or 0) > most:
            raise TooLarge(messages.BODY_TOO_LARGE)
        self._settings = settings
        self._events = _read_events(request, boundary, most)
        self._spooled = ExitStack()
        self.files: dict[str, Upload] = {}

    def close(self) -> None:
        """Close the files, which removes them, and stop reading."""
        self._events.close()
        self._spooled.close()

    def read_body(self) -> dict[str, Any]:
        """Return the checked body, which is the first part.

        Raises:
            TooLarge: it has more bytes than a body may have.
            BadRequest: another part comes first, or it is no body.
        """
        if self._next(multipart.Preamble).data.strip():
            raise BadRequest(messages.BEFORE_FIRST_PART)
        part = self._next_part()
        sent = part.headers.get("Content-Type")
        if part.name != BODY:
            raise BadRequest(messages.OTHER_FIRST_PART.format(part=BODY))
        if not (not sent or MEDIA_TYPE.fullmatch(sent) or _TEXT_TYPE.fullmatch(sent)) or _is_encoded(part):
            raise BadRequest(messages.NO_JSON_PART.format(part=BODY))
        data = bytearray()
        for chunk in self._content():
            data += chunk
            if len(data) > self._settings.max_body_bytes:
                raise TooLarge(messages.PART_TOO_LARGE.format(part=BODY))
        body = parse(bytes(data), self._settings)
        if isinstance(body, dict) and "batch" in body:
            raise BadRequest(messages.FILES_OF_BATCH)
        return check_request(body)

    def receive(self, expected: Mapping[str, FileField]) -> dict[str, Upload]:
        """Return the files, all other parts, by their paths.

        Raises:
            BadRequest: a part is not expected, comes twice, is no file or cannot be read.
            TooLarge: a file, or the whole request, has more bytes than allowed.
            UnsupportedMediaType: the content of a file is of no type that it may have.
            ValidationError: a required file is missing.
        """
        while not isinstance(event := self._next_part(multipart.Epilogue), multipart.Epilogue):
            path = event.name
            if path not in expected:
                raise BadRequest(messages.UNEXPECTED_PART.format(names=", ".join(expected) or messages.NONE))
            if path in self.files:
                raise BadRequest(messages.REPEATED_PART.format(path=path))
            if not isinstance(event, multipart.File) or _is_encoded(event):
                raise _refused(BadRequest, path, messages.NO_FILE_PART)
            self.files[path] = self._spool(path, event.filename, expected[path])
        if event.data.strip():
            raise BadRequest(messages.AFTER_LAST_PART)
        missing = [path for path, one in expected.items() if one.required and path not in self.files]
        if missing:
            raise ValidationError({path: [messages.REQUIRED] for path in missing})
        return self.files

    def _spool(self, path: str, name: str, field: FileField) -> Upload:
        spool = cast(BinaryIO, tempfile.SpooledTemporaryFile(MEMORY))  # noqa: SIM115  (`__exit__` closes it)
        self._spooled.enter_context(suppress(OSError))  # what a full disk did not take is not wanted any more
        self._spooled.callback(spool.close)
        digest, size, head, type_ = hashlib.sha256(), 0, b"", None
        for chunk in self._content():
            size += len(chunk)
            if size > field.most:
                raise _refused(TooLarge, path, messages.FILE_TOO_LARGE.format(max=field.most))
            digest.update(chunk)
            try:
                spool.write(chunk)
            except OSError as error:
                raise error_of(error, _SPOOLING) from error
            head += chunk[: HEAD - len(head)]
            if type_ is None and len(head) == HEAD:
                type_ = _judged(path, field, head)
        try:
            spool.seek(0)  # which writes what is still buffered
        except OSError as error:
            raise error_of(error, _SPOOLING) from error
        return Upload(clean_name(name), type_ or _judged(path, field, head), size, digest.hexdigest(), spool)

    def _content(self) -> Iterator[bytes]:
        more = True
        while more:
            event = self._next(multipart.Data)
            more = event.more_data
            if event.data:
                yield event.data

    def _next_part(self, *others: Any) -> Any:
        """Return the head of the next part, or one of the other events.

        Two readers of a part that says something twice may each take another one.
        """
        part = self._next(multipart.Field, multipart.File, *others)
        if isinstance(part, multipart.Field | multipart.File):
            names = [name.lower() for name in part.headers.keys()]  # noqa: SIM118  (headers are pairs)
            if len(set(names)) < len(names):
                raise BadRequest(messages.REPEATED_HEAD)
        return part

    def _next(self, *kinds: Any) -> Any:
        event = next(self._events, None)
        if not isinstance(event, kinds):
            raise BadRequest(messages.UNREADABLE_BODY)
        return event


def clean_name(name: str) -> str:
    """Return a file's name, fit to be shown: no folders, nothing invisible.

    It has at most `LONGEST_NAME` characters, and is ``file`` where nothing is left.
    """
    last = re.split(r"[/\\]", name)[-1]
    visible = "".join(char for char in last if unicodedata.category(char) not in _INVISIBLE).strip(" .")
    return visible[:LONGEST_NAME].strip(" .") or "file"


def _read_events(request: Request, boundary: bytes, most: int) -> Generator[multipart.Event]:
    """Yield the events of a request's body, reading as much as they need."""
    decoder = multipart.MultipartDecoder(boundary, CHUNK + _HEADS)
    count = 0
    with Patience(request.environ) as patience:
        try:
            while not isinstance(event := _decode(decoder), multipart.Epilogue):
                if not isinstance(event, multipart.NeedData):
                    yield event
                    continue
                data = _read(request, patience)
                count += len(data)
                if count > most:
                    raise TooLarge(messages.BODY_TOO_LARGE)
                try:
                    decoder.receive_data(data or None)
                except RequestEntityTooLarge:
                    raise BadRequest(messages.LONG_HEAD) from None
        except BaseException:
            patience.discard(request, (find_length(request.environ) or 0) - count)
            raise
    yield event


def _decode(decoder: multipart.MultipartDecoder) -> multipart.Event:
    try:
        return decoder.next_event()
    except (ValueError, TypeError, AttributeError, LookupError):
        # A head that is not UTF-8, a missing one, an end before the last boundary.
        raise BadRequest(messages.UNREADABLE_BODY) from None


def _read(request: Request, patience: Patience) -> bytes:
    try:
        return patience.read(request.stream)
    except BadRequest:
        raise
    except RequestEntityTooLarge:
        raise TooLarge(messages.BODY_TOO_LARGE) from None
    except Exception:  # Each server raises a class of its own when the client leaves or a chunk is malformed.
        raise BadRequest(messages.UNREADABLE_BODY) from None


def _judged(path: str, field: FileField, head: bytes) -> str:
    found = type_of(head, field.types)
    if found is None:
        told = messages.OTHER_FILE_TYPE.format(types=" or ".join(field.types), choices=list(field.types))
        raise _refused(UnsupportedMediaType, path, told)
    return found


def _refused(kind: type[GatewayError], path: str, text: Text) -> GatewayError:
    error = kind(f"{path}: {text}")
    error.errors = {path: [text]}
    return error


def _is_encoded(part: multipart.Field | multipart.File) -> bool:
    return part.headers.get("Content-Transfer-Encoding", "").strip().lower() not in _ENCODINGS
