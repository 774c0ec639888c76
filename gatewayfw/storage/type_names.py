"""The names of BSON's types, which ``$type`` takes. Pure.

Source: https://www.mongodb.com/docs/manual/reference/bson-types/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from bson import Code, DatetimeMS, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp

#: The name that stands for several types.
_NUMBER = frozenset({"int", "long", "double", "decimal"})
_LEAST, _GREATEST = -(2**31), 2**31 - 1
#: Classes of stored values, the first that fits counts; int and `Code` are told apart by their values.
_CLASSES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (Code, "javascript"),
    (str, "string"),
    (bool, "bool"),
    (Int64, "long"),
    (int, "int"),
    (float, "double"),
    (ObjectId, "objectId"),
    ((datetime, DatetimeMS), "date"),
    (type(None), "null"),
    ((Mapping, DBRef), "object"),
    ((list, tuple), "array"),
    ((bytes, UUID), "binData"),
    (Decimal128, "decimal"),
    (Regex, "regex"),
    (Timestamp, "timestamp"),
    (MinKey, "minKey"),
    (MaxKey, "maxKey"),
)
#: All names that ``$type`` may be given.
TYPE_NAMES = frozenset({name for _, name in _CLASSES} | {"number", "javascriptWithScope"})


def type_name(value: Any) -> str:
    """Return the name of a stored value's type; empty for what BSON has not."""
    name = next((name for cls, name in _CLASSES if isinstance(value, cls)), "")
    if name == "int" and not _LEAST <= value <= _GREATEST:
        return "long"
    return "javascriptWithScope" if name == "javascript" and value.scope is not None else name


def spread(names: str | Sequence[str]) -> frozenset[str]:
    """Return the names of types that one name or several stand for."""
    given = {names} if isinstance(names, str) else set(names)
    return frozenset(given | _NUMBER if "number" in given else given)
