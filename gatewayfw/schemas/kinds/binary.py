"""Binary data."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from typing import Any

from bson import Binary
from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Description, Maxima, ReadField
from gatewayfw.schemas.kinds.checks import described_lengths, lengths
from gatewayfw.schemas.kinds.quick import Purpose, Store, Test
from gatewayfw.schemas.kinds.sizes import BINARY, ENDLESS
from gatewayfw.schemas.kinds.text import check_stated, with_maximum


class BinaryField(ReadField, mm.Raw, own=True):
    """Binary data: base64 text in JSON, `bytes` when loaded."""

    kind = "binary"
    reads_otherwise = True
    default_error_messages = {"invalid": "Not valid base64."}

    def read(self, value: Any) -> bytes | None:
        return bytes_of(value)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else b64encode(value).decode()

    def keeps(self, sent: Any, dumped: Any) -> bool:
        """Take bytes from server code as they are."""
        return isinstance(sent, bytes)

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [self._takes]

    def _checks_beside(self) -> list[Any]:
        return [check for check in self.validators if type(check) is not validate.Length]

    def _takes(self, value: Any) -> bool:
        try:
            self.deserialize(value)
        except ValidationError:
            return False
        return True

    def bound(self, maxima: Maxima) -> mm.Field[Any]:
        check_stated(self, maxima.stated // 4 * 3, "bytes that binary data")  # as base64
        return with_maximum(self, maxima.text)

    def storer(self) -> Store:
        return bytes_of

    def largest(self) -> int:
        most = lengths(self)[1]
        return ENDLESS if most is None else BINARY + most

    def description(self) -> Description:
        more = {} if self.states_maximum else {"sized": False}
        return {"kind": "binary", **described_lengths(self, "minBytes", "maxBytes"), **more}


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
