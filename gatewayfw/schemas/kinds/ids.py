"""Ids of documents, and UUIDs."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from bson import Binary, ObjectId
from bson.binary import UUID_SUBTYPE
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Description, ReadField
from gatewayfw.schemas.kinds.quick import Load, Purpose, Store, Test
from gatewayfw.schemas.kinds.sizes import BINARY, ID
from gatewayfw.schemas.values import HEX_ID

_UUID = re.compile("-".join(f"[0-9a-fA-F]{{{count}}}" for count in (8, 4, 4, 4, 12)))


class _IdField(ReadField, mm.String):
    """An id, as text or as an object; it loads as the object and dumps as text."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else str(value)

    def keeps(self, sent: Any, dumped: Any) -> bool:
        """Take ids in capital letters, and id objects from server code."""
        return True


class ObjectIdField(_IdField, own=True):
    """24 hexadecimal digits; an `ObjectId` when loaded."""

    kind = "object_id"
    sorts = True
    default_error_messages = {"invalid": "Not a valid ObjectId (24 hexadecimal digits)."}

    def read(self, value: Any) -> ObjectId | None:
        return id_of(value)

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_id]

    def loader(self, *, fill: bool) -> Load | None:
        return _load_id

    def largest(self) -> int:
        return ID

    def description(self) -> Description:
        of = self.metadata.get("of")
        return {"kind": "object_id", **({} if of is None else {"of": of})}


class UuidField(_IdField, own=True):
    """A UUID: 8-4-4-4-12 hexadecimal digits in text, a `uuid.UUID` when loaded."""

    kind = "uuid"
    sorts = True
    reads_otherwise = True
    default_error_messages = {"invalid": "Not a valid UUID."}

    def read(self, value: Any) -> UUID | None:
        return uuid_of(value)

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [uuid_of]

    def storer(self) -> Store:
        return _stored_uuid

    def largest(self) -> int:
        return BINARY + 16

    def description(self) -> Description:
        return {"kind": "string", "format": "uuid"}


def id_of(value: Any) -> ObjectId | None:
    """Return an id given as text or as an `ObjectId`; None for anything else."""
    if isinstance(value, ObjectId):
        return value
    return ObjectId(value) if isinstance(value, str) and HEX_ID.fullmatch(value) else None


def uuid_of(value: Any) -> UUID | None:
    """Return a UUID given as text, object or database value; None for anything else."""
    if isinstance(value, UUID):
        return value
    if isinstance(value, Binary):
        return value.as_uuid() if value.subtype == UUID_SUBTYPE and len(value) == 16 else None
    return UUID(value) if isinstance(value, str) and _UUID.fullmatch(value) else None


def _stored_uuid(value: Any) -> Binary | None:
    loaded = uuid_of(value)
    return None if loaded is None else Binary.from_uuid(loaded)


def _is_id(value: Any) -> bool:
    return type(value) is ObjectId or type(_load_id(value)) is ObjectId


def _load_id(value: Any) -> Any:
    if type(value) is not str or len(value) != 24:
        return value
    try:
        digits = bytes.fromhex(value)
    except ValueError:
        return value
    return ObjectId(digits) if len(digits) == 12 else value  # fromhex skips spaces and then gives fewer bytes
