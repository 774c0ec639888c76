"""What the items of one batch use together.

Each item has the limits of a request of its own. Fields of `get`, queries and bytes of the reply are summed up besides,
so that a batch gives nothing that one request would not give. Source: our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from gatewayfw import messages
from gatewayfw.errors import ReplyTooLarge, ValidationError
from gatewayfw.schemas.get import Bounds, count_leaves
from gatewayfw.settings import Settings


@final
class BatchTotals:
    """The sums of one batch; an act with a higher ceiling of its own may reach that."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._leaves = 0
        #: Bytes of the replies so far; and how many this item may reply, whatever the others do.
        self._bytes, self._own_bytes = 0, 0
        #: Queries of the items before, and of this one.
        self._queries, self._own_queries = 0, 0
        self._is_claimed = True

    def begin_item(self) -> None:
        """Begin to count the next item."""
        self._queries, self._own_queries = self._queries + self._own_queries, 0
        self._is_claimed = False

    def claim(self) -> bool:
        """Tell whether the act that begins is the item's, not one that it runs."""
        is_own, self._is_claimed = not self._is_claimed, True
        return is_own

    def add_get(self, get: Mapping[str, Any], bounds: Bounds) -> None:
        """Count the fields of an item's `get`; refuse it if all items name too many."""
        most = max(self._settings.max_get_leaves, bounds.max_get_leaves)
        leaves = self._leaves + count_leaves(get)
        if leaves > most:
            raise ValidationError({"get": [messages.TOO_MANY_FIELDS_OF_BATCH.format(max=most)]})
        self._leaves = leaves

    def add_queries(self, queries: int) -> None:
        """Count the queries of one `get`; refuse it if all items cause too many.

        As for a request of its own, the `get` that takes the most counts, not their sum: an act may read as often
        as its author likes.
        """
        most = self._settings.max_get_queries
        self._own_queries = max(self._own_queries, queries)
        if self._queries + self._own_queries > most:
            raise ValidationError({"get": [messages.TOO_MANY_RELATIONS_OF_BATCH.format(max=most)]})

    def add_bytes(self, size: int) -> None:
        """Count the bytes of an item's reply."""
        self._bytes += size

    def bytes_left(self, most: int) -> int:
        """Return how many bytes this item may reply, whose act may reply ``most``."""
        self._own_bytes = most
        return max(0, min(most, self._most_bytes - self._bytes))

    def check_bytes(self, size: int) -> None:
        """Refuse the reply of a remote service if all are too large; its writes stay."""
        if size > self.bytes_left(self._settings.max_reply_bytes):
            raise ReplyTooLarge(self._most_bytes, written=True)

    def most_bytes(self, most: int) -> int:
        """Return the bound that refused an item with ``most`` bytes: its own or all's."""
        return most if most >= self._own_bytes else self._most_bytes

    @property
    def _most_bytes(self) -> int:
        return max(self._own_bytes, self._settings.max_reply_bytes)
