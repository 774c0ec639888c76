"""Pure functions that bound how much of a document the copies in it may fill.

Copies in holders, and members in the windows of targets, take space in other documents. Where the
definition of a model lets them fill its documents, they are bounded; elsewhere nothing
is measured. A *small* copy always fits: it takes no more than an equal part of the space reserved for the
most copies there may be.

- *Copies in holders* may take the bytes of a document that `document_bytes` (a quarter at most) and the
  part for small copies leave. A larger copy goes into a holder only if the holder's copies then take no
  more than that, or no more than before.
- *Windows* may take their share: see `gatewayfw.odm.sizes.window_shares`. A window that fills at most half of it
  is not measured when small members enter, because the other half is reserved for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gatewayfw.odm.sizes.window_shares import share_of
from gatewayfw.odm.sizes.worst_case import copies_bytes
from gatewayfw.schemas import ModelSchema, RelatedRelation, Schemas
from gatewayfw.storage.documents import encode

NO_ROOM = "its copies have no room for more"
#: The reserved parts of a document: for small copies, and the most for its own fields.
_SMALL_PART, _OWN_PART = 8, 4
#: Most bytes around an element of a list: its type, its number of at most four digits, and an end.
_NUMBERED = 6


@dataclass(frozen=True)
class Budget:
    """The most bytes of a small copy, and of all copies, in a document or window."""

    small: int
    all: int


def holder_budget(schemas: Schemas, model: str, most_bytes: int) -> Budget | None:
    """Return the budget for copies in a model's documents.

    Returns None if its definition never lets copies fill a document.
    """
    return schemas.remembered(_holder_budget, model, most_bytes)


def _holder_budget(schemas: Schemas, model: str, most_bytes: int) -> Budget | None:
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
    return schemas.remembered(_window_budget, reverse)


def _window_budget(schemas: Schemas, reverse: RelatedRelation) -> Budget | None:
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
