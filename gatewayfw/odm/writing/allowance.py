"""How many bytes a document's pure fields may have; their writer is judged.

A document that its own writer fills would leave no room for the copies that others put into it, and
lock them out. Only models whose definition allows more than the setting ``document_bytes`` are judged.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from bson.errors import BSONError

from gatewayfw.errors import TooLarge
from gatewayfw.odm.copies.sizes import own_bytes
from gatewayfw.odm.writing.updates import Change
from gatewayfw.schemas import ModelSchema
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.base import Filter
from gatewayfw.storage.documents import encode

T = TypeVar("T")
#: What encoding can end with. Such a value is not judged here: the database refuses it.
_UNENCODABLE = (BSONError, OverflowError, ValueError)
#: Elements that MongoDB adds to a list at most to reach an index.
_MOST_FILLED = 1_500_000
#: The operators after which there may be more.
_ADDING = frozenset({"$set", "$inc", "$mul", "$min", "$max", "$push", "$addToSet"})


class FieldsTooLarge(TooLarge):
    """The pure fields have more bytes than the setting ``document_bytes``."""


@dataclass(frozen=True)
class Allowance:
    """The bytes that pure fields may have, excluded ones included."""

    model: str
    names: tuple[str, ...]
    most: int

    def check_new(self, document: Mapping[str, Any], where: str) -> None:
        """Check a new document; ``where`` is its place in what the caller gave.

        Raises:
            FieldsTooLarge: its pure fields have too many bytes.
        """
        size = _bytes_of(document, self.names)
        if size > self.most:
            raise self._refusal(size, "" if where == "doc" else f" ({where})")

    def check_change(self, change: Change, before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> None:
        """Check a changed document.

        Of one that was too large before, only what the change names.

        Without ``before`` a document that is too large counts as grown.

        Raises:
            FieldsTooLarge: its pure fields have too many bytes, and one that is named grew.
        """
        size = _bytes_of(after, self.names)
        if size <= self.most:
            return
        if before is None or any(_bytes_of(after, [name]) > _bytes_of(before, [name]) for name in change.named):
            raise self._refusal(size)

    def _refusal(self, size: int, where: str = "") -> FieldsTooLarge:
        return FieldsTooLarge(
            f"{self.model}{where}: the fields of this document would have {size} bytes, more than {self.most}"
        )

    def judge(self, change: Change, write: Callable[[Growth], T], *, looks_first: bool) -> T:
        """Run an update with its judge; after a refusal, once more after a look.

        Only the look tells a document that was too large before, which nearly none is. Without
        ``looks_first`` the write must be undone when it raises.
        """
        if not looks_first:
            try:
                return write(Growth(self, change, looks_first=False))
            except FieldsTooLarge:
                pass
        return write(Growth(self, change, looks_first=True))


def allowance_of(schema: ModelSchema, document_bytes: int) -> Allowance | None:
    """Return what judges a model's documents; None where they cannot be too large."""
    if own_bytes(schema) <= document_bytes:
        return None
    return Allowance(schema.name, tuple(schema.pure), document_bytes)


class Growth:
    """The judge of one update: it knows what the document was, if it had to look."""

    def __init__(self, allowance: Allowance, change: Change, *, looks_first: bool) -> None:
        self._allowance = allowance
        self._change = change
        self._looks_first = looks_first
        self._before: Document | None = None

    def look(self, storage: Storage, filter: Filter) -> Filter | None:
        """Return the filter of the document looked at; None when there is none.

        Without transactions, where nothing is undone, the change is judged here: two such writes that
        overlap may then leave more.

        Raises:
            FieldsTooLarge: as from `Allowance.check_change`.
        """
        if not self._looks_first:
            return filter
        allowance = self._allowance
        self._before = next(storage.find(allowance.model, filter, allowance.names, limit=1), None)
        if self._before is None:
            return None
        if not storage.has_transactions():
            allowance.check_change(self._change, self._before, foresee(self._before, self._change.update))
        return {**filter, "_id": self._before["_id"]}

    def check(self, storage: Storage, document: Document) -> None:
        """Check the document as the write left it.

        FieldsTooLarge as from `Allowance.check_change`.
        """
        if storage.has_transactions():
            self._allowance.check_change(self._change, self._before, document)


def foresee(document: Mapping[str, Any], update: Mapping[str, Mapping[str, Any]]) -> Document:
    """Return a document as an update in its stored form would leave it, or larger.

    ``$pull`` takes nothing away, ``$addToSet`` adds what is there already. What the database would
    refuse changes nothing.
    """
    result = copy.deepcopy(dict(document))
    for operator, changes in update.items():
        for path, value in changes.items():
            *parts, last = path.split(".")
            node: Any = result
            for part in parts:
                if operator in _ADDING and _at(node, part) is None:
                    _put(node, part, {})
                node = _at(node, part)
            if operator in _ADDING:
                _put(node, last, _combined(operator, _at(node, last), value))
            elif operator == "$unset" and isinstance(node, dict):
                node.pop(last, None)
    return result


def _combined(operator: str, present: Any, value: Any) -> Any:
    """Return what an operator makes of a present value; None stands for a missing one."""
    if operator in ("$inc", "$mul"):
        if present is None:
            return value if operator == "$inc" else value * 0
        if not isinstance(present, (int, float)) or not isinstance(value, (int, float)):
            return value
        return present + value if operator == "$inc" else present * value
    if operator in ("$min", "$max"):
        return max(present, value, key=lambda one: len(encode({"": one})))
    if operator == "$set":
        return value
    more = value["$each"] if isinstance(value, Mapping) and "$each" in value else [value]
    return [*present, *more] if isinstance(present, list) else list(more)


def _at(node: Any, key: str) -> Any:
    if isinstance(node, list):
        return node[int(key)] if key.isdigit() and int(key) < len(node) else None
    return node.get(key) if isinstance(node, dict) else None


def _put(node: Any, key: str, value: Any) -> None:
    """Put a value into an object or a list.

    The list is filled up with nulls to reach an index.
    """
    if isinstance(node, dict):
        node[key] = value
    elif isinstance(node, list) and key.isdigit() and int(key) - len(node) < _MOST_FILLED:
        node += [None] * (int(key) + 1 - len(node))
        node[int(key)] = value


def _bytes_of(document: Mapping[str, Any], names: Iterable[str]) -> int:
    try:
        return len(encode({name: document[name] for name in names if name in document}))
    except _UNENCODABLE:
        return 0
