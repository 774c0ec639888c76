"""Fields that are not ours: marshmallow's fields, users' subclasses, and Schemas.

`as_kind` returns the kind of any field: one of our own as it is, any other wrapped in a `ForeignField`. Before that,
users' fields and Schemas are adopted: marshmallow reads ``mapping.items`` for an absent key named "items", and gives
each load the same default.
"""

import copy
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from operator import is_
from types import MappingProxyType
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, missing, utils
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.errors import DefinitionError
from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.base import Ability, Description, Doubtful, Kind
from gatewayfw.schemas.kinds.checks import coded, put_codes
from gatewayfw.schemas.kinds.descriptions import describe_class
from gatewayfw.schemas.kinds.file import FileField
from gatewayfw.schemas.kinds.foreign_values import compared_form, is_many, is_own, one_of, part_of, stored_form
from gatewayfw.schemas.kinds.model_fields import refuse_unkept
from gatewayfw.schemas.kinds.sizes import DECIMAL, DOCUMENT, ENDLESS, MOMENT, NUMBER, UUID, choice_bytes, element_bytes
from gatewayfw.schemas.kinds.text import largest_text
from gatewayfw.schemas.values import SCALARS, plain

#: What a Schema says of its fields that may be absent: all of them, or some by their names and paths.
Partial = bool | Collection[str] | None
#: Fields whose values are alike in JSON, BSON and Python; a subclass may load anything.
_ALIKE = frozenset(
    {mm.String, mm.Email, mm.Url, mm.Integer, mm.Float, mm.Boolean}
    | {mm.DateTime, mm.NaiveDateTime, mm.AwareDateTime, mm.Date, mm.Time, mm.TimeDelta}
)


class ForeignField(Kind):
    """A field that wraps one that is not ours, and stores what it loads."""

    def __init__(self, field: mm.Field[Any]) -> None:
        super().__init__(
            required=field.required,
            allow_none=field.allow_none,
            load_default=field.load_default,
            metadata=field.metadata,
            error_messages=dict(field.error_messages),
        )
        self.wrapped = field
        self.kind = str(getattr(field, "kind", type(field).__name__))
        self.reads_otherwise = type(field) not in _ALIKE
        self.sorts = isinstance(field, tuple(_LARGEST))
        self.is_text = isinstance(field, mm.String) and not isinstance(field, mm.UUID)
        if isinstance(field, mm.List):
            self.reads_otherwise = type(field) is not mm.List or reads_otherwise(field.inner)

    @cached_property
    def elements(self) -> mm.Field[Any] | None:  # type: ignore[override]  # by the field's class
        inner = one_of(self.wrapped) if is_many(self.wrapped) else getattr(self.wrapped, "inner", None)
        return None if inner is None else _stored_kind(inner)

    @cached_property
    def abilities(self) -> frozenset[Ability]:  # type: ignore[override]  # by the field's class
        if isinstance(self.wrapped, (mm.Number, mm.TimeDelta)):
            return frozenset({Ability.CALCULATE, Ability.ORDER})
        if isinstance(self.wrapped, (mm.Date, mm.DateTime)):
            return frozenset({Ability.DATE, Ability.ORDER})
        return frozenset({Ability.LIST} if self.elements is not None else ())

    @property
    def is_unknown(self) -> bool:  # type: ignore[override]  # by the field's class
        field = self.wrapped
        if isinstance(field, mm.Nested):
            return (field.unknown or field.schema.unknown) == INCLUDE
        known = isinstance(field, mm.List) or (isinstance(field, mm.Mapping) and field.value_field is not None)
        return not known and not self.sorts and not isinstance(field, (mm.IP, mm.IPInterface))

    @property
    def sets_parts(self) -> bool:  # type: ignore[override]  # by the field's class
        return isinstance(self.wrapped, (mm.Nested, mm.Mapping)) and not is_many(self.wrapped)

    def part(self, key: Any) -> mm.Field[Any] | None:
        inner = part_of(self.wrapped, key)
        return None if inner is None else _stored_kind(inner)

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        if value is missing and not self.required and self.load_default is not missing:
            value = self.load_default() if callable(self.load_default) else self.load_default
        if value is None or value is missing:
            return super().deserialize(value)
        return stored_form(self.wrapped, value)

    def operand(self, value: Any, path: str) -> Any:
        if value is None:
            return None
        bare = copy.copy(self.wrapped)
        bare.validators = []  # a filter may ask beyond the range, and between two values
        if isinstance(bare, mm.Decimal):
            bare.places = None
        elif isinstance(bare, mm.Integer) and not bare.strict and isinstance(value, float) and value % 1:
            bare = mm.Float()
        try:
            return compared_form(bare, value)
        except ValidationError:
            if self.elements is not None and not isinstance(value, list):
                return as_kind(self.elements).operand(value, path)
            raise (Doubtful if plain(value) else Refused)({path: [messages.INVALID]}) from None

    def amount(self, value: Any) -> Any:
        if isinstance(self.wrapped, mm.Integer) and not isinstance(value, int):
            return None
        if not isinstance(self.wrapped, (mm.Decimal, mm.TimeDelta)):
            return super().amount(value)
        try:
            return self.operand(value, "")
        except Refused:
            return None

    def factor(self, value: Any) -> Any:
        return super().amount(value) if isinstance(self.wrapped, mm.TimeDelta) else self.amount(value)

    def current(self, now: datetime) -> Any:
        return now.date() if isinstance(self.wrapped, mm.Date) else now

    @property
    def largest(self) -> int:  # type: ignore[override]  # by the field's class
        if (fields := self._counted_fields) is not None:
            return DOCUMENT + largest_of(fields)
        rule = next((rule for cls, rule in _LARGEST.items() if isinstance(self.wrapped, cls)), None)
        is_theirs = not self.is_text and (is_own(self.wrapped, "_deserialize") or is_own(self.wrapped, "_serialize"))
        return ENDLESS if rule is None or is_theirs else rule(self.wrapped)

    def unstated(self, path: str) -> Iterator[str]:
        fields = self._counted_fields
        return super().unstated(path) if fields is None else unstated_in(fields, path)

    @property
    def _counted_fields(self) -> Mapping[str, mm.Field[Any]] | None:
        """The fields of a Schema; None where it takes any key or a list of objects."""
        schema = self.wrapped.schema if isinstance(self.wrapped, SchemaField) else None
        return None if schema is None or schema.many or schema.unknown == INCLUDE else schema.load_fields

    def description(self) -> Description:
        return describe_class(self.wrapped)


