"""Files that clients send beside the JSON of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, BinaryIO, final

from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.file_types import type_of
from gatewayfw.schemas.kinds.quick import Test

_SIZE = re.compile(r"([0-9]{1,12}) ?(B|kB|MB|GB)")
_UNITS: Mapping[str, int] = MappingProxyType({"B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000})


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

    def judge(self, head: bytes) -> str | None:
        """Return the media type of a content by its first bytes; None where it is refused."""
        return type_of(head, self.types)

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
