"""Descriptions of fields in plain words, as JSON.

Those of our fields come from their kinds, those of marshmallow's fields from their classes.
`gatewayfw.catalog.kinds` documents them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from bson import ObjectId
from marshmallow import INCLUDE, Schema, missing
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Constant, Description, Kind, KindField
from gatewayfw.schemas.kinds.checks import described_lengths, is_scalar
from gatewayfw.schemas.kinds.numbers import described_number
from gatewayfw.schemas.kinds.text import described_text


def describe(field: mm.Field[Any]) -> Description:
    """Return the whole description of a field; see `gatewayfw.catalog.kinds`."""
    described = field.description() if isinstance(field, Kind) else describe_class(field)
    if field.allow_none and described["kind"] != "any":
        described["nullable"] = True
    described["presence"] = _presence(field)
    if isinstance(field.load_default, Constant):
        described |= described_default(_dumped_default(field))
    if isinstance(text := field.metadata.get("description"), str):
        described["description"] = text
    return described


def describe_all(fields: Mapping[str, mm.Field[Any]]) -> dict[str, Description]:
    """Return the descriptions of fields by the names that clients send."""
    return {
        field.data_key if field.data_key is not None else name: describe(field)
        for name, field in fields.items()
        if not field.dump_only
    }


def describe_class(field: mm.Field[Any]) -> Description:
    """Return what the class of a field that is not ours says about its values."""
    return next((_DESCRIBED[cls](field) for cls in type(field).__mro__ if cls in _DESCRIBED), _any())


def described_default(value: Any) -> Description:
    """Return a default as clients would send it; empty where JSON cannot express it."""
    if isinstance(value, ObjectId):
        return {"default": str(value)}
    if isinstance(value, datetime):
        return {"default": value.isoformat(timespec="milliseconds") + ("Z" if value.tzinfo is None else "")}
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return {}
    return {"default": value}


def _dumped_default(field: mm.Field[Any]) -> Any:
    default = field.load_default.value
    return field._serialize(field.deserialize(default), None, {}) if isinstance(field, KindField) else default


def _presence(field: mm.Field[Any]) -> str:
    if field.required:
        return "required"
    return "optional" if field.load_default is missing else "defaulted"


def _any() -> Description:
    return {"kind": "any"}


def _nested(field: Any) -> Description:
    schema: Schema = field.schema
    inner: Description = {"kind": "object", "fields": describe_all(schema.load_fields)}
    if (field.unknown or schema.unknown) == INCLUDE:
        inner["open"] = True
    many = field.many or schema.many
    return {"kind": "array", "items": {**inner, "presence": "required"}} if many else inner


def _list(field: Any) -> Description:
    return {"kind": "array", "items": describe(field.inner), **described_lengths(field, "minItems", "maxItems")}


def _enum(field: Any) -> Description:
    known = [member.value if field.by_value else member.name for member in field.enum]
    return {"kind": "enums", "choices": known} if all(map(is_scalar, known)) else _any()


def _constant(field: Any) -> Description:
    return {"kind": "enums", "choices": [field.constant]} if is_scalar(field.constant) else _any()


def _moment(field: Any) -> Description:
    return {"kind": "date"} if field.format in (None, "iso", "iso8601") else described_text(field)


def _day(field: Any) -> Description:
    return described_text(field, **({"format": "date"} if field.format in (None, "iso") else {}))


#: How to describe the fields of each class; a subclass is described as its nearest base.
_DESCRIBED: Mapping[type, Callable[[Any], Description]] = MappingProxyType(
    {
        mm.String: described_text,
        mm.Email: lambda field: {"kind": "email"},
        mm.Url: lambda field: described_text(field, format="uri"),
        mm.UUID: lambda field: described_text(field, format="uuid"),
        mm.Integer: lambda field: described_number(field, "integer"),
        mm.Float: lambda field: described_number(field, "number"),
        mm.Boolean: lambda field: {"kind": "boolean"},
        mm.DateTime: _moment,
        mm.Date: _day,
        mm.Time: lambda field: described_text(field, format="time"),
        mm.List: _list,
        mm.Mapping: lambda field: {"kind": "object", "fields": None},
        mm.Nested: _nested,
        mm.Enum: _enum,
        mm.Constant: _constant,
    }
)
