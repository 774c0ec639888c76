"""Documents as BSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bson
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions

#: A database may be configured to return `uuid.UUID` objects.
_OPTIONS: CodecOptions[Any] = CodecOptions(uuid_representation=UuidRepresentation.STANDARD)


def encode(document: Mapping[str, Any]) -> bytes:
    """Return the BSON of a document that was read or will be stored.

    Raises:
        BSONError, OverflowError, TypeError, ValueError: BSON cannot hold it.
    """
    return bson.encode(document, codec_options=_OPTIONS)
