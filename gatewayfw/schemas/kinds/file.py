"""Files that clients send beside the JSON of a request, and their media types.

What a client says about the type of a file is never believed: its first bytes tell. The choice of types is ours.
Source: https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO, final

from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.quick import Test

_SIZE = re.compile(r"([0-9]{1,12}) ?(B|kB|MB|GB)")
_UNITS: Mapping[str, int] = MappingProxyType({"B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000})
#: Bytes that tell every type.
HEAD = 4096
#: The type of any other content.
UNKNOWN = "application/octet-stream"
#: The images that browsers may show: none of them can hold a script.
IMAGES = frozenset({"image/avif", "image/gif", "image/jpeg", "image/png", "image/webp"})

_BRANDED = rb"(?s).{4}ftyp(?:%s)"
_CONTROLS = re.compile(b"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")


def _begins(pattern: bytes) -> Callable[[bytes], bool]:
    compiled = re.compile(pattern)
    return lambda head: compiled.match(head) is not None


def _is_text(head: bytes) -> bool:
    """Tell whether a content begins with UTF-8, maybe cut, and no control characters."""
    if _CONTROLS.search(head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.end == len(head) == HEAD and len(head) - error.start < 4
    return True


_ZIP = _begins(rb"PK(?:\x03\x04|\x05\x06)")
_OFFICE = "application/vnd.openxmlformats-officedocument"

#: The types that can be told, the ones that say most first: how a content of each begins.
SIGNATURES: Mapping[str, Callable[[bytes], bool]] = MappingProxyType(
    {
        "image/png": _begins(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
        "image/jpeg": _begins(b"\xff\xd8\xff"),
        "image/gif": _begins(rb"GIF8[79]a"),
        "image/webp": _begins(rb"(?s)RIFF.{4}WEBPVP8[ LX]"),
        "image/avif": _begins(_BRANDED % rb"avif|avis"),
        "application/pdf": _begins(rb"%PDF-[12]\."),
        "audio/mpeg": _begins(b"ID3|\xff[\xfa\xfb\xf3\xf2]"),
        "audio/ogg": _begins(b"OggS\x00"),
        "audio/wav": _begins(rb"(?s)RIFF.{4}WAVE"),
        "video/mp4": _begins(_BRANDED % rb"avc1|dash|iso[2-9]|isom|M4V |mp4[12]|MSNV"),
        "video/webm": _begins(b"\x1aE\xdf\xa3"),
        "application/gzip": _begins(b"\x1f\x8b\x08"),
        "application/zip": _ZIP,
        f"{_OFFICE}.wordprocessingml.document": _ZIP,
        f"{_OFFICE}.spreadsheetml.sheet": _ZIP,
        f"{_OFFICE}.presentationml.presentation": _ZIP,
        "text/plain": _is_text,
        "text/csv": _is_text,
        "application/json": _is_text,
    }
)


def type_of(head: bytes, types: tuple[str, ...] = ()) -> str | None:
    """Return the first of ``types`` that a content may have by its first `HEAD` bytes.

    None where it has none of them. Without ``types`` any content is taken, and what cannot be told is `UNKNOWN`;
    a text is `UNKNOWN`, too, because it may be HTML.
    """
    if types:
        return next((name for name in types if SIGNATURES[name](head)), None)
    known = (name for name, test in SIGNATURES.items() if test is not _is_text and test(head))
    return next(known, UNKNOWN)


@final
class Upload:
    """A file of a request, as an act gets it.

    Attributes:
        name: what the client calls it, without folders and control characters. It is no path: never open it.
        type: its media type, by its first bytes; what the client says about it is ignored.
        size: its bytes.
        sha256: their hash, in hexadecimal digits.
        stream: its content, from the beginning. It is closed when the request ends.
        key: where `gatewayfw.files` has stored it for a document that is not committed yet; else empty.
    """

    def __init__(self, name: str, type: str, size: int, sha256: str, stream: BinaryIO) -> None:
        self.name = name
        self.type = type
        self.size = size
        self.sha256 = sha256
        self.stream = stream
        self.key = ""

    def __deepcopy__(self, memo: object) -> Upload:
        """Return the upload itself: copies of a body share its content."""
        return self

    def __repr__(self) -> str:
        return f"Upload({self.size} bytes, {self.type!r})"


class FileField(KindField, mm.Raw, own=True):
    """A file: a part of ``multipart/form-data`` in a request, an `Upload` when loaded.

    No document holds one, and no JSON; see `gatewayfw.schemas.structs` for where an act may have one.
    """

    kind = "file"
    largest = 0
    default_error_messages = {"invalid": messages.NO_FILE}

    @property
    def most(self) -> int:
        """The most bytes it may have."""
        return int(self.metadata["most"])

    @property
    def types(self) -> tuple[str, ...]:
        """The media types it may have; empty for any."""
        return tuple(self.metadata["types"])

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not self._takes(value):
            raise self.make_error("invalid")
        return value

    def _test(self) -> Test | None:
        return self._takes

    def _takes(self, value: Any) -> bool:
        if not isinstance(value, Upload) or value.size > self.most:
            return False
        return not self.types or value.type in self.types

    def _store_operand(self, value: Any) -> Any:
        return None

    def description(self) -> Description:
        return {"kind": "file", "maxBytes": self.most, "types": list(self.types)}


def parse_size(text: object) -> int | None:
    """Return the bytes that a size means: a whole number, or text such as ``"10MB"``.

    ``kB`` are 1,000 bytes. None for anything else, and for 0.
    """
    if type(text) is int:
        return text if text > 0 else None
    found = _SIZE.fullmatch(text) if isinstance(text, str) else None
    return (int(found[1]) * _UNITS[found[2]] or None) if found else None
