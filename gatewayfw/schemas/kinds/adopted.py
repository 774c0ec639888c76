"""Users' fields and Schemas, mended: mappings are read by key, no default shared.

Marshmallow reads ``mapping.items`` for an absent key named "items", and gives each load the same default.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import Any

from marshmallow import Schema, missing, utils
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.values import SCALARS


def adopt(field: mm.Field[Any]) -> mm.Field[Any]:
    """Return a user's field in our form, or as it is where that is the same.

    Raises:
        DefinitionError: its ``load_default`` is a value that cannot be copied.
    """
    changed = _with_own_default(field)
    if isinstance(field, mm.Nested) and not isinstance(field.nested, _Adopted):
        changed = _own(changed, field)
        changed.nested, changed._schema = _Adopted(field), None
    for name in ("inner", "key_field", "value_field"):
        inner = vars(field).get(name)
        if isinstance(inner, mm.Field) and (adopted := adopt(inner)) is not inner:
            changed = _own(changed, field)
            setattr(changed, name, adopted)
    if isinstance(field, mm.Tuple):
        changed = _own(changed, field)
        changed.tuple_fields = [adopt(inner) for inner in field.tuple_fields]
    return changed  # type: ignore[no-any-return]  # a field


def adopt_schema(schema: Schema) -> Schema:
    """Return a copy of a Schema for a `Nested`, which prepares its fields.

    A Schema with a ``get_attribute`` of its own keeps it.
    """
    own: Any = copy.copy(schema)
    if type(own).get_attribute is Schema.get_attribute:
        own.get_attribute = _read_part
    own.declared_fields = {name: adopt(field) for name, field in own.declared_fields.items()}
    return own  # type: ignore[no-any-return]  # a Schema


class _Adopted:
    """The Schema of a nested field; made at first use, as it may name itself."""

    def __init__(self, field: mm.Nested) -> None:
        self._field = field

    def __call__(self) -> Schema:
        return adopt_schema(self._field.schema)


def _own(changed: Any, field: mm.Field[Any]) -> Any:
    return copy.copy(field) if changed is field else changed


def _with_own_default(field: mm.Field[Any]) -> Any:
    default = field.load_default
    if default is missing or type(default) in SCALARS or callable(default):
        return field
    try:
        copy.deepcopy(default)
    except Exception as error:
        raise DefinitionError(f"load_default: give a function, as {type(default).__name__} cannot be copied") from error
    changed = copy.copy(field)
    changed.load_default = partial(copy.deepcopy, default)
    return changed


def _read_part(obj: Any, path: str, default: Any) -> Any:
    """Return a part of what a Schema loaded, a mapping or a user's object."""
    for name in path.split("."):
        obj = obj.get(name, default) if isinstance(obj, Mapping) else utils.get_value(obj, name, default)
    return obj
