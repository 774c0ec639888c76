"""Members of a reverse relation, in the order of its `Window`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from gatewayfw.odm.copies.rules import copy_of, ids_in, out_path
from gatewayfw.schemas import RelatedRelation
from gatewayfw.schemas.relations import Window


@dataclass(frozen=True)
class WindowQuery:
    """The query whose result is the whole window of one reverse relation."""

    collection: str
    filter: Mapping[str, Any]
    fields: tuple[str, ...]
    sort: tuple[tuple[str, int], ...]
    limit: int


def window_query(
    reverse: RelatedRelation, fields: tuple[str, ...], target_id: ObjectId, most: int | None = None
) -> WindowQuery | None:
    """Return the query for a reverse relation's window, or its first ``most`` members.

    The result is in the order of the window, ties by ``_id`` ascending, and has at most as many
    documents as the window may have; members that opted out are not in it. None for a `single` one.
    Source: specification 6.1.
    """
    window = reverse.window
    if window is None:
        return None
    limit = window.limit if most is None else min(most, window.limit)
    return WindowQuery(reverse.member, members(reverse, target_id), fields, window.order, limit)


def single_reverse(
    reverse: RelatedRelation, fields: Iterable[str], target_id: object, member: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return the value of a `single` reverse that copies a member; None for nothing.

    ``member`` is the current document with its relation, or None if it is gone.
    """
    if member is None or target_id not in ids_in(member.get(reverse.relation)):
        return None
    return copy_of(member, fields)


def members(reverse: RelatedRelation, target_id: ObjectId) -> dict[str, Any]:
    """Return the filter that matches the members of a target."""
    opted_out = {"$exists": False} if reverse.of_single else {"$ne": target_id}
    return {f"{reverse.relation}._id": target_id, out_path(reverse): opted_out}


def entry(
    reverse: RelatedRelation, window: Window, copies: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return a ``$push`` of copies, and the filter of targets in which it is right.

    An exact window and its new members give the exact window again: together they contain the top of all
    members, and copies contain the field they are sorted by. Returns None for more copies than the
    window holds. The filter skips a target without a list, which may have members that were
    never listed, and a target that lists one of the members already.
    """
    if len(copies) > window.limit:
        return None
    some = {"$elemMatch": {"_id": {"$exists": True}}}
    others = {"$nin": [copy["_id"] for copy in copies]}
    push = {"$each": list(copies), "$sort": dict(window.order), "$slice": window.limit}
    return {reverse.name: some, f"{reverse.name}._id": others}, push
