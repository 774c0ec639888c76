"""How large documents can get, and how much of one copies may fill. Pure.

Copies in holders, and members in the windows of targets, take space in other documents. Where the definition of a model
lets them fill its documents, they are bounded; elsewhere nothing is measured. A *small* copy always fits: it takes no
more than an equal part of the space reserved for the most copies there may be.

- *Copies in holders* may take the bytes of a document that `document_bytes` (a quarter at most) and the part for small
  copies leave. A larger copy goes into a holder only if the holder's copies then take no more than that, or no more
  than before.
- *Windows* are the exact top of their members, unless these exceed their *share*: then a window is cut to the longest
  prefix that fits. The windows of a target share the setting `windows_bytes` evenly, or less where the rest of the
  document leaves less room. ``_gw.cut.<reverse>`` notes the share of each cut window, so every reader can tell whether
  it is as long as possible: one more member would exceed that share. A complete window that fills more than half of
  its share is noted with null: entering members must be measured. One that fills less is not measured when small
  members enter, because the other half is reserved for them.

Worst cases, from definitions and settings: each kind counts with its maximum, text with four bytes for each character,
lists and relations full. All pure fields of a document together count at most with `document_bytes`, so a kind without
a maximum counts with that. Sizes are those of BSON, https://bsonspec.org, exact to the byte where there is a maximum;
they include the hidden field.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from marshmallow import fields as mm

from gatewayfw.odm.copies.opt_outs import PARTS
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.reading.projection import source_of
from gatewayfw.schemas import ModelSchema, RelatedRelation, Schemas
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.foreign import largest_of, unstated_in
from gatewayfw.schemas.kinds.sizes import DOCUMENT, ELEMENT, ID, NUMBER, element_bytes, list_bytes
from gatewayfw.schemas.models import Link
from gatewayfw.storage.documents import encode

#: Bytes reserved for the counters of the hidden field, which grow even if nothing else does.
_RESERVE = 64
#: The reserved parts of a document: for small copies, and the most for its own fields.
_SMALL_PART, _OWN_PART = 8, 4
#: Most bytes around an element of a list: its type, its number of at most four digits, and an end.
_NUMBERED = 6
#: Most bytes that MongoDB allows in one document.
MOST_BYTES = 16 * 1024 * 1024
#: Bytes of the hexadecimal form of an id.
_HEX = 24
#: Bytes of true.
_FLAG = 1


Copies = list[dict[str, Any]]


class SizeChecks(IntEnum):
    """What an operation measures so that no document becomes too large.

    Each level includes those before it.

    ``NONE``: nothing, the usual case. ``WINDOWS``: windows are measured and, where necessary, cut.
    ``HOLDERS``: copies are written only to holders with room for them; the others are left to jobs.
    """

    NONE = 0
    WINDOWS = 1
    HOLDERS = 2


def share_of(windows_bytes: int, windows: int) -> int:
    """Return the share of each of so many windows that do not all fit, in bytes."""
    return windows_bytes // max(1, windows)


def fills(copies: Sequence[Mapping[str, Any]], following: Mapping[str, Any], share: int) -> bool:
    """Tell whether the next member would take a window beyond its share."""
    return DOCUMENT + sum(_element(number, copy) for number, copy in enumerate([*copies, following])) > share


def room_in(rest: Mapping[str, Any], names: Iterable[str], most_bytes: int) -> int:
    """Return the bytes a document leaves for windows of these names, maybe below 0."""
    marks = ELEMENT + len("cut") + DOCUMENT
    marks += sum(ELEMENT + len(name.encode()) + NUMBER for name in names)
    return most_bytes - len(encode(rest)) - marks - _RESERVE


def fitting(copies: Mapping[str, Any], room: int) -> set[str]:
    """Return the names of the single copies that fit into some bytes, smallest first."""
    kept = set()
    sizes = {name: ELEMENT + len(name.encode()) + len(encode(copy)) for name, copy in copies.items()}
    for name in sorted(sizes, key=lambda one: (sizes[one], one)):
        room -= sizes[name]
        if room < 0:
            break
        kept.add(name)
    return kept


def share_within(room: int, windows: int, share: int) -> int:
    """Return the share of each of so many windows that have some ``room`` together."""
    return max(0, min(share, room // max(1, windows)))


def fitted(
    windows: Mapping[str, Iterable[dict[str, Any]]], share: int
) -> tuple[dict[str, Copies], dict[str, int | None]]:
    """Return the part of a target's windows that fits, and the notes about them.

    The notes have the share of each cut window, and None for each complete one that fills more than half
    of its share, so that entering members must be measured. ``windows`` has the members of each window in
    order, all or enough to show that they do not fit.
    """
    read = {name: _prefix(members, share) for name, members in windows.items()}
    most = max(DOCUMENT, share // 2)
    noted = {name: share if size > share else None for name, (_, size) in read.items() if size > most}
    return {name: copies for name, (copies, _) in read.items()}, noted


def _prefix(members: Iterable[dict[str, Any]], share: int) -> tuple[Copies, int]:
    """Return a window's longest prefix in a share, and its bytes with one more member."""
    copies: Copies = []
    size = DOCUMENT
    for copy in members:
        size += _element(len(copies), copy)
        if size > share:
            break
        copies.append(copy)
    return copies, size


