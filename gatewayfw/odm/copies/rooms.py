"""How much of a document others may fill, so that its writers find room; pure.

Copies in holders, and members in the windows of targets, stand in documents that belong to somebody
else. Where the definition of a model lets them fill its documents, they are bounded; elsewhere nothing
is measured. A *small* copy always goes in: as many of them as there may be take no more than an even
part each of what is set aside for them.

- *Copies in holders* may have what `document_bytes`, a quarter at most, and the part for small ones
  leave of the most bytes of a document. A larger one goes into a holder whose copies then have no
  more bytes than that, or no more than before.
- *Windows* may have their share: see `gatewayfw.odm.copies.shares`. One that fills at most half of it is
  not measured when small members enter, which have the other half.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gatewayfw.odm.copies.shares import share_of
from gatewayfw.odm.copies.sizes import copies_bytes
from gatewayfw.schemas import ModelSchema, RelatedRelation, Schemas
from gatewayfw.storage.documents import encode

NO_ROOM = "its copies have no room for more"
#: The parts of a document that are set aside: for small copies, and at most for its own fields.
_SMALL_PART, _OWN_PART = 8, 4
#: Bytes around an element of a list at most: its type, its number of at most four digits, and an end.
_NUMBERED = 6


@dataclass(frozen=True)
class Room:
    """The bytes of copies in a document or window: of a small one, and of all."""

    small: int
    all: int


def room_for_copies(schemas: Schemas, model: str, most_bytes: int) -> Room | None:
    """Return the room for copies in a model's documents.

    None where its definition never lets them fill it.
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

    None where its definition never lets it exceed its share.
    """
    return schemas.remembered(_room_in_window, reverse)


def _room_in_window(schemas: Schemas, reverse: RelatedRelation) -> Room | None:
    reverses = schemas.get_related_relations(reverse.target).values()
    share = share_of(schemas.settings.windows_bytes, sum(one.type == "multiple" for one in reverses))
    if copies_bytes(schemas, [reverse]) <= share:
        return None
    return Room(share // 2 // (reverse.limit or 1), share // 2)


def is_small(room: Room | None, copy: Mapping[str, Any]) -> bool:
    """Return whether a copy always goes in."""
    return room is None or bytes_of_member(copy) <= room.small


def bytes_of_member(copy: Mapping[str, Any]) -> int:
    """Return the bytes of a copy in a list, its number included, or a few more."""
    return len(encode(copy)) + _NUMBERED


def most_before(room: Room | None, copy: Mapping[str, Any]) -> int | None:
    """Return the most bytes of a holder with room for a changed copy; None for any."""
    if room is None:
        return None
    size = len(encode(copy))
    return None if size <= room.small else room.all - size


def takes(room: Room | None, schema: ModelSchema, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether the copies in a holder may change so."""
    if room is None:
        return True
    return _bytes_of_copies(schema, after) <= max(room.all, _bytes_of_copies(schema, before))


def _bytes_of_copies(schema: ModelSchema, document: Mapping[str, Any]) -> int:
    return len(encode({name: document[name] for name in schema.relations if name in document}))
