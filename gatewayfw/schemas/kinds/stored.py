"""Marshmallow fields in models: what they accept, and what is stored.

A value of a JSON type counts as the JSON form and is loaded; any other value is already the loaded form.
We store the loaded value where BSON has its type, part by part through lists, objects and Schemas, and its
dumped form otherwise. All our choice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from bson import Binary, Decimal128, ObjectId
from marshmallow import INCLUDE, ValidationError, missing
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.base import Ability, Description, Doubtful, KindField, Maxima
from gatewayfw.schemas.kinds.checks import change_each, load_part
from gatewayfw.schemas.kinds.decimals import decimal128_of
from gatewayfw.schemas.kinds.file import FileField
from gatewayfw.schemas.kinds.foreign import Foreign, as_kind, reads_otherwise
from gatewayfw.schemas.kinds.quick import Store, as_it_is
from gatewayfw.schemas.messages import INVALID, NO_VALUE
from gatewayfw.schemas.values import copy_parts, loaded_form, moment_of, plain

_JSON = (str, int, float, bool, list, dict, type(None))
#: What a user's field may raise when it dumps a value of the wrong type.
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
#: Fields whose values are alike in JSON, BSON and Python; a subclass may load anything.
_ALIKE = frozenset(
    {mm.String, mm.Email, mm.Url, mm.Integer, mm.Float, mm.Boolean}
    | {mm.DateTime, mm.NaiveDateTime, mm.AwareDateTime, mm.Date, mm.Time, mm.TimeDelta}
)
#: Formats of days and times whose texts have the order of time.
_CHRONOLOGICAL = (None, "iso", "iso8601")
_SORTED = (mm.String, mm.Number, mm.Boolean, mm.UUID, mm.DateTime, mm.Date, mm.Time, mm.TimeDelta, mm.Enum)


class StoredField(Foreign, mm.Field[Any]):
    """A model's field that wraps one that is not ours and stores what it loads."""

    def __init__(self, field: mm.Field[Any]) -> None:
        Foreign.__init__(self, field)
        mm.Field.__init__(
            self,
            required=field.required,
            allow_none=field.allow_none,
            load_default=field.load_default,
            metadata=field.metadata,
            error_messages=dict(field.error_messages),
        )

        self.reads_otherwise = type(field) not in _ALIKE
        self.sorts = isinstance(field, _SORTED)
        if isinstance(field, (mm.Date, mm.Time)) and field.format not in _CHRONOLOGICAL:
            self.sorts = False  # its text is stored
        self.is_text = isinstance(field, mm.String) and not isinstance(field, mm.UUID)
        if isinstance(field, mm.List):
            self.abilities = frozenset({Ability.LIST})
            self.reads_otherwise = type(field) is not mm.List or reads_otherwise(_find_part(field.inner))
        elif isinstance(field, mm.Number):
            self.abilities = frozenset({Ability.CALCULATE, Ability.ORDER})
        elif isinstance(field, (mm.DateTime, mm.Date)) and not isinstance(field, mm.Time):
            self.abilities = frozenset({Ability.DATE})

    @property
    def is_unknown(self) -> bool:  # type: ignore[override]  # by the field's class
        field = self._field
        if isinstance(field, mm.Nested):
            return _is_many(field) or (field.unknown or field.schema.unknown) == INCLUDE
        known = isinstance(field, mm.List) or (isinstance(field, mm.Dict) and field.value_field is not None)
        return not known and not isinstance(field, (*_SORTED, mm.UUID, mm.IP, mm.IPInterface))

    @property
    def sets_parts(self) -> bool:  # type: ignore[override]  # by the field's class
        return isinstance(self._field, (mm.Nested, mm.Dict)) and not _is_many(self._field)

    @property
    def elements(self) -> mm.Field[Any] | None:
        return _find_part(self._field.inner) if isinstance(self._field, mm.List) else None

    def part(self, key: Any) -> mm.Field[Any] | None:
        if isinstance(self._field, mm.Dict):
            inner = self._field.value_field
            return None if inner is None else _find_part(inner)
        inner = super().part(key)
        return None if inner is None else _find_part(inner)

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        if value is missing and not self.required and self.load_default is not missing:
            value = self.load_default() if callable(self.load_default) else self.load_default
        if value is None or value is missing:
            return super().deserialize(value)
        return _store(self._field, _load(self._field, value))

    def bound(self, maxima: Maxima) -> mm.Field[Any]:
        return self

    def storer(self) -> Store:
        return as_it_is

    def operand(self, value: Any, path: str) -> Any:
        """Return the stored form of a value in either form, for comparing."""
        if value is None:
            return None
        bare = copy.copy(self._field)
        bare.validators = []  # a filter may ask beyond the range
        try:
            return _store(bare, _load(bare, value))
        except ValidationError:
            if self.elements is not None and not isinstance(value, list):
                return as_kind(self.elements).operand(value, path)
            raise (Doubtful if plain(value) else Refused)({path: [INVALID]}) from None

    def amount(self, value: Any) -> Any:
        if isinstance(self._field, mm.Integer) and not isinstance(value, int):
            return None
        if not isinstance(self._field, mm.Decimal):
            return super().amount(value)
        try:
            return Decimal128(Decimal(value)) if isinstance(value, (str, int, Decimal)) else None
        except ArithmeticError:
            return None

    def current(self, now: datetime) -> Any:
        return now.date() if isinstance(self._field, mm.Date) else now

    def largest(self) -> int:
        return as_kind(self._field).largest()

    def unstated(self, path: str) -> Iterator[str]:
        return as_kind(self._field).unstated(path)

    def description(self) -> Description:
        return as_kind(self._field).description()


