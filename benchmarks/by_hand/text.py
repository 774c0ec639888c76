"""The JSON of the services by hand: ids as hexadecimal digits, moments with milliseconds and `Z`, as the others."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson
from bson import ObjectId


def plain(value: Any) -> str:
    """Return an id or a moment as text."""
    if isinstance(value, ObjectId):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds") + "Z"
    raise TypeError


def dumps(value: Any) -> bytes:
    """Return a value as JSON, by orjson, which would write moments with microseconds and no zone."""
    return orjson.dumps(value, default=plain, option=orjson.OPT_PASSTHROUGH_DATETIME)
