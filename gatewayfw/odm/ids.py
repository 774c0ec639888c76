"""Order ids of every type, since other tools may store ids that are no `ObjectId`."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from bson import Code, DatetimeMS, MaxKey, MinKey, ObjectId, Timestamp

from gatewayfw.storage.documents import encode
from gatewayfw.storage.order import order_key

T = TypeVar("T")

#: Stands for the start of a collection, before all ids.
START = object()


#: The condition that finds all ids of a type, by the rank of the type in MongoDB's order. A comparison finds only
#: values of its own type. Not-a-number is found by none.
_CONDITIONS: Mapping[int, object] = {
    -2: MinKey(),
    0: None,
    1: float("nan"),
    2: {"$gte": float("-inf")},
    3: {"$gte": ""},
    4: {"$gte": {}},
    6: {"$gte": b""},
    7: {"$gte": ObjectId(bytes(12))},
    8: {"$gte": False},
    9: {"$gte": DatetimeMS(-(2**63))},
    10: {"$gte": Timestamp(0, 0)},
    12: {"$gte": Code("")},
    13: {"$gte": Code("", {})},
    15: MaxKey(),
}


def following(last: object = START) -> Iterator[dict[str, Any]]:
    """Yield filters that find all documents after an ``_id``, in order."""
    if last is START:
        yield {}
        return
    rank, _ = order_key(last)
    if isinstance(_CONDITIONS[rank], dict):
        yield {"_id": {"$gt": last}}
    yield from ({"_id": condition} for at, condition in _CONDITIONS.items() if at > rank)


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
