"""Media types of files, by their first bytes.

What a client says about the type of a file is never believed. The choice of types is ours.
Source: https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

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
    """Tell whether a content begins with UTF-8 without control characters.

    The last character may be cut.
    """
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
