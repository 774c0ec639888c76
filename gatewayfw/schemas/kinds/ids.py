"""Ids of documents."""

from __future__ import annotations

from typing import Any

from bson import ObjectId
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.quick import Purpose, Store, Test
from gatewayfw.schemas.kinds.sizes import ID
from gatewayfw.schemas.values import HEX_ID


class ObjectIdField(KindField, mm.String, own=True):
    """24 hexadecimal digits, kept as sent; server code may pass an ObjectId."""

    kind = "object_id"
    sorts = True
    default_error_messages = {"invalid": "Not a valid ObjectId (24 hexadecimal digits)."}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, ObjectId) or (isinstance(value, str) and HEX_ID.fullmatch(value)):
            return value
        raise self.make_error("invalid")

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_id]

    def storer(self) -> Store:
        return lambda value: None if value is None else ObjectId(value)

    def _compared(self, value: Any) -> Any:
        if isinstance(value, ObjectId):
            return value
        return ObjectId(value) if isinstance(value, str) and HEX_ID.fullmatch(value) else None

    def largest(self) -> int:
        return ID

    def description(self) -> Description:
        of = self.metadata.get("of")
        return {"kind": "object_id", **({} if of is None else {"of": of})}


def _is_id(value: Any) -> bool:
    if type(value) is not str:
        return type(value) is ObjectId
    try:
        return len(value) == 24 and len(bytes.fromhex(value)) == 12  # it passes over spaces, and then gives fewer
    except ValueError:
        return False