class SchemaField(mm.Nested):
    """A value described by a user's marshmallow Schema.

    The Schema's own rules apply, ``unknown`` included, and clients see its own messages. Messages that
    format ``{input}`` echo values, so give such fields other ``error_messages``.
    """

    kind = "schema"

    def __init__(self, schema: Schema | type[Schema]) -> None:
        super().__init__(adopt_schema(schema() if isinstance(schema, type) else schema), required=True)
        put_codes(self)


def as_kind(field: mm.Field[Any]) -> Kind:
    """Return the kind of a field: the field itself, if it is one of ours."""
    return field if isinstance(field, Kind) else ForeignField(field)


def walk(field: mm.Field[Any], path: str = "") -> Iterator[tuple[str, mm.Field[Any]]]:
    """Yield path and field for a field and all that is in it."""
    yield path, field
    for below, inner in as_kind(field).parts(path):
        yield from walk(inner, below)


def change_parts(
    field: mm.Field[Any], change: Callable[[mm.Field[Any], str], mm.Field[Any]], path: str = ""
) -> mm.Field[Any]:
    """Return a copy of a field with changed parts.

    ``change`` is called with each part and its path. Where it changes none, the field itself is returned.
    """
    kind = as_kind(field)
    parts = kind.parts(path)
    changed = [change(inner, below) for below, inner in parts]
    return field if all(map(is_, changed, (inner for _, inner in parts))) else kind.with_parts(changed)


def in_models(field: mm.Field[Any], where: str = "model") -> mm.Field[Any]:
    """Return a field for documents; one that is not ours becomes a `ForeignField`.

    Raises:
        DefinitionError: documents cannot hold its values as they are, or show more than it does; or it is a file.
    """
    if isinstance(field, FileField):
        raise DefinitionError(f"{where}: a file comes with a request; documents refer to those of gw.files.model")
    if not isinstance(field, Kind):
        refuse_unkept(field, where)
        return ForeignField(field)
    return change_parts(field, lambda inner, _: in_models(inner, where))


def _stored_kind(field: mm.Field[Any]) -> mm.Field[Any]:
    """Return the kind that stores a part of a document's field."""
    return change_parts(field, lambda inner, _: _stored_kind(inner)) if isinstance(field, Kind) else ForeignField(field)


