"""The documents of a query, read on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, final

from gatewayfw import messages
from gatewayfw.errors import BadRequest, UsageError
from gatewayfw.odm.reading.paths import Path, is_key, path_text
from gatewayfw.pieces import Batched
from gatewayfw.storage import Document
from gatewayfw.storage.terms import Sorting

_ORDERS: Mapping[object, int] = {1: 1, -1: -1, "asc": 1, "desc": -1}

#: Most keys of a sort. MongoDB takes 32, of which one is for the ``_id`` that `fixed_order` adds.
MOST_KEYS = 31


@final
class Cursor(Batched[Document]):
    """The documents of a query, read on demand; every iteration runs the query again.

    `sort`, `skip` and `limit` return the cursor itself, so that calls can be chained. With `skip` or
    `limit`, the documents of `find` have a fixed order: ``_id`` becomes the last key of the sort, in the
    direction of the key before it, or the only key. So pages neither lose documents nor repeat them. The
    results of `aggregate` are sorted as written.
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
        field: str | Mapping[Path, Any] | Sequence[tuple[Path, Any]],
        direction: Literal[1, -1, "asc", "desc"] = 1,
    ) -> Cursor:
        """Order by fields: ``sort("name", -1)``, ``sort({"name": 1, "_id": -1})``.

        Name fields of copies and of objects by their path: ``country.name``, or ``[(("counts", key), -1)]``.

        Raises:
            UsageError: a name is not a field name, not in the model, hidden or excluded (unless in
                `reveal=`), or a whole relation; or there are more than `MOST_KEYS`, or two different
                lists, which MongoDB cannot sort by.
            ValidationError: a part of a name cannot be a key.
            BadRequest: a direction other than 1, -1, "asc" or "desc".
        """
        pairs = [(field, direction)] if isinstance(field, str) else field
        pairs = list(pairs.items()) if isinstance(pairs, Mapping) else pairs
        is_right = isinstance(pairs, (list, tuple)) and all(map(_is_pair, pairs))
        keys = [(path_text(name, "sort"), order) for name, order in pairs] if is_right else []
        if not is_right or not all(isinstance(name, str) and is_key(name) for name, _ in keys):
            raise UsageError("sort: expected field names with 1, -1, 'asc' or 'desc'")
        if not all(type(order) in (int, str) and order in _ORDERS for _, order in keys):
            raise BadRequest(messages.NO_DIRECTION)
        if len(keys) > MOST_KEYS:
            raise UsageError(f"sort: at most {MOST_KEYS} fields")
        self._check_names([name for name, _ in keys])
        self._sort = [(name, _ORDERS[order]) for name, order in keys]
        return self

    def skip(self, count: int) -> Cursor:
        """Leave out the first ``count`` documents; BadRequest for no integer from 0."""
        self._skip = _natural(count, "skip")
        return self

    def limit(self, count: int) -> Cursor:
        """Return at most ``count`` documents, 0 for all; BadRequest as for `skip`."""
        self._limit = _natural(count, "limit")
        return self

    def batches(self) -> Iterator[Sequence[Document]]:
        """Return an iterator over the documents, in batches as they are read."""
        return self._read(self._sort, self._skip, self._limit)

    def to_list(self) -> list[Document]:
        """Return all documents."""
        return list(self)

    # The contract's spelling of the method above.
    toArray = to_list


def fixed_order(sort: Sorting, skip: int, limit: int) -> Sorting:
    """Return a sort with a fixed order, for documents that are skipped or limited."""
    if not (skip or limit) or any(name == "_id" for name, _ in sort):
        return sort
    return [*sort, ("_id", sort[-1][1] if sort else 1)]


def _is_pair(pair: object) -> bool:
    return isinstance(pair, (list, tuple)) and len(pair) == 2


def _natural(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise BadRequest(messages.NO_COUNT.format(name=name))
    return value
