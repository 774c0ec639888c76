"""Ids of every kind in one order: other tools may not use an `ObjectId`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from bson import DatetimeMS, Decimal128, ObjectId

T = TypeVar("T")

#: Where the ids of a collection begin.
START = object()

#: The kinds of `_id` but null, in MongoDB's order, each with its lowest value. A comparison
#: finds values of its own kind only, so one must ask for each.
_KINDS: tuple[tuple[tuple[type, ...], object], ...] = (
    ((int, float, Decimal128), float("-inf")),
    ((str,), ""),
    ((Mapping,), {}),
    ((bytes, UUID), b""),
    ((ObjectId,), ObjectId(bytes(12))),
    ((bool,), False),
    ((datetime, DatetimeMS), datetime.min),
)


def following(last: object = START) -> Iterator[Any]:
    """Yield conditions that find all ids after ``last``, in MongoDB's order.

    Ids that are a timestamp, code, not-a-number or a lowest or highest key are found by none.
    """
    if last is START:
        yield None
    first = _kind(last)
    for number, (_types, lowest) in enumerate(_KINDS[first:], first):
        goes_on = number == first and last is not START and last is not None
        yield {"$gt": last} if goes_on else {"$gte": lowest}


def ordered(ids: Iterable[T]) -> list[T]:
    """Return ids in an order that is the same everywhere, whatever their kinds."""
    return sorted(ids, key=repr)


def _kind(id_: object) -> int:
    """Return the number of an ``_id``'s kind; 0 for null and `START`."""
    if isinstance(id_, bool):
        return next(number for number, (types, _) in enumerate(_KINDS) if bool in types)
    return next((number for number, (types, _) in enumerate(_KINDS) if isinstance(id_, types)), 0)
