"""The kinds that JSON writes as text in a format: ids, UUIDs, dates, binary data."""

import binascii
import re
from base64 import b64decode, b64encode
from datetime import datetime
from typing import Any
from uuid import UUID

from bson import Binary, ObjectId
from bson.binary import UUID_SUBTYPE
from marshmallow import fields as mm
from marshmallow import validate

from gatewayfw import messages
from gatewayfw.schemas.kinds.base import Ability, Description, ReadField
from gatewayfw.schemas.kinds.checks import described_lengths, lengths
from gatewayfw.schemas.kinds.quick import Load, Store, Test, passes
from gatewayfw.schemas.kinds.sizes import BINARY, ENDLESS, ID, NUMBER
from gatewayfw.schemas.values import id_of, moment_of

_UUID = re.compile("-".join(f"[0-9a-fA-F]{{{count}}}" for count in (8, 4, 4, 4, 12)))


class ObjectIdField(ReadField, mm.String, own=True):
    """24 hexadecimal digits; an `ObjectId` when loaded."""

    kind = "object_id"
    sorts = True
    largest = ID
    default_error_messages = {"invalid": messages.NO_OBJECT_ID}

    def read(self, value: Any) -> ObjectId | None:
        return id_of(value)

    def _test(self) -> Test | None:
        return lambda value: type(value) is ObjectId or type(_load_id(value)) is ObjectId

    def loader(self, *, fill: bool) -> Load | None:
        return _load_id

    def description(self) -> Description:
        of = self.metadata.get("of")
        return {"kind": "object_id", **({} if of is None else {"of": of})}


class UuidField(ReadField, mm.String, own=True):
    """A UUID: 8-4-4-4-12 hexadecimal digits in text, a `uuid.UUID` when loaded."""

    kind = "uuid"
    sorts = True
    largest = BINARY + 16
    reads_otherwise = True
    default_error_messages = {"invalid": messages.NO_UUID}

    def read(self, value: Any) -> UUID | None:
        return uuid_of(value)

    def _test(self) -> Test | None:
        return uuid_of

    def storer(self) -> Store:
        return lambda value: None if (loaded := uuid_of(value)) is None else Binary.from_uuid(loaded)

    def description(self) -> Description:
        return {"kind": "string", "format": "uuid"}


class DateField(ReadField, mm.String, own=True):
    """An ISO 8601 date, with or without a time; a `datetime` in UTC when loaded.

    The `datetime` is naive and in whole milliseconds.
    """

    kind = "date"
    sorts = True
    abilities = frozenset({Ability.ORDER, Ability.DATE})
    largest = NUMBER
    default_error_messages = {"invalid": messages.NO_DATE}

    def read(self, value: Any) -> datetime | None:
        return moment_of(value)

    def _test(self) -> Test | None:
        return lambda value: (type(value) is str or type(value) is datetime) and moment_of(value) is not None


class BinaryField(ReadField, mm.Raw, own=True):
    """Binary data: base64 text in JSON, `bytes` when loaded."""

    kind = "binary"
    reads_otherwise = True
    tested = (validate.Length,)
    default_error_messages = {"invalid": messages.NO_BASE64}

    def read(self, value: Any) -> bytes | None:
        return bytes_of(value)

    def _test(self) -> Test | None:
        return passes(self.deserialize)

    def storer(self) -> Store:
        return bytes_of

    @property
    def largest(self) -> int:  # type: ignore[override]  # by what it states
        most = lengths(self)[1]
        return ENDLESS if most is None else BINARY + most

    def description(self) -> Description:
        more = {} if self.states_maximum else {"sized": False}
        return {"kind": "binary", **described_lengths(self, "minBytes", "maxBytes"), **more}


def uuid_of(value: Any) -> UUID | None:
    """Return a UUID given as text, object or database value; None for anything else."""
    if isinstance(value, UUID):
        return value
    if isinstance(value, Binary):
        return value.as_uuid() if value.subtype == UUID_SUBTYPE and len(value) == 16 else None
    return UUID(value) if isinstance(value, str) and _UUID.fullmatch(value) else None


def bytes_of(value: Any) -> bytes | None:
    """Return bytes as they are, or decoded from canonical base64; else None.

    A UUID in the database's form gives None, too.
    """
    if isinstance(value, bytes):
        return bytes(value) if not isinstance(value, Binary) or value.subtype == 0 else None
    if not isinstance(value, str) or not value.isascii():
        return None
    try:
        loaded = b64decode(value, validate=True)
    except binascii.Error:
        return None
    return loaded if b64encode(loaded).decode() == value else None


def _load_id(value: Any) -> Any:
    if type(value) is not str or len(value) != 24:
        return value
    try:
        digits = bytes.fromhex(value)
    except ValueError:
        return value
    return ObjectId(digits) if len(digits) == 12 else value  # fromhex skips spaces and then gives fewer bytes
