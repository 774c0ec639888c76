"""The order of a listing, and what comes after one of its rows. Pure.

Rows are ordered by the sort field, then by ``_id`` in the same direction: with mixed directions the
database reads half of an index. Missing and null are one value, below all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bson import ObjectId


@dataclass(frozen=True)
class Order:
    """An order of rows: a field's path, and 1 for ascending or -1 for descending."""

    path: str
    direction: int

    @classmethod
    def of(cls, text: str) -> Order:
        """Return what ``name`` or ``-name`` means."""
        return cls(text.removeprefix("-"), -1 if text.startswith("-") else 1)

    @property
    def keys(self) -> list[tuple[str, int]]:
        """The keys of the sort."""
        own = [] if self.path == "_id" else [(self.path, self.direction)]
        return [*own, ("_id", self.direction)]

    def after(self, value: Any, id_: ObjectId) -> dict[str, Any]:
        """Return the condition for all rows after one with this value and id.

        Written so that the database reads one stretch of one index, also beside ``$eq`` and ``$in``: the
        bounds stand outside of ``$or``, which passes over rows of the same value.
        """
        path, beyond = self.path, "$gt" if self.direction > 0 else "$lt"
        later = {"_id": {beyond: id_}}
        if path == "_id":
            return later
        if value is None:
            same = {path: {"$eq": None}, **later}
            return {"$or": [same, {path: {"$ne": None}}]} if self.direction > 0 else same
        if self.direction > 0:
            return {path: {"$gte": value}, "$or": [{path: {"$gt": value}}, later]}
        # Not above: null and missing, too. The last two pass over values of other types, which other tools stored.
        below = [{path: {"$lt": value}}, {path: {"$lte": value}, **later}, {path: {"$eq": None}}]
        return {path: {"$not": {"$gt": value}}, "$or": below}
