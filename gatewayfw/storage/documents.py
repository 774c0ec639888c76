"""Documents as BSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bson
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.errors import BSONError

#: A database may be configured to return `uuid.UUID` objects.
_OPTIONS: CodecOptions[Any] = CodecOptions(uuid_representation=UuidRepresentation.STANDARD)
#: Other tools may have stored dates that Python has not.
_ALL_DATES: CodecOptions[Any] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)


def encode(document: Mapping[str, Any]) -> bytes:
    """Return the BSON of a document that was read or will be stored.

    Raises:
        BSONError, OverflowError, TypeError, ValueError: BSON cannot hold it.
    """
    return bson.encode(document, codec_options=_OPTIONS)


def bytes_of(document: Mapping[str, Any]) -> int:
    """Return a document's bytes as BSON; 0 where BSON, unlike mongomock, refuses it."""
    try:
        return len(encode(document))
    except (BSONError, OverflowError, TypeError, ValueError):
        return 0


def as_stored(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a document or update with its values as MongoDB returns them.

    Raises:
        BSONError, OverflowError, TypeError, ValueError: BSON cannot hold it.
    """
    return bson.decode(bson.encode(document), _ALL_DATES)
