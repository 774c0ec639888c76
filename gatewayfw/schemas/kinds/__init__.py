"""The value kinds: one class for each, which knows all about it.

`gatewayfw.schemas.kinds.base` says what each answers, `gatewayfw.schemas.fields` makes them.
"""

from __future__ import annotations

from gatewayfw.schemas.kinds.array import ArrayField
from gatewayfw.schemas.kinds.base import Constant, Kind, KindField, Maxima, Parts, quick_of
from gatewayfw.schemas.kinds.binary import BinaryField
from gatewayfw.schemas.kinds.boolean import BooleanField
from gatewayfw.schemas.kinds.choice import AnyField, EnumsField
from gatewayfw.schemas.kinds.dates import DateField
from gatewayfw.schemas.kinds.decimals import DecimalField
from gatewayfw.schemas.kinds.foreign import SchemaField, as_kind
from gatewayfw.schemas.kinds.ids import ObjectIdField, UuidField
from gatewayfw.schemas.kinds.mapping import MappingField
from gatewayfw.schemas.kinds.numbers import IntegerField, NumberField
from gatewayfw.schemas.kinds.object import ObjectField
from gatewayfw.schemas.kinds.text import EmailField, StringField, UrlField

__all__ = [
    "AnyField",
    "ArrayField",
    "BinaryField",
    "BooleanField",
    "Constant",
    "DateField",
    "DecimalField",
    "EmailField",
    "EnumsField",
    "IntegerField",
    "Kind",
    "KindField",
    "MappingField",
    "Maxima",
    "NumberField",
    "ObjectField",
    "ObjectIdField",
    "Parts",
    "SchemaField",
    "StringField",
    "UrlField",
    "UuidField",
    "as_kind",
    "quick_of",
]