def in_models(field: mm.Field[Any], where: str = "model") -> mm.Field[Any]:
    """Return a field for documents; one that is not ours becomes a `StoredField`.

    Raises:
        DefinitionError: a field is ``load_only``, but documents show all they hold; or it is a file.
    """
    if isinstance(field, StoredField):
        return field
    if isinstance(field, FileField):
        raise DefinitionError(f"{where}: a file comes with a request; documents refer to those of gw.files.model")
    if not isinstance(field, KindField):
        if field.load_only:
            raise DefinitionError(f"{where}: load_only is for requests, not for what is stored")
        return StoredField(field)
    parts = [inner for _, inner in field.parts()]
    changed = [in_models(inner, where) for inner in parts]
    return field if all(map(_is, changed, parts)) else field.with_parts(changed)


def _find_part(field: mm.Field[Any]) -> mm.Field[Any]:
    """Return the field for one part of a user's field or Schema."""
    return field if isinstance(field, KindField) else StoredField(field)


def _is(one: object, other: object) -> bool:
    return one is other


def _is_many(field: mm.Field[Any]) -> bool:
    return isinstance(field, mm.Nested) and (field.many or field.schema.many)


def _load(field: mm.Field[Any], value: Any) -> Any:
    """Return what a field loads from a value in either form."""
    if type(value) not in _JSON and _has_no_dump(field, value):
        field._validate(value)
        return value
    return load_part(field, _json_form(field, value))


def _has_no_dump(field: mm.Field[Any], value: Any) -> bool:
    """Tell whether a field dumps values in a form that it may not load again."""
    return not isinstance(field, (mm.Number, mm.Nested, KindField)) and _dump(field, value) is value


def _dump(field: mm.Field[Any], value: Any) -> Any:
    try:
        return field._serialize(value, None, {})
    except _WRONG:
        raise ValidationError(INVALID) from None


def _json_form(field: mm.Field[Any], value: Any) -> Any:
    """Return a value in the form that the field loads; its parts may have either."""
    if isinstance(field, KindField) or value is None:
        return value  # the field loads both forms
    value = _python_form(field, value)
    if isinstance(field, mm.List) and isinstance(value, list):
        return _list_of(value, lambda one: _json_form(field.inner, one))
    inner = field.value_field if isinstance(field, mm.Dict) else None
    if inner is not None and isinstance(value, Mapping):
        return change_each(value.items(), lambda _, one: _json_form(inner, one))
    if isinstance(field, mm.Nested) and not isinstance(field, mm.Pluck):
        if _is_many(field) and isinstance(value, list):
            return _list_of(value, lambda one: _nested_form(field, one))
        return _nested_form(field, value)
    return copy_parts(value) if type(value) in _JSON else _dump(field, value)  # hooks may change a copy


