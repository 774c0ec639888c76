"""Value kinds, models with relations, and the structs that validate ``details``."""

from __future__ import annotations

from gatewayfw.schemas.definition_types import IndexOptionsShape as IndexOptionsShape
from gatewayfw.schemas.definition_types import IndexShape as IndexShape
from gatewayfw.schemas.definition_types import OptionsShape as OptionsShape
from gatewayfw.schemas.definition_types import RelationShape as RelationShape
from gatewayfw.schemas.definition_types import ReverseShape as ReverseShape
from gatewayfw.schemas.definition_types import SortShape as SortShape
from gatewayfw.schemas.fields import any_ as any_
from gatewayfw.schemas.fields import array as array
from gatewayfw.schemas.fields import binary as binary
from gatewayfw.schemas.fields import boolean as boolean
from gatewayfw.schemas.fields import date as date
from gatewayfw.schemas.fields import decimal as decimal
from gatewayfw.schemas.fields import defaulted as defaulted
from gatewayfw.schemas.fields import described as described
from gatewayfw.schemas.fields import email as email
from gatewayfw.schemas.fields import enums as enums
from gatewayfw.schemas.fields import file as file
from gatewayfw.schemas.fields import integer as integer
from gatewayfw.schemas.fields import mapping as mapping
from gatewayfw.schemas.fields import nullable as nullable
from gatewayfw.schemas.fields import number as number
from gatewayfw.schemas.fields import object_ as object_
from gatewayfw.schemas.fields import object_id as object_id
from gatewayfw.schemas.fields import optional as optional
from gatewayfw.schemas.fields import string as string
from gatewayfw.schemas.fields import url as url
from gatewayfw.schemas.fields import uuid as uuid
from gatewayfw.schemas.registry import ModelSchema as ModelSchema
from gatewayfw.schemas.registry import Schemas as Schemas
from gatewayfw.schemas.relations import IndexSpec as IndexSpec
from gatewayfw.schemas.relations import Options as Options
from gatewayfw.schemas.relations import RelatedRelation as RelatedRelation
from gatewayfw.schemas.relations import Relation as Relation
from gatewayfw.schemas.relations import Sort as Sort
from gatewayfw.schemas.structs import Mode as Mode
from gatewayfw.schemas.structs import Struct as Struct
from gatewayfw.schemas.structs import compile_struct as compile_struct
