"""Pure functions that bound how much of a document the copies in it may fill.

Copies in holders, and members in the windows of targets, take space in other documents. Where the
definition of a model lets them fill its documents, they are bounded; elsewhere nothing
is measured. A *small* copy always fits: it takes no more than an equal part of the space reserved for the
most copies there may be.

- *Copies in holders* may take the bytes of a document that `document_bytes` (a quarter at most) and the
  part for small copies leave. A larger copy goes into a holder only if the holder's copies then take no
  more than that, or no more than before.
- *Windows* may take their share: see `gatewayfw.odm.sizes.windows`. A window that fills at most half of it
  is not measured when small members enter, because the other half is reserved for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gatewayfw.odm.sizes.windows import share_of
from gatewayfw.odm.sizes.worst_case import copies_bytes
from gatewayfw.schemas import ModelSchema, RelatedRelation, Schemas
from gatewayfw.storage.documents import encode

NO_ROOM = "its copies have no room for more"
#: The reserved parts of a document: for small copies, and the most for its own fields.
_SMALL_PART, _OWN_PART = 8, 4
#: Most bytes around an element of a list: its type, its number of at most four digits, and an end.
_NUMBERED = 6


@dataclass(frozen=True)
class Room:
    """The most bytes of a small copy, and of all copies, in a document or window."""

    small: int
    all: int


def room_for_copies(schemas: Schemas, model: str, most_bytes: int) -> Room | None:
    """Return the room for copies in a model's documents.

    Returns None if its definition never lets copies fill a document.
    """
    return schemas.remembered(_room_for_copies, model, most_bytes)


def _room_for_copies(schemas: Schemas, model: str, most_bytes: int) -> Room | None:
    schema = schemas.get_schema(model)
    own = min(schemas.settings.document_bytes, most_bytes // _OWN_PART)
    if own + copies_bytes(schemas, schema.relations.values()) <= most_bytes:
        return None
    aside = most_bytes // _SMALL_PART
    count = sum(relation.limit or 1 for relation in schema.relations.values())
    return Room(aside // count, most_bytes - own - aside)


def room_in_window(schemas: Schemas, reverse: RelatedRelation) -> Room | None:
    """Return the room in a window that is not measured.

    Returns None if its definition never lets it exceed its share.
    """
    return schemas.remembered(_room_in_window, reverse)


def _room_in_window(schemas: Schemas, reverse: RelatedRelation) -> Room | None:
    reverses = schemas.get_related_relations(reverse.target).values()
    share = share_of(schemas.settings.windows_bytes, sum(one.type == "multiple" for one in reverses))
    if copies_bytes(schemas, [reverse]) <= share:
        return None
    return Room(share // 2 // (reverse.limit or 1), share // 2)


def is_small(room: Room | None, copy: Mapping[str, Any]) -> bool:
    """Tell whether a copy is small enough to fit always."""
    return room is None or bytes_of_member(copy) <= room.small


def bytes_of_member(copy: Mapping[str, Any]) -> int:
    """Return the bytes of a copy in a list, including its number, or a few more."""
    return len(encode(copy)) + _NUMBERED


def most_before(room: Room | None, copy: Mapping[str, Any]) -> int | None:
    """Return the most bytes a holder with room for a changed copy has; None for any."""
    if room is None:
        return None
    size = len(encode(copy))
    return None if size <= room.small else room.all - size


def takes(room: Room | None, schema: ModelSchema, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Tell whether the copies in a holder may change in this way."""
    if room is None:
        return True
    return _bytes_of_copies(schema, after) <= max(room.all, _bytes_of_copies(schema, before))


def _bytes_of_copies(schema: ModelSchema, document: Mapping[str, Any]) -> int:
    return len(encode({name: document[name] for name in schema.relations if name in document}))
