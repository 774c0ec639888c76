"""Documents as BSON, as stored, and copies of parts. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import bson
from bson import Regex
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions, DatetimeConversion

from gatewayfw.storage.terms import Document, Paths

#: A database may be configured to return `uuid.UUID` objects.
_OPTIONS: CodecOptions[Any] = CodecOptions(uuid_representation=UuidRepresentation.STANDARD)
#: Other tools may have stored dates that Python has not.
_ALL_DATES: CodecOptions[Any] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)

#: What is wanted of an object, by name; None is the whole value.
_Shape = dict[str, "_Shape | None"]


def encode(document: Mapping[str, Any]) -> bytes:
    """Return the BSON of a document that was read or will be stored.

    Raises:
        BSONError, OverflowError, TypeError, ValueError: BSON cannot hold it.
    """
    return bson.encode(document, codec_options=_OPTIONS)


def as_stored(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a document or update with its values as MongoDB returns them.

    Raises:
        BSONError, OverflowError, TypeError, ValueError: BSON cannot hold it.
    """
    return bson.decode(bson.encode(document), _ALL_DATES)


def can_be_id(value: Any) -> bool:
    """Tell whether MongoDB takes a value, as it is stored, for an ``_id``."""
    return not isinstance(value, (list, Regex)) and not _has_operators(value)


def _has_operators(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(name.startswith("$") or _has_operators(inner) for name, inner in value.items())
    return isinstance(value, list) and any(map(_has_operators, value))


def copy_value(value: Any) -> Any:
    """Return a copy of a document or value that shares no object or list with it."""
    if isinstance(value, Mapping):
        return {name: copy_value(inner) for name, inner in value.items()}
    return [copy_value(inner) for inner in value] if isinstance(value, list) else value


def value_at(value: Any, path: str) -> Any:
    """Return the value at a path through objects; None where there is none."""
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def show(document: Document, fields: Paths) -> Document:
    """Return a copy of a document with these fields and, as its first one, the `_id`.

    None are all fields. A path below a list shows that of each object in it, and drops what is none.
    """
    if fields is None:
        return {"_id": document["_id"], **copy_value(document)}
    shape: _Shape = {}
    for path in fields:
        _add(shape, path.split("."))
    return {"_id": document["_id"], **_cut(document, shape)}


def _add(shape: _Shape, names: Sequence[str]) -> None:
    """Add a path; of a value that is shown as a whole nothing is taken back."""
    for name in names[:-1]:
        inner = shape.setdefault(name, {})
        if inner is None:
            return
        shape = inner
    shape[names[-1]] = None


def _cut(value: Mapping[str, Any], shape: _Shape) -> Document:
    shown = {}
    for name, inner in value.items():
        wanted = shape.get(name, {})
        if wanted is None:
            shown[name] = copy_value(inner)
        elif wanted and isinstance(inner, Mapping):
            shown[name] = _cut(inner, wanted)
        elif wanted and isinstance(inner, list):
            shown[name] = _cut_list(inner, wanted)
    return shown


def _cut_list(values: list[Any], shape: _Shape) -> list[Any]:
    return [
        _cut(value, shape) if isinstance(value, Mapping) else _cut_list(value, shape)
        for value in values
        if isinstance(value, (Mapping, list))
    ]
