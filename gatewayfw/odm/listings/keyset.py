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

        Written so that the database reads one stretch of an index, also beside ``$in``.
        """
        path, beyond = self.path, "$gt" if self.direction > 0 else "$lt"
        later = {"_id": {beyond: id_}}
        if path == "_id":
            return later
        if value is None:
            same = {path: {"$eq": None}, **later}
            return {"$or": [same, {path: {"$ne": None}}]} if self.direction > 0 else same
        rest = {path: {f"{beyond}e": value}, "$or": [{path: {beyond: value}}, later]}
        return rest if self.direction > 0 else {"$or": [rest, {path: {"$eq": None}}]}
