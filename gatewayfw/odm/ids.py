"""Order ids of every type, since other tools may store ids that are no `ObjectId`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from bson import DatetimeMS, Decimal128, ObjectId

T = TypeVar("T")

#: Stands for the start of a collection, before all ids.
START = object()

#: The types of `_id` except null, in MongoDB's order, each with its lowest value. A comparison
#: finds only values of its own type, so each type needs one.
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

    No condition finds ids that are a timestamp, code, not-a-number, or a lowest or highest key.
    """
    if last is START:
        yield None
    first = _kind(last)
    for number, (_types, lowest) in enumerate(_KINDS[first:], first):
        goes_on = number == first and last is not START and last is not None
        yield {"$gt": last} if goes_on else {"$gte": lowest}


def ordered(ids: Iterable[T]) -> list[T]:
    """Return ids of any types in an order that is the same everywhere."""
    return sorted(ids, key=repr)


def _kind(id_: object) -> int:
    """Return the number of an ``_id``'s type; 0 for null and `START`."""
    if isinstance(id_, bool):
        return next(number for number, (types, _) in enumerate(_KINDS) if bool in types)
    return next((number for number, (types, _) in enumerate(_KINDS) if isinstance(id_, types)), 0)
