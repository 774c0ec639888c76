"""The values of marshmallow's fields in models.

A value of a JSON type counts as the JSON form and is loaded; any other value is already the loaded form.
We store the loaded value where BSON has its type, part by part through lists, objects and Schemas, and its
dumped form otherwise. What a reply shows of that must load as the same value again. All our choice.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from bson import Binary, Int64, ObjectId
from bson.errors import BSONError
from marshmallow import INCLUDE, Schema, ValidationError, missing
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.schemas.kinds.base import KindField
from gatewayfw.schemas.kinds.checks import change_each, load_part
from gatewayfw.schemas.kinds.numbers import decimal128_of
from gatewayfw.schemas.values import copy_parts, loaded_form, moment_of, plain, same, shown_form

_JSON = (str, int, float, bool, list, dict, type(None))
#: Classes whose fields load what a reply shows of their values as the same value.
_FAITHFUL = frozenset(
    {mm.String, mm.Email, mm.Url, mm.UUID, mm.Integer, mm.Float, mm.Decimal, mm.Boolean, mm.Enum, mm.TimeDelta}
    | {mm.DateTime, mm.NaiveDateTime, mm.AwareDateTime, mm.Date, mm.Time}
    | {mm.IP, mm.IPv4, mm.IPv6, mm.IPInterface, mm.IPv4Interface, mm.IPv6Interface}
)
#: Those of them that neither round numbers nor give a moment another zone.
_UNADJUSTED = _FAITHFUL - {mm.Decimal, mm.DateTime, mm.NaiveDateTime, mm.AwareDateTime}
#: What a user's field may raise when it dumps a value of the wrong type.
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def stored_form(field: mm.Field[Any], value: Any) -> Any:
    """Return the stored form of a value, be it in the JSON form or loaded.

    Raises:
        marshmallow.ValidationError: the field refuses it, the database cannot hold it, or what a reply shows
            of it would be stored as another value.
    """
    stored = compared_form(field, value)
    is_shown = _is_faithful(field) or same(value, shown_form(stored))  # loaded again it would be the same
    if not is_shown and (changed := _find_changes(field, stored)):
        raise ValidationError(changed)
    return stored


def check_default(field: mm.Field[Any], loaded: Any) -> None:
    """Refuse a default, which a Schema does not load, if it changes on its way.

    Raises:
        marshmallow.ValidationError: it would, or the field refuses it.
    """
    if changed := _find_changes(field, _store(field, loaded)):
        raise ValidationError(changed)


def compared_form(field: mm.Field[Any], value: Any) -> Any:
    """Return the form that a filter compares with; it need not come back as it is.

    Raises:
        marshmallow.ValidationError: the field refuses it, the database cannot hold it, or a hook has left out a name.
    """
    if type(value) not in _JSON and _has_no_dump(field, value):
        field._validate(value)
        return _store(field, value)
    given = _json_form(field, value)
    stored = _store(field, load_part(field, copy_parts(given)))  # hooks may change a copy
    if lost := _find_lost(field, given, stored):
        raise ValidationError(lost)
    return stored


def _find_lost(field: mm.Field[Any], given: Any, stored: Any) -> dict[Any, Any]:
    if isinstance(given, list) and isinstance(stored, list) and len(given) == len(stored):
        given, stored = dict(enumerate(given)), dict(enumerate(stored))
    if not (isinstance(given, dict) and isinstance(stored, dict)):
        return {}
    is_open = isinstance(field, mm.Nested) and (field.unknown or field.schema.unknown) == INCLUDE
    found: dict[Any, Any] = {}
    for at, one in given.items():
        part = part_of(field, at)
        if at not in stored and (part is not None or is_open):
            found[at] = [messages.NOT_KEPT]
        elif part is not None:
            found[at] = _find_lost(part, one, stored[at])
    return {at: lost for at, lost in found.items() if lost}


def part_of(field: Any, key: Any) -> mm.Field[Any] | None:
    """Return the field under a name of JSON or at an index; None where none is known."""
    if isinstance(field, KindField):
        return field.part(key)
    if isinstance(field, mm.Mapping):
        return field.value_field
    if isinstance(field, mm.Tuple):
        return {str(place): inner for place, inner in enumerate(field.tuple_fields)}.get(str(key))
    if isinstance(key, int):
        return getattr(field, "inner", field if isinstance(field, mm.Nested) else None)
    known = field.schema.load_fields.items() if isinstance(field, mm.Nested) else ()
    return next((inner for name, inner in known if key == (inner.data_key or name)), None)


def either_part(field: Any, key: Any) -> mm.Field[Any] | None:
    """Return the same as `part_of`, also for a name in Python of a Schema's field."""
    known = field.schema.load_fields.items() if isinstance(field, mm.Nested) else ()
    return part_of(field, key) or next((inner for name, inner in known if key == (inner.attribute or name)), None)


