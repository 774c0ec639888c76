"""Where the next page of a listing begins: orders, later rows, tokens. Pure.

Rows are ordered by the sort field, then by ``_id`` in the same direction: with mixed directions the
database reads half of an index. Missing and null are one value, below all others.

A token is base64 of BSON, so that values keep their types. It names the listing, filter and sort it
was made for, and the sort value and id of the last row shown. It is not signed: whoever invents one
chooses where to begin in what they may read anyway. All our choice.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import product
from math import prod
from typing import Any

import bson
from bson import Binary, Decimal128, Int64, ObjectId
from bson.errors import BSONError

from gatewayfw.odm.listings.conditions import Condition, all_of
from gatewayfw.odm.listings.declaration import Declaration

#: Alternatives of one filter at most: the database scans an index for each and merges them.
_MOST_ALTERNATIVES = 40
#: Characters of a token, at most: a sort value of 1,024 bytes takes about 1,500.
MOST_CHARACTERS = 2_048
_FOREIGN = "no token of this list"
_KEYS = ["d", "v", "i"]
#: The exact types of stored sort values; of the subclasses that BSON has, such as code, none is one.
_SCALARS = frozenset({str, int, float, bool, bytes, datetime, Binary, Decimal128, Int64, ObjectId, type(None)})


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


def digest(declaration: Declaration, conditions: Sequence[Any], sort: str) -> bytes:
    """Return eight bytes that stand for a listing with a client's filter and sort."""
    parts = {"l": declaration.text, "c": list(conditions), "s": sort}
    return blake2b(bson.encode(parts), digest_size=8).digest()


def write_token(about: bytes, value: Any, id_: ObjectId) -> str:
    """Return the token of the page after a row.

    ``about`` is a `digest`, ``value`` the row's stored sort value.

    Raises:
        ValueError: no page can begin after these, or only by a longer token.
    """
    is_ordered = type(value) in _SCALARS and value == value  # not a number comes after nothing
    if not is_ordered or type(id_) is not ObjectId:
        raise ValueError(_FOREIGN)
    token = urlsafe_b64encode(bson.encode({"d": about, "v": value, "i": id_})).decode().rstrip("=")
    if len(token) > MOST_CHARACTERS:
        raise ValueError(_FOREIGN)
    return token


def read_token(token: str, about: bytes) -> tuple[Any, ObjectId]:
    """Return the sort value and the id that a token holds.

    Raises:
        ValueError: it is none of ours, or of another listing, filter or sort.
    """
    if len(token) > MOST_CHARACTERS:
        raise ValueError(_FOREIGN)
    try:
        found = bson.decode(urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (BSONError, ArithmeticError, ValueError) as error:
        raise ValueError(_FOREIGN) from error
    if list(found) != _KEYS or found["d"] != about or write_token(about, found["v"], found["i"]) != token:
        raise ValueError(_FOREIGN)
    return found["v"], found["i"]
