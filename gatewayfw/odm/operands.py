"""What a field may be compared with in a filter: values of its type, in their stored form. Pure.

Only the type is judged: a number beyond a field's range, or a text longer than its size, is a
fair question. None compares with every field. All our choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow.fields import Field

from gatewayfw.errors import ValidationError
from gatewayfw.odm.links import object_id
from gatewayfw.schemas.fields import any_, stored
from gatewayfw.schemas.kinds.base import (
    AnyField,
    ArrayField,
    BooleanField,
    DateField,
    EmailField,
    EnumsField,
    IntegerField,
    NumberField,
    ObjectField,
    ObjectIdField,
    StringField,
)
from gatewayfw.schemas.paths import below
from gatewayfw.schemas.structs import check_value
from gatewayfw.schemas.values import encodable, finite_number, moment_of, plain

_ANY: Field[Any] = any_()
_UNKNOWN = "Unknown field."


def stored_operand(field: Field[Any] | None, value: Any, path: str) -> Any:
    """Return a value that a field is compared with in its stored form; ``field`` None takes any.

    A list is compared with a whole list, or with one element where elements are lists; anything
    else with each element. What a marshmallow field of the user's refuses is compared as it is.

    Raises:
        ValidationError: the value cannot be this field's; ``path`` says where it stands.
    """
    if value is None:
        return None
    if isinstance(field, ArrayField):
        return _in_array(field, value, path)
    if isinstance(field, ObjectField) and field.fields is not None and isinstance(value, Mapping):
        return _in_object(field.fields, value, path)
    field = _ANY if field is None else field
    stored_form = _STORED.get(type(field))
    if stored_form is None:
        return _of_the_user(field, value, path)
    result = stored_form(field, value)
    if result is None:
        raise _refusal(field, path)
    return result


def _in_array(field: ArrayField, value: Any, path: str) -> Any:
    if not isinstance(value, (list, tuple)):
        return stored_operand(field.inner, value, path)
    try:
        return [stored_operand(field.inner, one, f"{path}.{at}") for at, one in enumerate(value)]
    except ValidationError:
        if not isinstance(field.inner, ArrayField):
            raise
    return stored_operand(field.inner, value, path)


def _in_object(fields: Mapping[str, Field[Any]], value: Mapping[Any, Any], path: str) -> dict[str, Any]:
    unknown = [key for key in value if key not in fields]
    if unknown:
        raise ValidationError({below(path, key): [_UNKNOWN] for key in unknown})
    return {key: stored_operand(fields[key], item, f"{path}.{key}") for key, item in value.items()}


def _of_the_user(field: Field[Any], value: Any, path: str) -> Any:
    try:
        return check_value(field, value, path)
    except ValidationError:
        return value


def _refusal(field: Field[Any], path: str) -> ValidationError:
    """Return the error in the field's own words, unless these are made of values."""
    text = field.error_messages.get("invalid")
    return ValidationError({path: [text if isinstance(text, str) and "{" not in text else "Invalid value."]})


def _text(field: object, value: Any) -> Any:
    return value if isinstance(value, str) and encodable(value) else None


def _number(field: object, value: Any) -> Any:
    # Numbers of all types compare with each other; what is not finite is fair in a range.
    return value if isinstance(value, float) or finite_number(value) else None


def _flag(field: object, value: Any) -> Any:
    return value if isinstance(value, bool) else None


def _choice(field: Any, value: Any) -> Any:
    for choice in field.metadata["choices"]:
        like = _flag if isinstance(choice, bool) else _text if isinstance(choice, str) else _number
        if like(field, value) is not None:
            return value
    return None


def _anything(field: object, value: Any) -> Any:
    return stored(_ANY, value) if plain(value) else None


def _object(field: object, value: Any) -> Any:
    return _anything(field, value) if isinstance(value, Mapping) else None


#: What a value is stored as, by the type of the field; None for a value that the field cannot have.
_STORED: Mapping[type, Callable[[Any, Any], Any]] = {
    StringField: _text,
    EmailField: _text,
    NumberField: _number,
    IntegerField: _number,
    BooleanField: _flag,
    ObjectIdField: lambda field, value: object_id(value),
    DateField: lambda field, value: moment_of(value),
    EnumsField: _choice,
    ObjectField: _object,
    AnyField: _anything,
}
