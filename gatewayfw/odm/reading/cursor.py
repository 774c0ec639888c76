"""What operations give back, besides documents: cursors and delete results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, final

from gatewayfw.batches import Batched
from gatewayfw.errors import BadRequest, UsageError
from gatewayfw.odm.reading.paths import is_key
from gatewayfw.storage import Document
from gatewayfw.storage.base import Sorting

_ORDERS: Mapping[object, int] = {1: 1, -1: -1, "asc": 1, "desc": -1}

#: Keys of a sort. MongoDB takes 32, of which one is for the ``_id`` that `fixed_order` adds.
MOST_KEYS = 31


class DeleteResult(dict[str, Any]):
    """What a delete did: ``{"deletedCount": n, "cascaded": {model: n}}``.

    Falsy when nothing was deleted.

    ``deletedCount`` counts the document itself (0 or 1), ``cascaded`` those that went with it.
    ``pending: True`` is there when a job is still taking the document out of its holders.
    """

    def __bool__(self) -> bool:
        return bool(self["deletedCount"])


@final
class Cursor(Batched[Document]):
    """The documents of a query, read on demand; every iteration asks anew.

    `sort`, `skip` and `limit` give the cursor itself, so that calls can be chained. Where documents
    are skipped or limited, those of `find` come in one fixed order: ``_id`` is the last key of the
    sort, in the direction of the key before it, or the only one. So pages lose none and show none
    twice. What `aggregate` gives is sorted as written.
    """

    def __init__(
        self,
        read: Callable[[Sorting, int, int], Iterator[Sequence[Document]]],
        check_names: Callable[[Sequence[str]], None],
    ) -> None:
        self._read = read
        self._check_names = check_names
        self._sort: list[tuple[str, int]] = []
        self._skip = 0
        self._limit = 0

    def sort(
        self,
        field: str | Mapping[str, Any] | Sequence[tuple[str, Any]],
        direction: Literal[1, -1, "asc", "desc"] = 1,
    ) -> Cursor:
        """Order by fields: ``sort("name", -1)``, ``sort({"name": 1, "_id": -1})``.

        Fields of copies and of objects are named by their path: ``country.name``.

        Raises:
            UsageError: no field name; or one that the model does not have, that is hidden or
                excluded (but for `reveal=`), or a relation as a whole; more than `MOST_KEYS`, or two
                different lists, which MongoDB cannot sort by.
            BadRequest: a direction other than 1, -1, "asc" or "desc".
        """
        if isinstance(field, str):
            field = [(field, direction)]
        pairs = list(field.items()) if isinstance(field, Mapping) else field
        if not isinstance(pairs, (list, tuple)) or not all(map(_names_a_field, pairs)):
            raise UsageError("sort: expected field names with 1, -1, 'asc' or 'desc'")
        if not all(type(order) in (int, str) and order in _ORDERS for _, order in pairs):
            raise BadRequest("sort: expected 1, -1, 'asc' or 'desc'")
        if len(pairs) > MOST_KEYS:
            raise UsageError(f"sort: at most {MOST_KEYS} fields")
        self._check_names([name for name, _ in pairs])
        self._sort = [(name, _ORDERS[order]) for name, order in pairs]
        return self

    def skip(self, count: int) -> Cursor:
        """Leave out the first ``count`` documents.

        BadRequest for anything but an integer from 0.
        """
        self._skip = _natural(count, "skip")
        return self

    def limit(self, count: int) -> Cursor:
        """Give at most ``count`` documents, 0 for all.

        BadRequest for anything but an integer from 0.
        """
        self._limit = _natural(count, "limit")
        return self

    def batches(self) -> Iterator[Sequence[Document]]:
        """Return an iterator over the documents in the pieces in which they are read."""
        return self._read(self._sort, self._skip, self._limit)

    def to_list(self) -> list[Document]:
        """Return all documents."""
        return list(self)

    # The contract's spelling of the method above.
    toArray = to_list


def fixed_order(sort: Sorting, skip: int, limit: int) -> Sorting:
    """Return a sort that leaves nothing open where documents are skipped or limited."""
    if not (skip or limit) or any(name == "_id" for name, _ in sort):
        return sort
    return [*sort, ("_id", sort[-1][1] if sort else 1)]


def _names_a_field(pair: object) -> bool:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[0], str):
        return False
    return all(map(is_key, pair[0].split(".")))


def _natural(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise BadRequest(f"{name}: expected an integer from 0")
    return value
