"""Pure functions that bound how much of a document the copies in it may fill.

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
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from gatewayfw.odm.sizes.worst_case import copies_bytes
from gatewayfw.schemas import ModelSchema, RelatedRelation, Schemas
from gatewayfw.storage.documents import encode

#: Bytes of an empty list or document, and of an element around its name and its value.
_EMPTY, _ELEMENT = 5, 2
#: Bytes reserved for the counters of the hidden field, which grow even if nothing else does.
_RESERVE = 64
#: Bytes of a number.
_NUMBER = 8
#: The reserved parts of a document: for small copies, and the most for its own fields.
_SMALL_PART, _OWN_PART = 8, 4
#: Most bytes around an element of a list: its type, its number of at most four digits, and an end.
_NUMBERED = 6

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
    return _EMPTY + sum(_element(number, copy) for number, copy in enumerate([*copies, following])) > share


def room_in(rest: Mapping[str, Any], names: Iterable[str], most_bytes: int) -> int:
    """Return the bytes a document leaves for windows of these names.

    The result may be negative.
    """
    marks = _ELEMENT + len("cut") + _EMPTY
    marks += sum(_ELEMENT + len(name.encode()) + _NUMBER for name in names)
    return most_bytes - len(encode(rest)) - marks - _RESERVE


def fitting(copies: Mapping[str, Any], room: int) -> set[str]:
    """Return the names of the single copies that fit into some bytes, smallest first."""
    kept = set()
    sizes = {name: _ELEMENT + len(name.encode()) + len(encode(copy)) for name, copy in copies.items()}
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
    most = max(_EMPTY, share // 2)
    noted = {name: share if size > share else None for name, (_, size) in read.items() if size > most}
    return {name: copies for name, (copies, _) in read.items()}, noted


def _prefix(members: Iterable[dict[str, Any]], share: int) -> tuple[Copies, int]:
    """Return a window's longest prefix in a share, and its bytes with one more member."""
    copies: Copies = []
    size = _EMPTY
    for copy in members:
        size += _element(len(copies), copy)
        if size > share:
            break
        copies.append(copy)
    return copies, size


def _element(number: int, copy: Mapping[str, Any]) -> int:
    """Return the bytes of a list's element: its number, from 0, is its name."""
    return _ELEMENT + len(str(number)) + len(encode(copy))


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
