"""Descriptions of fields in plain words, as JSON: which values they take.

Those of our fields come from their kinds, those of marshmallow's fields from their classes.
Each is an object with ``kind`` and ``presence``, and what goes with that kind:

====================== ===================================================================
``string``             ``minLength``, ``maxLength``, ``pattern`` (for the whole text, in
                       Python's notation), ``format`` (``uri``, ``uuid``, ``date``, ``time``);
                       ``sized`` is false where ``maxLength`` is the setting ``max_text``,
                       because the definition states none
``object_id``          ``of``: the model whose ids are meant, where its author says
``email``, ``date``,
``boolean``, ``any``
``number``, ``integer``  ``minimum``, ``maximum``; ``exclusiveMinimum``, ``exclusiveMaximum``
``decimal``            ``places``, ``minimum``, ``maximum``: texts; ``whole`` is true where a whole
                       number is taken, too, as in acts of mode ``create``
``binary``             ``minBytes``, ``maxBytes``; ``sized`` as for ``string``
``file``               a part of ``multipart/form-data``: ``maxBytes``, and ``types``, media types of which
                       it has one; an empty list for any
``mapping``            ``values``: what stands under each key, of which any is taken
``enums``              ``choices``
``array``              ``items``, ``minItems``, ``maxItems``; ``prefixItems`` where each place has a
                       kind of its own
``object``             ``fields`` by name, or null where any key is taken; ``open`` where
                       others are taken, too
``selection``          see `gatewayfw.schemas.get`
``filter``             of a listing: ``fields`` by name, each with ``value``, the kind that its values are
                       compared with, and ``operators``, of which ``eq`` may be left out
``count``              of a listing: a whole number up to ``most``, beyond it ``{"atLeast": most}``
``bound``              of what programs read of a refused value: a number, or a text
====================== ===================================================================

``noneOf`` are values that a text or a number may not have.

``presence`` is ``required``, ``optional`` or ``defaulted``; then ``default`` is the value, unless a
function makes it or JSON has no form of it. ``nullable`` is true where null is taken, and false for an ``any``
that takes none. ``description`` is what its author wrote. Of marshmallow's own fields the usual ones are
known; any other is ``any``.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from bson import ObjectId
from marshmallow import INCLUDE, Schema, missing, validate
from marshmallow import fields as mm

from gatewayfw.context_variables import holding
from gatewayfw.schemas.kinds.base import Constant, Description, Kind, KindField
from gatewayfw.schemas.kinds.checks import choices, described_lengths, is_scalar, takes_several
from gatewayfw.schemas.kinds.model_fields import ISO, comes_back, schema_key, takes_booleans
from gatewayfw.schemas.kinds.numbers import described_number
from gatewayfw.schemas.kinds.text import described_text


@dataclass(frozen=True)
class _Surroundings:
    """Where the field stands that is being described.

    Attributes:
        mode: that of the act whose input it is; None for what is stored or shown.
        schemas: the Schemas that it is in.
    """

    mode: str | None = None
    schemas: frozenset[object] = frozenset()


_AROUND: ContextVar[_Surroundings] = ContextVar("around", default=_Surroundings())  # noqa: B039 - it is frozen


def _at(**changes: Any) -> AbstractContextManager[None]:
    return holding(_AROUND, replace(_AROUND.get(), **changes))


def describe_sent(field: mm.Field[Any], mode: str) -> Description:
    """Return the whole description of a part of the details of an act.

    In mode ``assert`` our objects fill in no defaults: a client has to send them. A Schema still loads without them.
    Mode ``create`` takes whole numbers for decimals.
    """
    with _at(mode=mode):
        return describe(field)


def describe(field: mm.Field[Any]) -> Description:
    """Return the whole description of a field."""
    described = field.description() if isinstance(field, Kind) else describe_class(field)
    if bool(field.allow_none) is not (described["kind"] == "any"):
        described["nullable"] = bool(field.allow_none)
    if described["kind"] == "decimal" and _AROUND.get().mode == "create":
        described["whole"] = True
    described["presence"] = _presence(field)
    if isinstance(field.load_default, Constant):
        default = field.load_default.value
        if isinstance(field, KindField):
            default = field._serialize(field.deserialize(default), None, {})
        described |= described_default(default)
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


def operands_of(field: Mapping[str, Any]) -> dict[str, Description]:
    """Return what each operator takes by which a listing filters a field, as a kind."""
    value = {name: part for name, part in field["value"].items() if name not in ("of", "description")}
    value_or_null = {**value, "nullable": True}
    known = {
        **dict.fromkeys(("eq", "ne"), value_or_null),
        **dict.fromkeys(("in", "nin"), {"kind": "array", "items": value_or_null}),
        "exists": {"kind": "boolean"},
        "prefix": {"kind": "string"},
        "contains": {"kind": "string", "minLength": 1, "maxLength": 200},
    }
    return {name: known.get(name, {**value, "nullable": False}) for name in field["operators"]}


def describe_class(field: mm.Field[Any]) -> Description:
    """Return what the class of a field that is not ours says about its values.

    Of a user's class that loads values by itself, nothing is known.
    """
    base: Any = next((cls for cls in type(field).__mro__ if cls in _DESCRIBED), None)
    is_known = base is not None and type(field)._deserialize is base._deserialize
    return _DESCRIBED[base](field) if is_known else _any()


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


def _presence(field: mm.Field[Any]) -> str:
    if field.required:
        return "required"
    if field.load_default is missing:
        return "optional"
    return "required" if _AROUND.get().mode == "assert" else "defaulted"


def _any() -> Description:
    return {"kind": "any"}


def _nested(field: Any) -> Description:
    schema: Schema = field.schema
    key, around = schema_key(schema), _AROUND.get()
    if key in around.schemas:  # a Schema inside of itself: the exports write no types that name themselves
        inner: Description = {"kind": "object", "fields": None}
    else:
        with _at(schemas=around.schemas | {key}):
            inner = {"kind": "object", "fields": _described_fields(schema)}
    if (field.unknown or schema.unknown) == INCLUDE:
        inner["open"] = True
    return _many(field) | {"items": {**inner, "presence": "required"}} if field.many or schema.many else inner


def _described_fields(schema: Schema) -> dict[str, Description]:
    """Return the descriptions of a Schema's fields.

    It asks for none that is ``partial`` or has a default. It fills in no default of the first, and in mode ``assert``
    none that the act would see.
    """
    described: dict[str, Description] = {}
    for name, field in schema.load_fields.items():
        one = describe(field)
        is_asserted = field.load_default is not missing and _AROUND.get().mode == "assert"
        if schema.partial is True or name in (schema.partial or ()) or is_asserted:
            one["presence"] = "optional"
            one.pop("default", None)
        described[field.data_key if field.data_key is not None else name] = one
    return described


def _plucked(field: Any) -> Description:
    inner = describe(field.schema.load_fields[field.field_name])
    if field.many:
        return _many(field) | {"items": {**inner, "presence": "required"}}
    return {name: value for name, value in inner.items() if name not in ("presence", "nullable", "default")}


def _many(field: mm.Field[Any]) -> Description:
    return {"kind": "array", **described_lengths(field, "minItems", "maxItems")}


def _list(field: Any) -> Description:
    only = [check.choices for check in field.validators if type(check) is validate.ContainsOnly]
    items = describe(field.inner)
    if len(only) == 1 and all(map(is_scalar, only[0])) and items["kind"] in ("string", "integer", "number"):
        items = {"kind": "enums", "choices": list(only[0]), "presence": items["presence"]}
    return _many(field) | {"items": items}


def _tuple(field: Any) -> Description:
    kinds = [describe(inner) | {"presence": "required"} for inner in field.tuple_fields]
    alike = bool(kinds) and all(kind == kinds[0] for kind in kinds)
    described = {"kind": "array", "minItems": len(kinds), "maxItems": len(kinds)}
    if alike:
        return {**described, "items": kinds[0]}
    return {**described, "items": {**_any(), "presence": "required"}, "prefixItems": kinds}


def _mapping(field: Any) -> Description:
    if field.value_field is None:
        return {"kind": "object", "fields": None}
    return {"kind": "mapping", "values": describe(field.value_field) | {"presence": "required"}}


def _enum(field: Any) -> Description:
    if not all(comes_back(field, member) for member in field.enum):
        return _any()
    if takes_several(field):
        return {"kind": "integer"}
    return {"kind": "enums", "choices": [field._serialize(member, None, {}) for member in field.enum]}


def _boolean(field: Any) -> Description:
    if takes_booleans(field):
        return {"kind": "boolean"}
    words = field.truthy | field.falsy
    return {"kind": "enums", "choices": sorted(words, key=repr)} if all(map(is_scalar, words)) else _any()


def _moment(field: Any) -> Description:
    if field.format in ISO:
        takes_no_zone = isinstance(field, mm.NaiveDateTime) and field.timezone is None
        return described_text(field) if takes_no_zone else {"kind": "date"}  # clients send moments in UTC, with Z
    return {"kind": "number"} if str(field.format).startswith("timestamp") else described_text(field)


def _in_format(name: str) -> Callable[[Any], Description]:
    """Return a describer of days or times; a format of their own has no name."""
    return lambda field: described_text(field, **({"format": name} if field.format in ISO else {}))


#: How to describe the fields of each class; a subclass is described as its nearest base.
_DESCRIBED: Mapping[type, Callable[[Any], Description]] = MappingProxyType(
    {
        mm.String: described_text,
        mm.Email: lambda field: described_text(field) if choices(field) else {"kind": "email"},
        mm.Url: lambda field: described_text(field, format="uri"),
        mm.UUID: lambda field: described_text(field, format="uuid"),
        mm.Integer: lambda field: described_number(field, "integer"),
        mm.Float: lambda field: described_number(field, "number"),
        mm.Boolean: _boolean,
        mm.Decimal: described_text,
        mm.DateTime: _moment,
        mm.NaiveDateTime: _moment,
        mm.AwareDateTime: _moment,
        mm.Date: _in_format("date"),
        mm.Time: _in_format("time"),
        mm.TimeDelta: lambda field: {"kind": "number"},
        mm.IP: described_text,
        mm.IPInterface: described_text,
        mm.List: _list,
        mm.Tuple: _tuple,
        mm.Mapping: _mapping,
        mm.Nested: _nested,
        mm.Pluck: _plucked,
        mm.Enum: _enum,
        mm.Constant: lambda field: (
            {"kind": "enums", "choices": [field.constant]} if is_scalar(field.constant) else _any()
        ),
    }
)
