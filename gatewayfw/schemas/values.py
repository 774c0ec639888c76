"""Pure functions about single values: numbers, text, moments, storable keys.

The fields and the structs share them. The bounds are our choice.
"""

import math
import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bson import Binary, Decimal128, Int64, ObjectId
from bson.binary import UUID_SUBTYPE

HEX_ID = re.compile(r"[0-9a-fA-F]{24}")

#: The least and the greatest signed 64-bit integer.
LOWEST, HIGHEST = -(2**63), 2**63 - 1
INTEGER = re.compile(r"[+-]?[0-9]{1,32}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d"
    r"(?:T(?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?",
    re.ASCII,
)
#: The scalar types of JSON; testing for Mapping takes much longer.
SCALARS = frozenset({str, int, float, bool, type(None)})
#: Deepest nesting of a value that no kind describes; the settings bound requests before that.
_DEEPEST = 100
#: The most names in a path: with such a value behind it, MongoDB has its 180 levels.
MOST_NAMES = 80


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal in value and type, at every level."""
    if one is other:
        return True
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) or (type(one) not in SCALARS and isinstance(one, Mapping)):
        if not isinstance(other, (dict, Mapping)) or len(one) != len(other):
            return False
        for key, item in one.items():  # noqa: SIM110  (a generator would cost more than the loop)
            if key not in other or not same(item, other[key]):
                return False
        return True
    return type(one) is type(other) and bool(one == other)


def copy_parts(value: Any) -> Any:
    """Return a copy with its own objects and lists, which a user's code may change."""
    if isinstance(value, list):
        return [copy_parts(item) for item in value]
    if isinstance(value, dict) or (type(value) not in SCALARS and isinstance(value, Mapping)):
        return {key: copy_parts(item) for key, item in value.items()}
    return value


def cut(value: Any) -> Any:
    """Return a value with every date in it cut to what the database holds."""
    if isinstance(value, datetime):
        return moment_of(value)
    if isinstance(value, Mapping):
        return {key: cut(item) for key, item in value.items()}
    return [cut(item) for item in value] if isinstance(value, list) else value


def storable_key(key: object) -> bool:
    """Tell whether the database can hold a key.

    Such a key is text without ``.`` and NUL that does not start with ``$``.
    """
    return isinstance(key, str) and not key.startswith("$") and "." not in key and "\0" not in key


def read_number(text: str) -> int | float | None:
    """Return the number that a text stands for, perhaps infinite; else None."""
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and not text.lstrip("+-").isdigit() else None


def finite_number(value: Any) -> bool:
    """Tell whether a value is a signed 64-bit int or a finite float."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return LOWEST <= value <= HIGHEST
    return isinstance(value, float) and math.isfinite(value)


def encodable(text: str) -> bool:
    """Tell whether UTF-8 can encode a text, that is, whether it has no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(value: Any) -> bool:
    """Tell whether a value is JSON, ObjectIds and datetimes, within all bounds."""
    level = [value]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for node in level:
            kind = type(node)
            if kind is str:
                if not (node.isascii() or encodable(node)):
                    return False
            elif kind is list:
                below += node
            elif kind is dict:
                if node and not _has_text_keys(node):
                    return False
                below += node.values()
            elif not _plain_scalar(node):
                # Subclasses, and mappings other than dict, count as the type they resemble.
                if isinstance(node, list):
                    below += node
                elif isinstance(node, Mapping) and _has_text_keys(node):
                    below += node.values()
                else:
                    return False
        if not below:
            return True
        level = below
    return all(map(_plain_scalar, level))


def _has_text_keys(value: Mapping[Any, Any]) -> bool:
    try:
        return encodable("".join(value))
    except TypeError:
        return False


def _plain_scalar(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(LOWEST <= value <= HIGHEST)
    if isinstance(value, str):
        return encodable(value)
    if value is None or isinstance(value, (bool, ObjectId)):
        return True
    if isinstance(value, datetime):
        return moment_of(value) is not None
    return finite_number(value)


def storable(value: Any) -> bool:
    """Tell whether a value is `plain` and the database can hold each key in it."""
    return plain(value) and has_storable_keys(value)


def has_storable_keys(value: Any) -> bool:
    """Tell whether the database can hold each key in a value."""
    if isinstance(value, (list, tuple)):
        return all(map(has_storable_keys, value))
    if isinstance(value, dict) or (type(value) not in SCALARS and isinstance(value, Mapping)):
        for key, item in value.items():
            if not (storable_key(key) and has_storable_keys(item)):
                return False
    return True


def has_sendable_keys(value: Any) -> bool:
    """Tell whether a filter can hold each key in a value: text without NUL."""
    if type(value) in SCALARS:
        return True
    if isinstance(value, Mapping):
        return all(
            isinstance(key, str) and "\0" not in key and encodable(key) and has_sendable_keys(item)
            for key, item in value.items()
        )
    return not isinstance(value, (list, tuple)) or all(map(has_sendable_keys, value))


def loaded_form(value: Any) -> Any:
    """Return a stored value in Python's types (`Decimal UUID bytes`), on each level."""
    kind = type(value)
    if kind is dict:
        return {key: loaded_form(item) for key, item in value.items()}
    if kind is list:
        return [loaded_form(item) for item in value]
    if isinstance(value, Decimal128):
        return value.to_decimal()
    if kind is Int64:
        return int(value)
    if kind is Binary and value.subtype == 0:
        return bytes(value)
    if kind is Binary and value.subtype == UUID_SUBTYPE and len(value) == 16:
        return value.as_uuid()
    return value


def shown_form(value: Any) -> Any:
    """Return a stored value as a reply shows it, on each level."""
    kind = type(value)
    if kind is dict:
        return {key: shown_form(item) for key, item in value.items()}
    if kind is list:
        return [shown_form(item) for item in value]
    if isinstance(value, datetime):
        return instant_text(value)
    if isinstance(value, bytes):
        return binary_text(value)
    if isinstance(value, Decimal128):
        return format(value.to_decimal(), "f")
    return str(value) if isinstance(value, ObjectId) else value


def instant_text(value: datetime) -> str:
    """Return a moment as ISO 8601 in UTC with milliseconds; a naive one is UTC."""
    utc = value if value.tzinfo is None else value.astimezone(UTC)
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def binary_text(value: bytes) -> str:
    """Return the text of binary data: of a UUID its own, of any other base64."""
    if isinstance(value, Binary) and value.subtype == UUID_SUBTYPE:
        return str(value.as_uuid())
    return b64encode(value).decode()


def id_of(value: Any) -> ObjectId | None:
    """Return an id given as text or as an `ObjectId`; None for anything else."""
    if isinstance(value, ObjectId):
        return value
    return ObjectId(value) if isinstance(value, str) and HEX_ID.fullmatch(value) else None


def moment_of(value: Any) -> datetime | None:
    """Return a datetime or ISO 8601 text as naive UTC, in milliseconds; else None."""
    try:
        is_text = isinstance(value, str) and _DATE.fullmatch(value) is not None
        moment = datetime.fromisoformat(value) if is_text else value
        if not isinstance(moment, datetime):
            return None
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    micros = moment.microsecond
    return moment.replace(microsecond=micros // 1000 * 1000) if micros % 1000 else moment
