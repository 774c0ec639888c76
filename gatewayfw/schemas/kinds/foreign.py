"""Fields that are not ours: marshmallow's fields, users' subclasses, and Schemas.

`as_kind` returns the kind of any field: one of our own as it is, any other wrapped in `Foreign`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from marshmallow import EXCLUDE, INCLUDE, Schema, missing
from marshmallow import fields as mm

from gatewayfw.schemas.kinds.adopted import adopt_schema
from gatewayfw.schemas.kinds.base import Constant, Description, Kind, cut, described_default
from gatewayfw.schemas.kinds.checks import described_lengths, is_scalar, lengths
from gatewayfw.schemas.kinds.numbers import described_number
from gatewayfw.schemas.kinds.quick import Store
from gatewayfw.schemas.kinds.sizes import DECIMAL, DOCUMENT, ENDLESS, LETTER, NUMBER, TEXT, element_bytes
from gatewayfw.schemas.kinds.text import described_text

#: Marshmallow's fields whose values have no parts.
_SCALARS = (mm.String, mm.Number, mm.Boolean, mm.DateTime)
#: Characters of a moment in a marshmallow field, which stores it as text.
_MOMENT = 64


class Foreign(Kind):
    """The kind of a marshmallow field or a user's field.

    Its values are scalars, or only loading them shows what they contain.
    """

    def __init__(self, field: mm.Field[Any]) -> None:
        self._answered = field
        self.kind = str(getattr(field, "kind", type(field).__name__))

    @property
    def _field(self) -> mm.Field[Any]:
        return self._answered

    @property
    def is_unknown(self) -> bool:  # type: ignore[override]  # by the field's class
        return not isinstance(self._field, _SCALARS)

    def part(self, key: Any) -> mm.Field[Any] | None:
        field: Any = self._field
        if isinstance(key, int):
            return getattr(field, "inner", field if isinstance(field, mm.Nested) else None)
        return _nested_part(field, key) if isinstance(field, mm.Nested) else None

    def storer(self) -> Store:
        return _dumps(self._field)

    def largest(self) -> int:
        return next((rule(self._field) for cls, rule in _LARGEST.items() if isinstance(self._field, cls)), ENDLESS)

    def description(self) -> Description:
        return next((_DESCRIBED[cls](self._field) for cls in type(self._field).__mro__ if cls in _DESCRIBED), _any())


class SchemaField(Kind, mm.Nested):
    """A value described by a user's marshmallow Schema.

    The Schema's own rules apply, ``unknown`` included, and clients see its own messages. Messages that
    format ``{input}`` echo values, so give such fields other ``error_messages``.
    """

    kind = "schema"
    is_unknown = True

    def __init__(self, schema: Schema | type[Schema]) -> None:
        super().__init__(adopt_schema(schema() if isinstance(schema, type) else schema), required=True)
        # Dump exactly what was loaded: load_only fields, too, and no dump_default.
        own = self.schema
        own.load_fields = {name: copy.copy(field) for name, field in own.load_fields.items()}
        for field in own.load_fields.values():
            field.dump_default = missing
        own.dump_fields = own.load_fields

    def _serialize(  # type: ignore[override]  # Nested and Field of marshmallow 4.4 disagree on a name
        self, value: Any, attr: str | None, obj: Any, **kwargs: Any
    ) -> Any:
        dumped = super()._serialize(value, attr, obj, **kwargs)  # type: ignore[no-untyped-call]  # marshmallow 4.4
        if self.schema.unknown == INCLUDE and isinstance(value, Mapping) and isinstance(dumped, dict):
            known = {field.attribute or name for name, field in self.schema.load_fields.items()}
            dumped.update((key, item) for key, item in value.items() if key not in known)
        return dumped

    def storer(self) -> Store:
        return _dumps(self)

    def part(self, key: Any) -> mm.Field[Any] | None:
        return self if isinstance(key, int) else _nested_part(self, key)

    def largest(self) -> int:
        fields = self._counted_fields
        return ENDLESS if fields is None else DOCUMENT + largest_of(fields)

    def unstated(self, path: str) -> Iterator[str]:
        fields = self._counted_fields
        return unstated_in(fields, path) if fields else super().unstated(path)

    def description(self) -> Description:
        return _nested(self)

    @property
    def _counted_fields(self) -> Mapping[str, mm.Field[Any]] | None:
        """The fields of one object; None where any key or a list of objects is taken."""
        return None if self.schema.many or self.schema.unknown == INCLUDE else self.schema.load_fields


def as_kind(field: mm.Field[Any]) -> Kind:
    """Return the kind of a field: the field itself, if it is one of ours."""
    return field if isinstance(field, Kind) else Foreign(field)


def reads_otherwise(field: mm.Field[Any]) -> bool:
    """Tell whether Python sees stored values of a field, or parts of them, otherwise."""
    kind = as_kind(field)
    return kind.reads_otherwise or any(reads_otherwise(inner) for _, inner in kind.parts())


def describe(field: mm.Field[Any]) -> Description:
    """Return the whole description of a field; see `gatewayfw.catalog.kinds`."""
    described = as_kind(field).description()
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


def largest_of(fields: Mapping[str, mm.Field[Any]]) -> int:
    """Return the most bytes that some fields take together.

    The result is `ENDLESS` or more if there is no maximum.
    """
    return sum(element_bytes(name, as_kind(field).largest()) for name, field in fields.items())


def unstated_in(fields: Mapping[str, mm.Field[Any]], path: str) -> Iterator[str]:
    """Yield the paths without a maximum, of fields below ``path`` and their parts."""
    for name, field in fields.items():
        yield from as_kind(field).unstated(f"{path}.{name}")


def _dumped_default(field: mm.Field[Any]) -> Any:
    default = field.load_default.value
    return field._serialize(field.deserialize(default), None, {}) if as_kind(field).own else default


def _presence(field: mm.Field[Any]) -> str:
    if field.required:
        return "required"
    return "optional" if field.load_default is missing else "defaulted"


def _nested_part(field: mm.Nested, key: Any) -> mm.Field[Any] | None:
    known = field.schema.load_fields.items()
    return next((inner for name, inner in known if key == (inner.data_key or name)), None)


def sent_parts(field: mm.Field[Any], sent: Any) -> Iterator[tuple[Any, mm.Field[Any] | None, Any]]:
    """Yield key or index, field and item of each part of a sent value.

    The field is None for a key that loading drops.
    """
    if isinstance(field, mm.Nested):
        if isinstance(sent, list):
            yield from ((index, field, item) for index, item in enumerate(sent))
        elif isinstance(sent, Mapping):
            drops = (field.unknown or field.schema.unknown) == EXCLUDE
            found = ((key, _nested_part(field, key), item) for key, item in sent.items())
            yield from (one for one in found if drops or one[1] is not None)
    elif isinstance(field, mm.List) and isinstance(sent, list):
        yield from ((index, field.inner, item) for index, item in enumerate(sent))
    elif isinstance(field, mm.Tuple) and isinstance(sent, list):
        yield from ((index, *pair) for index, pair in enumerate(zip(field.tuple_fields, sent, strict=False)))
    elif isinstance(field, mm.Dict) and isinstance(sent, Mapping) and field.value_field is not None:
        yield from ((key, field.value_field, item) for key, item in sent.items())


def _dumps(field: mm.Field[Any]) -> Store:
    return lambda value: None if value is None else cut(field._serialize(value, None, {}))


def _largest_text(field: Any) -> int:
    most = lengths(field)[1]
    return ENDLESS if most is None else TEXT + most * LETTER


#: The most bytes of a stored value, by the class of its field; the first match counts.
_LARGEST: Mapping[type, Callable[[Any], int]] = MappingProxyType(
    {
        mm.Boolean: lambda field: 1,
        mm.DateTime: lambda field: TEXT + _MOMENT,
        mm.Decimal: lambda field: DECIMAL,
        mm.Number: lambda field: ENDLESS if field.as_string else NUMBER,
        mm.String: _largest_text,
    }
)


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
        mm.Dict: lambda field: {"kind": "object", "fields": None},
        mm.Nested: _nested,
        mm.Enum: _enum,
        mm.Constant: _constant,
    }
)