def reads_otherwise(field: mm.Field[Any]) -> bool:
    """Tell whether Python sees stored values of a field, or parts of them, otherwise."""
    return any(as_kind(inner).reads_otherwise for _, inner in walk(field))


def largest_of(fields: Mapping[str, mm.Field[Any]]) -> int:
    """Return the most bytes of some fields together; `ENDLESS` or more for no maximum."""
    return sum(element_bytes(name, as_kind(field).largest) for name, field in fields.items())


def unstated_in(fields: Mapping[str, mm.Field[Any]], path: str) -> Iterator[str]:
    """Yield the paths without a maximum, of fields below ``path`` and their parts."""
    for name, field in fields.items():
        yield from as_kind(field).unstated(f"{path}.{name}")


#: The most bytes of a stored value, by the class of its field; the first match counts. These are all that sort.
_LARGEST: Mapping[type, Callable[[Any], int]] = MappingProxyType(
    {
        mm.Boolean: lambda field: 1,
        mm.DateTime: lambda field: NUMBER,
        mm.Date: lambda field: MOMENT,
        mm.Time: lambda field: MOMENT,
        mm.TimeDelta: lambda field: NUMBER,
        mm.UUID: lambda field: UUID,
        mm.Enum: lambda field: choice_bytes([field._serialize(one, None, {}) for one in field.enum]),
        mm.Decimal: lambda field: DECIMAL,
        mm.Number: lambda field: ENDLESS if field.as_string else NUMBER,
        mm.String: largest_text,
    }
)


def adopt(field: mm.Field[Any], partial: Partial = None) -> mm.Field[Any]:
    """Return a user's field in our form; ours as it is.

    ``partial`` is what the Schema that it is in gives on to those in it.

    Raises:
        DefinitionError: its ``load_default`` is a value that cannot be copied.
    """
    if isinstance(field, Kind):
        return field
    changed: Any = copy.copy(field)
    put_codes(changed)
    changed.load_default = _own_default(field.load_default)
    if isinstance(field, mm.Nested):
        given = field.nested.field if isinstance(field.nested, _Adopted) else field
        changed.nested, changed._schema = _Adopted(given, partial), None
        changed.only, changed.exclude = None, ()  # that Schema knows them
    for name in ("inner", "key_field", "value_field", "field"):
        inner = vars(field).get(name)
        if isinstance(inner, mm.Field):
            setattr(changed, name, adopt(inner, partial))
    if isinstance(field, mm.Tuple):
        changed.tuple_fields = [adopt(inner, partial) for inner in field.tuple_fields]
    return changed  # type: ignore[no-any-return]  # a field


def adopt_schema(schema: Schema, partial: Partial = None) -> Schema:
    """Return a copy of a Schema for a `Nested`, which prepares its fields.

    A Schema with a ``get_attribute`` of its own keeps it. Those in it know what is ``partial``: a part may be loaded
    by itself.
    """
    own: Any = copy.copy(schema)
    if type(own).get_attribute is Schema.get_attribute:
        own.get_attribute = _read_part
    known = {"unknown": messages.UNKNOWN, "type": messages.NO_OBJECT}
    own.error_messages = {key: coded(text, known.get(key)) for key, text in own.error_messages.items()}
    own.partial = schema.partial if partial is None else partial
    fields = own.declared_fields.items()
    own.declared_fields = {name: adopt(field, _partial_below(own.partial, name)) for name, field in fields}
    return own  # type: ignore[no-any-return]  # a Schema


@dataclass(frozen=True)
class _Adopted:
    """The Schema of a nested field; made at first use, as it may name itself."""

    field: mm.Nested
    partial: Partial

    def __call__(self) -> Schema:
        return adopt_schema(self.field.schema, self.partial)


def _partial_below(partial: Partial, name: str) -> Partial:
    if partial is None or isinstance(partial, bool):
        return partial
    return [path.removeprefix(f"{name}.") for path in partial if path.startswith(f"{name}.")]


def _own_default(default: Any) -> Any:
    if default is missing or type(default) in SCALARS or callable(default):
        return default
    try:
        copy.deepcopy(default)
    except Exception as error:
        raise DefinitionError(f"load_default: give a function, as {type(default).__name__} cannot be copied") from error
    return partial(copy.deepcopy, default)


def _read_part(obj: Any, path: str, default: Any) -> Any:
    for name in path.split("."):
        obj = obj.get(name, default) if isinstance(obj, Mapping) else utils.get_value(obj, name, default)
    return obj
