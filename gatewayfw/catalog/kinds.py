"""Fields in plain words: what a value may be, as JSON.

Each is an object with ``kind`` and ``presence``, and what goes with that kind:

====================== ===================================================================
``string``             ``minLength``, ``maxLength``, ``pattern`` (for the whole text, in
                       Python's notation), ``format`` (``uri``, ``uuid``, ``date``, ``time``);
                       ``sized`` is false where ``maxLength`` is the setting ``max_text``,
                       because the definition states none
``object_id``          ``of``: the model whose ids are meant, where its author says
``email``, ``date``,
``boolean``, ``any``
``number``, ``integer``  ``minimum``, ``maximum``
``enums``              ``choices``
``array``              ``items``, ``minItems``, ``maxItems``
``object``             ``fields`` by name, or null where any key is taken; ``open`` where
                       others are taken, too
``selection``          what `gatewayfw.catalog.selections` says
====================== ===================================================================

``presence`` is ``required``, ``optional`` or ``defaulted``; then ``default`` is the value, unless a
function makes it or JSON has no form of it. ``nullable`` is true where null is taken. ``description``
is what its author wrote. Of marshmallow's own fields the usual ones are known; any other is ``any``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from bson import ObjectId
from marshmallow import INCLUDE, Schema, missing, validate
from marshmallow import fields as mm

from gatewayfw.catalog.selections import selection
from gatewayfw.schemas.fields import Constant
from gatewayfw.schemas.kinds.base import (
    AnyField,
    ArrayField,
    BooleanField,
    DateField,
    EmailField,
    EnumsField,
    FullMatch,
    IntegerField,
    NumberField,
    ObjectField,
    ObjectIdField,
    StringField,
)
from gatewayfw.schemas.select import SelectStruct

Kind = dict[str, Any]


def kind_of(field: mm.Field[Any]) -> Kind:
    """Return the description of a field."""
    described = _described(field)
    if field.allow_none and described["kind"] != "any":
        described["nullable"] = True
    described["presence"] = _presence(field)
    if isinstance(field.load_default, Constant):
        described |= _default(field.load_default())
    if isinstance(text := field.metadata.get("description"), str):
        described["description"] = text
    return described


def kinds_of(fields: Mapping[str, mm.Field[Any]]) -> dict[str, Kind]:
    """Return the descriptions of fields by the name they are sent under."""
    return {
        field.data_key if field.data_key is not None else name: kind_of(field)
        for name, field in fields.items()
        if not field.dump_only
    }


def _described(field: mm.Field[Any]) -> Kind:
    for cls in type(field).__mro__:
        if cls in _KINDS:
            return _KINDS[cls](field)
    return {"kind": "any"}


def _default(value: Any) -> Kind:
    """Return a default as clients would send it; nothing where JSON has no form of it."""
    if isinstance(value, ObjectId):
        return {"default": str(value)}
    if isinstance(value, datetime):
        return {"default": value.isoformat(timespec="milliseconds") + ("Z" if value.tzinfo is None else "")}
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return {}
    return {"default": value}


def _presence(field: mm.Field[Any]) -> str:
    if field.required:
        return "required"
    return "optional" if field.load_default is missing else "defaulted"


def _text(field: mm.Field[Any], **more: Any) -> Kind:
    described: Kind = {"kind": "string", **_lengths(field, "minLength", "maxLength"), **more}
    if isinstance(field, StringField) and not field.states_maximum:
        described["sized"] = False
    for check in field.validators:
        # A pattern of marshmallow's own need only match the beginning.
        if isinstance(check, FullMatch) and not check.regex.flags & ~_PLAIN_FLAGS:
            described["pattern"] = check.regex.pattern
    choices = _choices(field)
    return described if choices is None else {"kind": "enums", "choices": choices}


#: What ``re.compile`` sets by itself for text.
_PLAIN_FLAGS = 32


def _number(kind: str) -> Callable[[Any], Kind]:
    def described(field: mm.Field[Any]) -> Kind:
        choices = _choices(field)
        return {"kind": kind, **_range(field)} if choices is None else {"kind": "enums", "choices": choices}

    return described


def _range(field: mm.Field[Any]) -> Kind:
    found: Kind = {}
    for check in field.validators:
        if isinstance(check, validate.Range) and check.min_inclusive and check.max_inclusive:
            found |= {} if check.min is None else {"minimum": check.min}
            found |= {} if check.max is None else {"maximum": check.max}
    return found


def _lengths(field: mm.Field[Any], least: str, most: str) -> Kind:
    found: Kind = {}
    for check in field.validators:
        if isinstance(check, validate.Length):
            low = check.min if check.equal is None else check.equal
            high = check.max if check.equal is None else check.equal
            found |= {least: low} if low else {}
            found |= {} if high is None else {most: high}
    return found


def _choices(field: mm.Field[Any]) -> list[Any] | None:
    found = [check for check in field.validators if isinstance(check, validate.OneOf)]
    return list(found[0].choices) if len(found) == 1 and all(map(_is_scalar, found[0].choices)) else None


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float))


def _array(field: Any) -> Kind:
    return {"kind": "array", "items": kind_of(field.inner), **_lengths(field, "minItems", "maxItems")}


def _object(field: ObjectField) -> Kind:
    return {"kind": "object", "fields": None if field.fields is None else kinds_of(field.fields)}


def _nested(field: Any) -> Kind:
    schema: Schema = field.schema
    inner: Kind = {"kind": "object", "fields": kinds_of(schema.load_fields)}
    if (field.unknown or schema.unknown) == INCLUDE:
        inner["open"] = True
    many = field.many or schema.many
    return {"kind": "array", "items": {**inner, "presence": "required"}} if many else inner


def _enum(field: Any) -> Kind:
    known = [member.value if field.by_value else member.name for member in field.enum]
    return {"kind": "enums", "choices": known} if all(map(_is_scalar, known)) else {"kind": "any"}


def _constant(field: Any) -> Kind:
    return {"kind": "enums", "choices": [field.constant]} if _is_scalar(field.constant) else {"kind": "any"}


def _object_id(field: mm.Field[Any]) -> Kind:
    of = field.metadata.get("of")
    return {"kind": "object_id", **({} if of is None else {"of": of})}


def _plain(kind: str) -> Callable[[Any], Kind]:
    return lambda field: {"kind": kind}


def _formatted(format_: str) -> Callable[[Any], Kind]:
    return lambda field: _text(field, format=format_)


#: How the fields of each class are described; of a subclass as its nearest base.
_KINDS: Mapping[type, Callable[[Any], Kind]] = MappingProxyType(
    {
        StringField: _text,
        EmailField: _plain("email"),
        NumberField: _number("number"),
        IntegerField: _number("integer"),
        BooleanField: _plain("boolean"),
        ObjectIdField: _object_id,
        DateField: _plain("date"),
        EnumsField: lambda field: {"kind": "enums", "choices": list(field.metadata["choices"])},
        AnyField: _plain("any"),
        ArrayField: _array,
        ObjectField: _object,
        SelectStruct: lambda field: {"kind": "selection", **selection(field.schemas, field.model, field.spec)},
        mm.String: _text,
        mm.Email: _plain("email"),
        mm.Url: _formatted("uri"),
        mm.UUID: _formatted("uuid"),
        mm.Integer: _number("integer"),
        mm.Float: _number("number"),
        mm.Boolean: _plain("boolean"),
        mm.DateTime: lambda field: _plain("date")(field) if field.format in (None, "iso", "iso8601") else _text(field),
        mm.Date: lambda field: _text(field, **({"format": "date"} if field.format in (None, "iso") else {})),
        mm.Time: _formatted("time"),
        mm.List: _array,
        mm.Dict: lambda field: {"kind": "object", "fields": None},
        mm.Nested: _nested,
        mm.Enum: _enum,
        mm.Constant: _constant,
    }
)