def _is_faithful(field: mm.Field[Any] | None) -> bool:
    """Tell whether the class of a field says that its values come back as they are."""
    if field is None or isinstance(field, KindField):
        return field is not None and all(_is_faithful(inner) for _, inner in field.parts())
    if isinstance(field, mm.Mapping) and type(field) in (mm.Mapping, mm.Dict):
        return _is_faithful(field.value_field)
    if isinstance(field, mm.List) and type(field) is mm.List:
        return _is_faithful(field.inner)
    if isinstance(field, mm.Tuple) and type(field) is mm.Tuple:
        return all(map(_is_faithful, field.tuple_fields))
    return type(field) in _FAITHFUL and not (field.pre_load or field.post_load)


def _find_changes(field: mm.Field[Any], stored: Any) -> Any:
    """Return messages for the parts that a reply's value is not loaded as; or None."""
    try:
        return _changed_parts(stored, compared_form(field, shown_form(stored)))
    except ValidationError as error:
        return isinstance(error.messages, dict) and error.messages or [messages.NOT_KEPT]
    except (*_WRONG, BSONError):  # what hooks and fields of users raise on a value that they have made themselves
        return [messages.NOT_KEPT]


def _changed_parts(stored: Any, again: Any) -> Any:
    if same(stored, again):
        return None
    if isinstance(stored, dict) and isinstance(again, dict) and stored.keys() == again.keys():
        pairs = ((key, _changed_parts(one, again[key])) for key, one in stored.items())
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        pairs = enumerate(map(_changed_parts, stored, again))  # type: ignore[assignment]  # keys are indexes
    else:
        return [messages.NOT_KEPT]
    return {key: texts for key, texts in pairs if texts}


def is_own(field: mm.Field[Any], method: str) -> bool:
    """Tell whether a method of a field, such as ``_serialize``, is a user's."""
    return getattr(type(field), method).__module__.partition(".")[0] not in ("marshmallow", "gatewayfw")


def is_many(field: mm.Field[Any]) -> bool:
    """Tell whether a field holds a list of what a Schema describes."""
    return isinstance(field, mm.Nested) and (field.many or field.schema.many)


def one_of(field: Any) -> mm.Field[Any]:
    """Return the field of one object of those that a Schema describes."""
    one = copy.copy(field)
    one.many, one._schema = False, None
    return one  # type: ignore[no-any-return]  # a field


def _has_no_dump(field: mm.Field[Any], value: Any) -> bool:
    """Tell whether a field dumps values in a form that it may not load again."""
    has_dump = type(field) in _FAITHFUL or isinstance(field, (mm.Number, mm.Nested, mm.List, mm.Tuple, KindField))
    return not has_dump and _dump(field, value) is value


def _dump(field: mm.Field[Any], value: Any) -> Any:
    try:
        return field._serialize(value, None, {})
    except _WRONG:
        raise ValidationError(messages.INVALID) from None


