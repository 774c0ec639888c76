"""The order of a listing, and filters for the rows after one of them. Pure.

Rows are ordered by the sort field, then by ``_id`` in the same direction: with mixed directions the
database reads half of an index. Missing and null are one value, below all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from bson import ObjectId

from gatewayfw.odm.listings.conditions import Condition, all_of

#: Alternatives of one filter at most: the database scans an index for each and merges them.
_MOST_ALTERNATIVES = 40


@dataclass(frozen=True)
class Order:
    """An order of rows: a field's path, and 1 for ascending or -1 for descending."""

    path: str
    direction: int

    @classmethod
    def of(cls, text: str) -> Order:
        """Parse the order that ``name`` or ``-name`` asks for."""
        return cls(text.removeprefix("-"), -1 if text.startswith("-") else 1)

    @property
    def keys(self) -> list[tuple[str, int]]:
        """The keys of the sort."""
        own = [] if self.path == "_id" else [(self.path, self.direction)]
        return [*own, ("_id", self.direction)]

    def after(self, value: Any, id_: ObjectId, among: Sequence[Condition]) -> Condition:
        """Return the filter of rows after one, among those that match ``among``.

        The row has this sort value and id. Written so that the database reads the rows of the page and hardly any
        other: each alternative is one stretch of an index, also beside ``$eq`` and, up to a number of values, ``$in``.
        """
        stretches = self._stretches(value, id_)
        each = [*map(_alternatives, among), stretches]
        if prod(map(len, each)) > _MOST_ALTERNATIVES:
            return all_of([*among, self._passing(value, stretches)])
        found = [all_of(some) for some in product(*each)]
        return found[0] if len(found) == 1 else {"$or": found}

    def _stretches(self, value: Any, id_: ObjectId) -> list[Condition]:
        """Return conditions of which each later row meets exactly one."""
        path, beyond = self.path, "$gt" if self.direction == 1 else "$lt"
        later = {"_id": {beyond: id_}}
        if path == "_id":
            return [later]
        same = {path: {"$eq": value}, **later}
        if self.direction == 1:
            return [same, {path: {"$ne": None} if value is None else {"$gt": value}}]
        return [same] if value is None else [same, {path: {"$lt": value}}, {path: {"$eq": None}}]

    def _passing(self, value: Any, stretches: list[Condition]) -> Condition:
        """Return one condition for all later rows; its scan passes over earlier ties."""
        if value is None:
            return {"$or": stretches}
        bounds = {"$gte": value} if self.direction == 1 else {"$not": {"$gt": value}}  # with null and missing
        return {self.path: bounds, "$or": stretches}


def _alternatives(condition: Condition) -> list[Condition]:
    """Return conditions that together mean this one: one for each value of ``$in``."""
    (path, test), *others = condition.items()
    if not others and isinstance(test, dict) and list(test) == ["$in"] and test["$in"]:
        return [{path: {"$eq": value}} for value in test["$in"]]
    return [condition]
