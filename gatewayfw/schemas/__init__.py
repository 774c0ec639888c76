"""Value kinds, models with relations, and the structs that validate ``details``."""

from __future__ import annotations

from gatewayfw.schemas.fields import (
    any_,
    array,
    binary,
    boolean,
    date,
    decimal,
    defaulted,
    described,
    email,
    enums,
    file,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    optional,
    string,
    url,
    uuid,
)
from gatewayfw.schemas.registry import ModelSchema, Schemas
from gatewayfw.schemas.relations import IndexSpec, Options, RelatedRelation, Relation, Sort
from gatewayfw.schemas.structs import Mode, Struct, compile_struct

__all__ = [
    "IndexSpec",
    "Mode",
    "ModelSchema",
    "Options",
    "RelatedRelation",
    "Relation",
    "Schemas",
    "Sort",
    "Struct",
    "any_",
    "array",
    "binary",
    "boolean",
    "compile_struct",
    "date",
    "decimal",
    "defaulted",
    "described",
    "email",
    "enums",
    "file",
    "integer",
    "mapping",
    "nullable",
    "number",
    "object_",
    "object_id",
    "optional",
    "string",
    "url",
    "uuid",
]