def _element(number: int, copy: Mapping[str, Any]) -> int:
    """Return the bytes of a list's element: its number, from 0, is its name."""
    return ELEMENT + len(str(number)) + len(encode(copy))


@dataclass(frozen=True)
class Budget:
    """The most bytes of a small copy, and of all copies, in a document or window."""

    small: int
    all: int


def holder_budget(schemas: Schemas, model: str, most_bytes: int) -> Budget | None:
    """Return the budget for copies in a model's documents.

    Returns None if its definition never lets copies fill a document.
    """
    schema = schemas.get_schema(model)
    own = min(schemas.settings.document_bytes, most_bytes // _OWN_PART)
    if own + copies_bytes(schemas, schema.relations.values()) <= most_bytes:
        return None
    aside = most_bytes // _SMALL_PART
    count = sum(relation.limit or 1 for relation in schema.relations.values())
    return Budget(aside // count, most_bytes - own - aside)


def window_budget(schemas: Schemas, reverse: RelatedRelation) -> Budget | None:
    """Return the budget of a window that is not measured.

    Returns None if its definition never lets it exceed its share.
    """
    reverses = schemas.get_related_relations(reverse.target).values()
    share = share_of(schemas.settings.windows_bytes, sum(one.type == "multiple" for one in reverses))
    if copies_bytes(schemas, [reverse]) <= share:
        return None
    return Budget(share // 2 // (reverse.limit or 1), share // 2)


def is_small(budget: Budget | None, copy: Mapping[str, Any]) -> bool:
    """Tell whether a copy is small enough to fit always."""
    return budget is None or bytes_of_member(copy) <= budget.small


def bytes_of_member(copy: Mapping[str, Any]) -> int:
    """Return the bytes of a copy in a list, including its number, or a few more."""
    return len(encode(copy)) + _NUMBERED


def most_bytes_before(budget: Budget | None, copy: Mapping[str, Any]) -> int | None:
    """Return the most bytes a holder with room for a changed copy has; None for any."""
    if budget is None:
        return None
    size = len(encode(copy))
    return None if size <= budget.small else budget.all - size


def holder_fits(
    budget: Budget | None, schema: ModelSchema, before: Mapping[str, Any], after: Mapping[str, Any]
) -> bool:
    """Tell whether the copies in a holder may change in this way."""
    if budget is None:
        return True
    return _bytes_of_copies(schema, after) <= max(budget.all, _bytes_of_copies(schema, before))


def _bytes_of_copies(schema: ModelSchema, document: Mapping[str, Any]) -> int:
    return len(encode({name: document[name] for name in schema.relations if name in document}))


# -- the worst case


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
    parts = [Part("_id", element_bytes("_id", ID), 1, ID), _part_of(HIDDEN, _hidden(schema))]
    unstated = set(unstated_in(schema.pure, schema.name))
    for link in schemas.links(schema.name).values():
        copied = _copied(schemas, link)
        parts.append(_copies(link, copied, most))
        unstated.update(unstated_in(copied, source_of(schemas, link).name))
    size = DOCUMENT + _own(schema.pure, most) + sum(part.bytes for part in parts)
    parts += [_part_of(name, min(as_kind(field).largest, most)) for name, field in schema.pure.items()]
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
        return _part_of(link.name, copy)
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


def _part_of(name: str, value: int) -> Part:
    return Part(name, element_bytes(name, value), 1, value)
