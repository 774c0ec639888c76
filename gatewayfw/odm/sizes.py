"""How large the documents of a model can get, judged from the definitions alone.

A kind counts with its declared maximum: text with four bytes for each character, lists and relations
full. A kind that has none counts with a nominal size, and the result names it. Sizes are those of
BSON, https://bsonspec.org, to the byte for what has a maximum; the hidden field is counted too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import fields as mm
from marshmallow import validate

from gatewayfw.odm.projection import Link, links_of, source_of
from gatewayfw.odm.snapshots import HIDDEN
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.strict import (
    ArrayField,
    DateField,
    EmailField,
    EnumsField,
    ObjectField,
    ObjectIdField,
    SchemaField,
)

#: What MongoDB allows in one document, bytes.
MOST_BYTES = 16 * 1024 * 1024
#: What stands in for a maximum that is not declared: bytes of a text, elements of a list, bytes of any other value.
NOMINAL_TEXT, NOMINAL_LENGTH, NOMINAL_VALUE = 100, 10, 1000
#: Source: RFC 5321, section 4.5.3.1, as corrected by erratum 1690 of RFC 3696.
_EMAIL = 254
#: Bytes of a letter in UTF-8 at most; of an ObjectId, a number or a date; of the hexadecimal form of an id.
_LETTER, _ID, _NUMBER, _HEX = 4, 12, 8, 24
#: Bytes of an empty document or list, and of an element around its name and value: the type, the end of the name.
_DOCUMENT, _ELEMENT = 5, 2
#: Bytes around a text: its length and its end.
_TEXT = 5


@dataclass(frozen=True)
class Part:
    """One field of a model's documents: ``count`` values of ``each`` bytes, ``bytes`` in all."""

    name: str
    bytes: int
    count: int = 1
    each: int = 0


@dataclass(frozen=True)
class Size:
    """The worst case of one model.

    Attributes:
        bytes: of a document with everything at its maximum.
        parts: its fields, the largest first.
        assumed: what has no maximum and counts with a nominal size, as ``<model>.<path>``, sorted;
            ``[]`` stands for the elements of a list.
    """

    model: str
    bytes: int
    parts: tuple[Part, ...]
    assumed: tuple[str, ...]


def worst_sizes(schemas: Schemas) -> list[Size]:
    """Return the worst case of each model, in the order of their definition."""
    return [_worst(schemas, schema) for schema in schemas.get_schemas().values()]


def _worst(schemas: Schemas, schema: ModelSchema) -> Size:
    assumed: set[str] = set()
    parts = [Part("_id", _element("_id", _ID), 1, _ID)]
    parts += [_part(name, _value(field, f"{schema.name}.{name}", assumed)) for name, field in schema.pure.items()]
    parts += [_copies(source_of(schemas, link), link, assumed) for link in links_of(schemas, schema).values()]
    parts.append(_part(HIDDEN, _hidden(schema)))
    largest = sorted(parts, key=lambda part: -part.bytes)
    return Size(schema.name, _DOCUMENT + sum(part.bytes for part in parts), tuple(largest), tuple(sorted(assumed)))


def _copies(source: ModelSchema, link: Link, assumed: set[str]) -> Part:
    """Return the part of a relation or reverse relation: copies of ``source``, as many as it may hold."""
    copy = _DOCUMENT + _element("_id", _ID)
    for name in source.copy_fields(link.excludes):
        copy += _element(name, _value(source.pure[name], f"{source.name}.{name}", assumed))
    if link.limit is None:
        return _part(link.name, copy)
    return Part(link.name, _element(link.name, _list(link.limit, copy)), link.limit, copy)


def _hidden(schema: ModelSchema) -> int:
    """Return the bytes of ``_gw``: counters, the version of each copy, where the document opted out."""
    versions = outs = _DOCUMENT
    for relation in schema.relations.values():
        held = relation.limit or 1
        versions += _element(relation.name, _DOCUMENT + held * (_ELEMENT + _HEX + _NUMBER))
        lists = (_element(name, _list(held, _ID)) for name in relation.related_relations)
        outs += _element(relation.name, _DOCUMENT + sum(lists))
    counters = _element("rev", _NUMBER) + _element("v", _NUMBER)
    return _DOCUMENT + counters + _element("at", versions) + _element("out", outs)


def _value(field: mm.Field[Any], path: str, assumed: set[str]) -> int:
    """Return the most bytes of a value of a kind; notes in ``assumed`` what has no maximum."""
    if isinstance(field, ArrayField):
        length = _longest(field)
        if length is None:
            assumed.add(path)
            length = NOMINAL_LENGTH
        return _list(length, _value(field.inner, f"{path}[]", assumed))
    if isinstance(field, ObjectField) and field.fields is not None:
        return _object(field.fields, path, assumed)
    if isinstance(field, SchemaField):
        return _object(field.schema.load_fields, path, assumed)
    size = _scalar(field)
    if size is not None:
        return size
    assumed.add(path)
    return _TEXT + NOMINAL_TEXT if isinstance(field, mm.String) else NOMINAL_VALUE


def _scalar(field: mm.Field[Any]) -> int | None:
    """Return the most bytes of a value without parts; None when its kind has no maximum."""
    if isinstance(field, ObjectIdField):
        return _ID
    if isinstance(field, (DateField, mm.DateTime, mm.Number, mm.Boolean)):
        return 1 if isinstance(field, mm.Boolean) else _NUMBER
    if isinstance(field, EnumsField):
        return max(_encoded(choice) for choice in field.metadata["choices"])
    if isinstance(field, mm.String):
        longest = _longest(field)
        if longest is None:
            return _TEXT + _EMAIL if isinstance(field, EmailField) else None
        return _TEXT + longest * _LETTER
    return None


def _object(fields: Mapping[str, mm.Field[Any]], path: str, assumed: set[str]) -> int:
    return _DOCUMENT + sum(_element(name, _value(field, f"{path}.{name}", assumed)) for name, field in fields.items())


def _longest(field: mm.Field[Any]) -> int | None:
    """Return the nearest of the maxima that the field's checks of length have."""
    checks = [check for check in field.validators if isinstance(check, validate.Length)]
    ends = [check.equal if check.equal is not None else check.max for check in checks]
    return min((end for end in ends if end is not None), default=None)


def _encoded(choice: object) -> int:
    return _TEXT + len(choice.encode()) if isinstance(choice, str) else _NUMBER


def _part(name: str, value: int) -> Part:
    return Part(name, _element(name, value), 1, value)


def _element(name: str, value: int) -> int:
    return _ELEMENT + len(name.encode()) + value


def _list(count: int, value: int) -> int:
    """Return the bytes of a list: a document whose names are the numbers from 0."""
    digits = sum(len(str(number)) for number in range(count))
    return _DOCUMENT + count * (_ELEMENT + value) + digits
