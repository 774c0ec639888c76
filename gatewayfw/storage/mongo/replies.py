"""The server's replies: small ones decoded at once, large ones bit by bit.

Decoding a reply of 16 MB with nested documents takes up to 400 MB, and a second or more in one go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

from bson import decode
from bson.codec_options import CodecOptions, TypeRegistry
from bson.raw_bson import DEFAULT_RAW_BSON_OPTIONS, RawBSONDocument

from gatewayfw.storage.terms import Document

#: Most bytes to decode at once, except for a single larger document.
AT_ONCE = 256 * 1024


class Undecoded(RawBSONDocument):
    """A document as the server sent it."""

    __slots__ = ()
    _plain: CodecOptions[Any]

    def decoded(self) -> Document:
        """Return a new plain document."""
        found: Document = decode(self.raw, self._plain)
        return found


def decode_lazily(plain: CodecOptions[Any]) -> CodecOptions[Any]:
    """Return the options that leave large replies `Undecoded`.

    With type codecs every reply stays so, because the codecs are meant for documents, not for the reply around them.
    """
    at_once = AT_ONCE if decodes_plainly(plain) else 0

    class UndecodedPart(Undecoded):
        __slots__ = ()
        _plain = plain

    parts = DEFAULT_RAW_BSON_OPTIONS.with_options(document_class=UndecodedPart)

    class UndecodedReply(UndecodedPart):
        __slots__ = ()

        def __new__(cls, data: bytes | memoryview, options: object = None) -> Any:
            return decode(data, plain) if len(data) <= at_once else UndecodedPart(data, parts)

    return plain.with_options(document_class=UndecodedReply, type_registry=None)


def decodes_plainly(options: CodecOptions[Any]) -> bool:
    """Tell whether there are no type codecs, which a command's reply would skip."""
    return bool(options.type_registry == TypeRegistry())


class Kept(Iterator[Any]):
    """The documents of one reply, each released when it is taken.

    Use it like one of the driver's cursors.
    """

    def __init__(self, documents: list[Any]) -> None:
        self._documents = deque(documents)

    @property
    def alive(self) -> bool:
        """Whether there are more."""
        return bool(self._documents)

    def __next__(self) -> Any:
        if not self._documents:
            raise StopIteration
        return self._documents.popleft()

    def close(self) -> None:
        """Discard the documents not taken yet."""
        self._documents.clear()


def take(source: Iterator[Any], most: int) -> list[Document]:
    """Return at most so many documents, fewer if their bytes reach `AT_ONCE`.

    Returns None when there are no more.
    """
    found: list[Document] = []
    size = 0
    for document in islice(source, most):
        if isinstance(document, Undecoded):
            size += len(document.raw)
            document = document.decoded()
        found.append(document)
        if size >= AT_ONCE:
            break
    return found
