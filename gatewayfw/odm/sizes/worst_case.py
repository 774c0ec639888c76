"""Compute how large a model's documents can get, from definitions and settings.

Each kind counts with its maximum: text with four bytes for each character, lists and relations full. All
pure fields of a document together count at most with the setting ``document_bytes``, so a kind without a
maximum counts with that. Sizes are those of BSON, https://bsonspec.org, exact to the byte where there is
a maximum; they include the hidden field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import fields as mm

from gatewayfw.odm.copies.opt_outs import PARTS
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.reading.projection import source_of
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.foreign import largest_of, unstated_in
from gatewayfw.schemas.kinds.sizes import DOCUMENT, ELEMENT, ID, NUMBER, element_bytes, list_bytes
from gatewayfw.schemas.models import Link

#: Most bytes that MongoDB allows in one document.
MOST_BYTES = 16 * 1024 * 1024
#: Bytes of the hexadecimal form of an id.
_HEX = 24
#: Bytes of true.
_FLAG = 1


@dataclass(frozen=True)
class Part:
    """One field of documents: ``count`` values of ``each`` bytes, ``bytes`` in all."""

    name: str
    bytes: int
    count: int
    each: int


@dataclass(frozen=True)
class Size:
    """The worst case of one model.

    Attributes:
        bytes: the size of a document with everything at its maximum.
        parts: its fields, largest first; together they may have more bytes than the document.
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
    """Return the most bytes of a document's pure fields.

    The result is `gatewayfw.schemas.kinds.sizes.ENDLESS` or more if a field has no maximum.
    """
    return DOCUMENT + largest_of(schema.pure)


def copies_bytes(schemas: Schemas, links: Iterable[Link]) -> int:
    """Return the most bytes of the copies in some links of one document."""
    most = schemas.settings.document_bytes
    return sum(_copies(link, _copied(schemas, link), most).bytes for link in links)


def _worst(schemas: Schemas, schema: ModelSchema) -> Size:
    most = schemas.settings.document_bytes
    parts = [Part("_id", element_bytes("_id", ID), 1, ID), _part(HIDDEN, _hidden(schema))]
    unstated = set(unstated_in(schema.pure, schema.name))
    for link in schemas.links(schema.name).values():
        copied = _copied(schemas, link)
        parts.append(_copies(link, copied, most))
        unstated.update(unstated_in(copied, source_of(schemas, link).name))
    size = DOCUMENT + _own(schema.pure, most) + sum(part.bytes for part in parts)
    parts += [_part(name, min(as_kind(field).largest, most)) for name, field in schema.pure.items()]
    largest = sorted(parts, key=lambda part: -part.bytes)
    return Size(schema.name, size, tuple(largest), tuple(sorted(unstated)))


def _copied(schemas: Schemas, link: Link) -> Mapping[str, mm.Field[Any]]:
    """Return the pure fields of the copies that a relation or reverse relation holds."""
    source = source_of(schemas, link)
    return {name: source.pure[name] for name in source.copy_fields(link.excludes)}


def _copies(link: Link, copied: Mapping[str, mm.Field[Any]], most: int) -> Part:
    """Return the part of a link: copies of some fields, as many as it may hold."""
    copy = DOCUMENT + element_bytes("_id", ID) + _own(copied, most)
    if link.limit is None:
        return _part(link.name, copy)
    return Part(link.name, element_bytes(link.name, list_bytes(link.limit, copy)), link.limit, copy)


def _own(fields: Mapping[str, mm.Field[Any]], most: int) -> int:
    """Return the bytes of some pure fields, at most the bytes allowed for all."""
    return min(largest_of(fields), most - DOCUMENT)


def _hidden(schema: ModelSchema) -> int:
    """Return the bytes of ``_gw``: counters, versions of copies, and opt-outs."""
    parts = dict.fromkeys(("at", *PARTS), DOCUMENT)
    for relation in schema.relations.values():
        held, names = relation.limit or 1, relation.related_relations
        lists = DOCUMENT + sum(element_bytes(name, list_bytes(held, ID)) for name in names)
        flags = DOCUMENT + sum(element_bytes(name, _FLAG) for name in names)
        noted = {"out": lists} if relation.type == "single" else {"in": lists, "some": flags}
        noted["at"] = DOCUMENT + held * (ELEMENT + _HEX + NUMBER)
        for part, size in noted.items():
            parts[part] += element_bytes(relation.name, size)
    counters = sum(element_bytes(name, NUMBER) for name in ("rev", "v", "r"))
    return DOCUMENT + counters + sum(element_bytes(part, size) for part, size in parts.items())


def _part(name: str, value: int) -> Part:
    return Part(name, element_bytes(name, value), 1, value)