def _python_form(field: mm.Field[Any], value: Any) -> Any:
    """Return a value from the database as Python sees it."""
    value = loaded_form(value)
    if isinstance(field, mm.AwareDateTime) and isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


def _nested_form(field: mm.Nested, value: Any) -> Any:
    fields = field.schema.load_fields
    if isinstance(value, Mapping):
        names = {inner.data_key or name: inner for name, inner in fields.items()}
        loaded = {inner.attribute or name: inner.data_key or name for name, inner in fields.items()}
        keyed = {key if key in names else loaded.get(key, key): one for key, one in value.items()}
        return change_each(keyed.items(), lambda key, one: _json_form(names[key], one) if key in names else one)
    if type(value) in _JSON:
        return value
    parts = {
        inner.data_key or name: (inner, field.schema.get_attribute(value, inner.attribute or name, missing))
        for name, inner in fields.items()
    }
    return {key: _json_form(inner, one) for key, (inner, one) in parts.items() if one is not missing}


def _list_of(values: Iterable[Any], change: Callable[[Any], Any]) -> list[Any]:
    return list(change_each(enumerate(values), lambda _, one: change(one)).values())


def _store(field: mm.Field[Any] | None, loaded: Any) -> Any:
    """Return the stored form of a loaded value.

    Raises:
        ValidationError: the database cannot hold it.
    """
    if loaded is None or type(loaded) in (str, int, float, bool):
        if plain(loaded):
            return loaded
        raise ValidationError(NO_VALUE)
    if isinstance(field, KindField):
        return field.storer()(loaded)
    if isinstance(field, mm.Nested) and not isinstance(field, mm.Pluck):
        if _is_many(field) and isinstance(loaded, (list, tuple)):
            return _list_of(loaded, lambda one: _object(field, one))
        return _object(field, loaded)
    if isinstance(loaded, (list, tuple)):
        inner = field.inner if isinstance(field, mm.List) else None
        return _list_of(loaded, lambda one: _store(inner, one))
    if isinstance(loaded, Mapping):
        inner = field.value_field if isinstance(field, mm.Dict) else None
        keys = field.key_field if isinstance(field, mm.Dict) else None
        named = loaded if keys is None else {_dump(keys, key): one for key, one in loaded.items()}
        return change_each(named.items(), lambda _, one: _store(inner, one))
    return _scalar(field, loaded)


def _object(field: mm.Nested, loaded: Any) -> Any:
    """Return the stored form of what a Schema loaded.

    A Schema loads an object with its fields, or an object of a user's class."""
    schema, fields = field.schema, field.schema.load_fields
    inside = {
        inner.data_key or name: (inner, schema.get_attribute(loaded, inner.attribute or name, missing))
        for name, inner in fields.items()
    }
    parts = {key: part for key, part in inside.items() if part[1] is not missing}
    if isinstance(loaded, Mapping) and (field.unknown or schema.unknown) == INCLUDE:
        known = {inner.attribute or name for name, inner in fields.items()}
        parts |= {key: (None, one) for key, one in loaded.items() if key not in known}
    return change_each(parts.items(), lambda _, part: _store(*part))


def _scalar(field: mm.Field[Any] | None, loaded: Any) -> Any:
    if isinstance(loaded, UUID):
        return Binary.from_uuid(loaded)
    if isinstance(loaded, (datetime, Decimal)):  # as texts they would have no place among others
        stored = moment_of(loaded) if isinstance(loaded, datetime) else decimal128_of(loaded)
        if stored is None:
            raise ValidationError(NO_VALUE)
        return stored
    if isinstance(loaded, (bytes, ObjectId)):
        return loaded
    dumped = None if field is None else _dump(field, loaded)
    if dumped is None or dumped is loaded or type(dumped) not in _JSON:
        raise ValidationError(NO_VALUE)
    return _store(None, dumped)
