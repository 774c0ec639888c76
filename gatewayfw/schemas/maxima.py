"""The maxima that settings put on kinds that state none: characters of texts, ids of lists.

A kind is made before there is a gateway with settings, so these are put on copies where a validator
or a model is compiled. What marshmallow's own fields and Schemas describe is left to them.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.fields import Constant, first_message
from gatewayfw.schemas.kinds.base import ArrayField, EmailField, ObjectField, ObjectIdField, StringField
from gatewayfw.schemas.paths import below


@dataclass(frozen=True)
class Maxima:
    """What a text or a list of ids may have where its kind says nothing.

    Attributes:
        text: characters of a text.
        stated: characters that a kind may state itself, at most.
        ids: ids of a list; None for any number.
    """

    text: int
    stated: int
    ids: int | None = None


def bounded(field: mm.Field[Any], maxima: Maxima, where: str, path: str = "") -> mm.Field[Any]:
    """Return the field with a maximum on each text and list of ids in it that has none, itself where nothing changes.

    What must be longer than the maximum may be just as long as it must be.

    Raises:
        DefinitionError: a text's own ``size`` is above ``maxima.stated``, or a default is longer than
            allowed. The message starts with ``where`` and names the ``path``.
    """
    changed = _parts_bounded(field, maxima, where, path)
    place = f"{where}, field {path!r}"
    if isinstance(changed, StringField) and not isinstance(changed, EmailField):
        _check_stated(changed, maxima, place)
        changed = _with_maximum(changed, maxima.text)
    elif isinstance(changed, ArrayField) and isinstance(changed.inner, ObjectIdField) and maxima.ids is not None:
        changed = _with_maximum(changed, maxima.ids)
    if changed is not field:
        _check_default(changed, place)
    return changed


def _parts_bounded(field: mm.Field[Any], maxima: Maxima, where: str, path: str) -> mm.Field[Any]:
    """Return the field with its elements or fields bounded."""
    changed: Any
    if isinstance(field, ArrayField):
        inner = bounded(field.inner, maxima, where, f"{path}[]")
        if inner is field.inner:
            return field
        changed = copy.copy(field)
        changed.inner = inner
        return changed  # type: ignore[no-any-return]  # a copy of the field
    if isinstance(field, ObjectField) and field.fields:
        fields = {name: bounded(inner, maxima, where, below(path, name)) for name, inner in field.fields.items()}
        if all(fields[name] is inner for name, inner in field.fields.items()):
            return field
        changed = copy.copy(field)
        changed.fields = MappingProxyType(fields)
        return changed  # type: ignore[no-any-return]  # a copy of the field
    return field


def _check_stated(field: StringField, maxima: Maxima, place: str) -> None:
    ends = [end for check in _lengths(field) for end in (check.min, check.max, check.equal) if end is not None]
    if max(ends, default=0) > maxima.stated:
        raise DefinitionError(
            f"{place}: size {max(ends)} is above the {maxima.stated} characters "
            "that a text in a request may have; raise the setting 'max_body_text', or state a smaller size"
        )


def _check_default(field: mm.Field[Any], place: str) -> None:
    """Refuse a constant default that the field took before it was bounded."""
    if isinstance(field.load_default, Constant):
        try:
            field.deserialize(field.load_default())
        except ValidationError as error:
            raise DefinitionError(f"{place}: it refuses its default: {first_message(error.messages)}") from None


def _with_maximum(field: StringField | ArrayField, most: int) -> mm.Field[Any]:
    if field.maxima():
        return field
    least = max((check.min or 0 for check in _lengths(field)), default=0)
    most = max(most, least)
    changed: Any = copy.copy(field)
    changed.validators = [validate.Length(max=most), *field.validators]
    changed.metadata = {**field.metadata, "size": (least or None, most)}
    changed.states_maximum = False
    return changed  # type: ignore[no-any-return]  # a copy of the field


def _lengths(field: mm.Field[Any]) -> list[validate.Length]:
    return [check for check in field.validators if isinstance(check, validate.Length)]