def _json_form(field: mm.Field[Any], value: Any) -> Any:
    """Return a value in the form that the field loads; its parts may have either."""
    if value is None:
        return None
    if isinstance(field, KindField):  # it loads both forms, but what is in it may not
        return _each_part(field, value, _json_form) if field.parts() else value
    if isinstance(field, mm.List) and _is_list(value):
        return _parts_of(value, lambda _, one: _json_form(field.inner, one))
    if isinstance(field, mm.Tuple) and isinstance(value, (list, tuple)):
        fields = dict(enumerate(field.tuple_fields))
        return _parts_of(value, lambda place, one: _json_form(fields[place], one) if place in fields else one)
    inner = field.value_field if isinstance(field, mm.Mapping) else None
    if inner is not None and isinstance(value, Mapping):
        return change_each(value.items(), lambda _, one: _json_form(inner, one))
    if isinstance(field, mm.Nested) and not isinstance(field, mm.Pluck):
        if is_many(field) and _is_list(value):
            return _parts_of(value, lambda _, one: _nested_form(field, one))
        return _nested_form(field, value)
    value = loaded_form(value)
    if isinstance(field, mm.AwareDateTime) and isinstance(value, datetime) and value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    if type(value) in _JSON:
        return value
    return _dump_whole(field, value) if type(field) in _UNADJUSTED else _dump(field, value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _dump_whole(field: mm.Field[Any], value: Any) -> Any:
    """Return what a field dumps, if it is the whole value, not a part of it."""
    dumped = _dump(field, value)
    if load_part(field, dumped) != value:
        raise ValidationError(messages.NOT_KEPT)
    return dumped


def _nested_form(field: mm.Nested, value: Any) -> Any:
    fields = field.schema.load_fields
    if isinstance(value, Mapping):
        names = {inner.data_key or name: inner for name, inner in fields.items()}
        loaded = {inner.attribute or name: inner.data_key or name for name, inner in fields.items()}
        keyed = {key if key in names else loaded.get(key, key): one for key, one in value.items()}
        if len(keyed) < len(value):
            raise ValidationError(messages.INVALID)  # a field by both its names
        return change_each(
            keyed.items(), lambda key, one: _json_form(names[key], one) if key in names else loaded_form(one)
        )
    if type(value) in _JSON:
        return value
    parts, attributes = _attributes(field.schema, value), [one.attribute or name for name, one in fields.items()]
    if fields and all(field.schema.get_attribute(value, name, missing) is missing for name in attributes):
        raise ValidationError(messages.INVALID)  # an object of another kind
    return change_each(parts.items(), lambda _, part: _json_form(*part))


def _attributes(schema: Schema, value: Any) -> dict[str, tuple[mm.Field[Any], Any]]:
    """Return field and value of the parts of an object by their names in JSON.

    An attribute that is None where its field does not take null counts as absent, as in many dataclasses.
    """
    found = {
        field.data_key or name: (field, schema.get_attribute(value, field.attribute or name, missing))
        for name, field in schema.load_fields.items()
    }
    absent = (missing,) if isinstance(value, Mapping) else (missing, None)
    return {key: part for key, part in found.items() if part[0].allow_none and part[1] is None or part[1] not in absent}


def _each_part(field: KindField, value: Any, change: Callable[[Any, Any], Any]) -> Any:
    if isinstance(value, list) and field.elements is not None:
        return _parts_of(value, lambda _, one: change(field.elements, one))
    if not isinstance(value, Mapping):
        return value
    named = [name for name, _ in field.parts() if name in value]
    names = [*named, *(name for name in value if name not in named)]
    parts = ((name, value[name]) for name in names)
    return change_each(parts, lambda name, one: one if (inner := field.part(name)) is None else change(inner, one))


def _parts_of(values: Iterable[Any], change: Callable[[int, Any], Any]) -> list[Any]:
    return list(change_each(enumerate(values), change).values())


def _store(field: mm.Field[Any] | None, loaded: Any) -> Any:
    """Return the stored form of a loaded value.

    Raises:
        ValidationError: the database cannot hold it, or a reply would show it otherwise than the field dumps it.
    """
    stored = _form_of(field, loaded)
    if field is not None and loaded is not None and is_own(field, "_serialize"):
        dumped = _dump(field, loaded)
        if not same(dumped, shown_form(stored)) and dumped is not loaded and moment_of(dumped) != stored:
            raise ValidationError(messages.NOT_KEPT)
    return stored


def _form_of(field: mm.Field[Any] | None, loaded: Any) -> Any:
    if loaded is None or type(loaded) in (str, int, float, bool, Int64):
        if plain(loaded):
            return int(loaded) if type(loaded) is Int64 else loaded
        raise ValidationError(messages.NO_VALUE)
    if isinstance(field, KindField):
        return _each_part(field, loaded, _store) if field.parts() else field.storer()(loaded)
    if isinstance(field, mm.Nested) and not isinstance(field, mm.Pluck):
        if is_many(field) and isinstance(loaded, (list, tuple)):
            return _parts_of(loaded, lambda _, one: _object(field, one))
        return _object(field, loaded)
    if isinstance(field, mm.Tuple) and isinstance(loaded, (list, tuple)):
        return _parts_of(loaded, lambda place, one: _store(field.tuple_fields[place], one))
    if isinstance(loaded, list) or isinstance(loaded, tuple) and not (field and is_own(field, "_serialize")):
        inner = field.inner if isinstance(field, mm.List) else None
        return _parts_of(loaded, lambda _, one: _store(inner, one))
    if isinstance(loaded, Mapping):
        inner = field.value_field if isinstance(field, mm.Mapping) else None
        keys = field.key_field if isinstance(field, mm.Mapping) else None
        named = loaded if keys is None else {_dump(keys, key): one for key, one in loaded.items()}
        return change_each(named.items(), lambda _, one: _store(inner, one))
    return _scalar(field, loaded)


def _object(field: mm.Nested, loaded: Any) -> Any:
    """Return the stored form of what a Schema loaded.

    A Schema loads an object with its fields, or an object of a user's class.
    """
    schema = field.schema
    parts: dict[str, tuple[mm.Field[Any] | None, Any]] = {**_attributes(schema, loaded)}
    if isinstance(loaded, Mapping):
        known = {inner.attribute or name for name, inner in schema.load_fields.items()}
        more = {key: one for key, one in loaded.items() if key not in known}
        if more and (field.unknown or schema.unknown) != INCLUDE:
            raise ValidationError({key: [messages.NOT_KEPT] for key in more})  # a hook has made them
        parts |= {key: (None, more[key]) for key in sorted(more, key=str)}  # marshmallow's order is that of a set
    return change_each(parts.items(), lambda _, part: _store(*part))


def _scalar(field: mm.Field[Any] | None, loaded: Any) -> Any:
    if isinstance(loaded, UUID):
        return Binary.from_uuid(loaded)
    if isinstance(loaded, (datetime, Decimal)):  # as texts they would have no place among others
        stored = moment_of(loaded) if isinstance(loaded, datetime) else decimal128_of(loaded)
        if stored is None:
            raise ValidationError(messages.NO_VALUE)
        return stored
    if isinstance(loaded, (bytes, ObjectId)):
        return loaded
    if isinstance(loaded, time) and loaded.tzinfo is not None:
        raise ValidationError(messages.NO_OFFSET)
    dumped = None if field is None else _dump(field, loaded)
    if dumped is None or dumped is loaded or type(dumped) not in _JSON or isinstance(loaded, (set, frozenset)):
        raise ValidationError(messages.NO_VALUE)  # sets are listed in another order by each process
    return _store(None, dumped)
