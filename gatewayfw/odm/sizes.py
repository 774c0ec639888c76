"""How large the documents of a model can get, judged from the definitions and settings alone.

A kind counts with its maximum: text with four bytes for each character, lists and relations full. The
pure fields of a document together count with the setting ``document_bytes`` at most, so that is what a
kind without a maximum counts with. Sizes are those of BSON, https://bsonspec.org, to the byte for what
has a maximum; the hidden field is counted too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import INCLUDE, validate
from marshmallow import fields as mm

from gatewayfw.odm.projection import Link, links_of, source_of
from gatewayfw.odm.snapshots import HIDDEN
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.kinds.base import (
    LONGEST_EMAIL,
    ArrayField,
    DateField,
    EmailField,
    EnumsField,
    ObjectField,
    ObjectIdField,
    SchemaField,
    StringField,
)

#: What MongoDB allows in one document, bytes.
MOST_BYTES = 16 * 1024 * 1024
#: Bytes of a letter in UTF-8 at most; of an ObjectId, a number or a date; of the hexadecimal form of an id.
_LETTER, _ID, _NUMBER, _HEX = 4, 12, 8, 24
#: Stands for no maximum; sums and products of it are never less.
ENDLESS = 1 << 62
#: Letters of a moment that a field of marshmallow's own stores, which is text.
_MOMENT = 64
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
        parts: its fields, the largest first; together they may have more bytes than the document.
        unstated: the texts and values whose definition states no maximum, as ``<model>.<path>``,
            sorted; ``[]`` stands for the elements of a list.
    """

    model: str
    bytes: int
    parts: tuple[Part, ...]
    unstated: tuple[str, ...]


def worst_sizes(schemas: Schemas) -> list[Size]:
    """Return the worst case of each model, in the order of their definition."""
    return [_worst(schemas, schema) for schema in schemas.get_schemas().values()]


def own_bytes(schema: ModelSchema) -> int:
    """Return the most bytes that the pure fields of a document may have; `ENDLESS` or more where one has no maximum."""
    return _DOCUMENT + _elements(schema.pure)


def copies_bytes(schemas: Schemas, links: Iterable[Link]) -> int:
    """Return the most bytes of the copies in some relations or reverse relations of one document."""
    most = schemas.settings.document_bytes
    return sum(_copies(link, _copied(schemas, link), most).bytes for link in links)


def _worst(schemas: Schemas, schema: ModelSchema) -> Size:
    most = schemas.settings.document_bytes
    parts = [Part("_id", _element("_id", _ID), 1, _ID), _part(HIDDEN, _hidden(schema))]
    unstated = set(_unstated_in(schema.pure, schema.name))
    for link in links_of(schemas, schema).values():
        copied = _copied(schemas, link)
        parts.append(_copies(link, copied, most))
        unstated.update(_unstated_in(copied, source_of(schemas, link).name))
    size = _DOCUMENT + _own(schema.pure, most) + sum(part.bytes for part in parts)
    parts += [_part(name, min(_value(field), most)) for name, field in schema.pure.items()]
    largest = sorted(parts, key=lambda part: -part.bytes)
    return Size(schema.name, size, tuple(largest), tuple(sorted(unstated)))


def _copied(schemas: Schemas, link: Link) -> Mapping[str, mm.Field[Any]]:
    """Return the pure fields of the copies that a relation or reverse relation holds."""
    source = source_of(schemas, link)
    return {name: source.pure[name] for name in source.copy_fields(link.excludes)}


def _copies(link: Link, copied: Mapping[str, mm.Field[Any]], most: int) -> Part:
    """Return the part of a relation or reverse relation: copies of some fields, as many as it may hold."""
    copy = _DOCUMENT + _element("_id", _ID) + _own(copied, most)
    if link.limit is None:
        return _part(link.name, copy)
    return Part(link.name, _element(link.name, _list(link.limit, copy)), link.limit, copy)


def _own(fields: Mapping[str, mm.Field[Any]], most: int) -> int:
    """Return the bytes of some pure fields of one document: no more than all of them may have."""
    return min(_elements(fields), most - _DOCUMENT)


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


def _value(field: mm.Field[Any]) -> int:
    """Return the most bytes of a value of a kind; `ENDLESS` or more where it has no maximum."""
    if isinstance(field, ArrayField):
        length = _longest(field)
        return ENDLESS if length is None else _list(length, _value(field.inner))
    if isinstance(field, (ObjectField, SchemaField)):
        fields = _fields(field)
        return ENDLESS if fields is None else _DOCUMENT + _elements(fields)
    size = _scalar(field)
    return ENDLESS if size is None else size


def _elements(fields: Mapping[str, mm.Field[Any]]) -> int:
    return sum(_element(name, _value(field)) for name, field in fields.items())


def _fields(field: mm.Field[Any]) -> Mapping[str, mm.Field[Any]] | None:
    """Return what is below an object kind; None for any other, and where any key or any number is taken."""
    if isinstance(field, ObjectField):
        return field.fields
    if not isinstance(field, SchemaField) or field.schema.many or field.schema.unknown == INCLUDE:
        return None
    return field.schema.load_fields


def _scalar(field: mm.Field[Any]) -> int | None:
    """Return the most bytes of a value without parts; None when its kind has no maximum."""
    if isinstance(field, ObjectIdField):
        return _ID
    if isinstance(field, mm.Boolean):
        return 1
    if isinstance(field, mm.DateTime):
        return _TEXT + _MOMENT
    if isinstance(field, DateField) or (isinstance(field, mm.Number) and not field.as_string):
        return _NUMBER
    if isinstance(field, EnumsField):
        return max(_encoded(choice) for choice in field.metadata["choices"])
    if isinstance(field, EmailField):
        return _TEXT + LONGEST_EMAIL
    if isinstance(field, mm.String):
        longest = _longest(field)
        return None if longest is None else _TEXT + longest * _LETTER
    return None


def _unstated_in(fields: Mapping[str, mm.Field[Any]], path: str) -> Iterator[str]:
    for name, field in fields.items():
        yield from _unstated(field, f"{path}.{name}")


def _unstated(field: mm.Field[Any], path: str) -> Iterator[str]:
    """Yield the paths at and below a field whose definition states no maximum."""
    if isinstance(field, ArrayField):
        if _longest(field) is None:
            yield path
        yield from _unstated(field.inner, f"{path}[]")
    elif fields := _fields(field):
        yield from _unstated_in(fields, path)
    elif _value(field) >= ENDLESS or (isinstance(field, StringField) and not field.states_maximum):
        yield path


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
    digits = count + sum(max(0, count - 10**power) for power in range(1, len(str(count))))
    return _DOCUMENT + count * (_ELEMENT + value) + digits if count else _DOCUMENT
