"""Order ids of every type, since other tools may store ids that are no `ObjectId`."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from bson import Code, DatetimeMS, DBRef, Decimal128, MaxKey, MinKey, ObjectId, Timestamp

from gatewayfw.storage.documents import encode

T = TypeVar("T")

#: Stands for the start of a collection, before all ids.
START = object()


def _is_nan(id_: object) -> bool:
    return id_.to_decimal().is_nan() if isinstance(id_, Decimal128) else isinstance(id_, float) and math.isnan(id_)


#: The types of `_id` in MongoDB's order, each with the condition that finds all of it. A comparison finds only
#: values of its own type. Not-a-number is found by none.
_KINDS: tuple[tuple[Callable[[Any], bool], object], ...] = (
    (lambda id_: isinstance(id_, MinKey), MinKey()),
    (lambda id_: id_ is None, None),
    (_is_nan, float("nan")),
    (lambda id_: isinstance(id_, (int, float, Decimal128)) and not isinstance(id_, bool), {"$gte": float("-inf")}),
    (lambda id_: isinstance(id_, str) and not isinstance(id_, Code), {"$gte": ""}),
    (lambda id_: isinstance(id_, (Mapping, DBRef)), {"$gte": {}}),
    (lambda id_: isinstance(id_, (bytes, UUID)), {"$gte": b""}),
    (lambda id_: isinstance(id_, ObjectId), {"$gte": ObjectId(bytes(12))}),
    (lambda id_: isinstance(id_, bool), {"$gte": False}),
    (lambda id_: isinstance(id_, (datetime, DatetimeMS)), {"$gte": DatetimeMS(-(2**63))}),
    (lambda id_: isinstance(id_, Timestamp), {"$gte": Timestamp(0, 0)}),
    (lambda id_: isinstance(id_, Code) and id_.scope is None, {"$gte": Code("")}),
    (lambda id_: isinstance(id_, Code), {"$gte": Code("", {})}),
    (lambda id_: isinstance(id_, MaxKey), MaxKey()),
)


def following(last: object = START) -> Iterator[dict[str, Any]]:
    """Yield filters that find all documents after an ``_id``, in order."""
    if last is START:
        yield {}
        return
    at = next(at for at, (is_kind, _) in enumerate(_KINDS) if is_kind(last))
    if isinstance(_KINDS[at][1], dict):
        yield {"_id": {"$gt": last}}
    yield from ({"_id": condition} for _, condition in _KINDS[at + 1 :])


def pages(
    find: Callable[[dict[str, Any]], Sequence[T]], id_of: Callable[[T], Any], last: object = START
) -> Iterator[Sequence[T]]:
    """Yield what ``find`` gives for each filter of `following`, until nothing follows.

    It gives the next documents of a filter in the order of their ``_id``; none if there is none.
    """
    filters = following(last)
    while (filter := next(filters, None)) is not None:
        if page := find(filter):
            yield page
            filters = following(id_of(page[-1]))


def key_of(id_: object) -> Hashable:
    """Return a key for an ``_id``: Python cannot hash all that are stored."""
    return id_ if isinstance(id_, ObjectId) else encode({"": id_})


def ordered(ids: Iterable[T]) -> list[T]:
    """Return ids of any types in an order that is the same everywhere."""
    return sorted(ids, key=repr)
