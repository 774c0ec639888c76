"""Limit the bytes of a document's pure fields.

A document filled by its own writer would leave no room for the copies that other writes put into it, and
make them fail. Only models whose definition allows more than the setting ``document_bytes`` are checked.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from bson.errors import BSONError

from gatewayfw.errors import TooLarge
from gatewayfw.odm.sizes.worst_case import own_bytes
from gatewayfw.odm.writing.updates import Change
from gatewayfw.schemas import ModelSchema
from gatewayfw.storage import Document
from gatewayfw.storage.documents import encode
from gatewayfw.storage.pushes import is_each, push

T = TypeVar("T")
#: Errors of encoding. Such a value is not checked here, because the database refuses it.
_UNENCODABLE = (BSONError, OverflowError, ValueError)
#: Most elements that MongoDB adds to a list to reach an index.
_MOST_FILLED = 1_500_000
#: The operators that may make a document larger.
_ADDING = frozenset({"$set", "$inc", "$mul", "$min", "$max", "$push", "$addToSet"})


class FieldsTooLarge(TooLarge):
    """The pure fields have more bytes than the setting ``document_bytes``."""


@dataclass(frozen=True)
class Allowance:
    """The limit on the bytes of pure fields, including excluded ones."""

    model: str
    names: tuple[str, ...]
    most: int

    def check_new(self, document: Mapping[str, Any], where: str) -> None:
        """Check a new document; ``where`` is its place in the caller's input.

        Raises:
            FieldsTooLarge: its pure fields have too many bytes.
        """
        size = _bytes_of(document, self.names)
        if size > self.most:
            raise self._refusal(size, "" if where == "doc" else f" ({where})")

    def check_change(self, change: Change, before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> None:
        """Check a changed document.

        If it was too large before, only the fields in the change are checked. Without ``before``, a
        document that is too large counts as grown.

        Raises:
            FieldsTooLarge: its pure fields have too many bytes, and a field in the change grew.
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

    def judge(self, write: Callable[[AllowanceCheck], T], *, looks_first: bool) -> T:
        """Run an update with its check; after a refusal, read the document and try again.

        Only reading shows whether the document was too large before, which is rare. Without
        ``looks_first`` the write must be undone if it raises.
        """
        if not looks_first:
            try:
                return write(AllowanceCheck(self, looks_first=False))
            except FieldsTooLarge:
                pass
        return write(AllowanceCheck(self, looks_first=True))


def allowance_of(schema: ModelSchema, document_bytes: int) -> Allowance | None:
    """Return the limit for a model's documents; None if they cannot be too large."""
    if own_bytes(schema) <= document_bytes:
        return None
    return Allowance(schema.name, tuple(schema.pure), document_bytes)


class AllowanceCheck(NamedTuple):
    """The size check of one update; ``looks_first`` at the document before the change."""

    allowance: Allowance
    looks_first: bool


def foresee(document: Mapping[str, Any], update: Mapping[str, Mapping[str, Any]]) -> Document:
    """Return a document as a stored update would leave it, or a larger one.

    Here ``$pull`` removes nothing, and ``$addToSet`` adds values that are there already. An operation that
    the database would refuse changes nothing.
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
    """Return the result of an operator on a value; None stands for a missing one."""
    if operator in ("$inc", "$mul"):
        present = 0 if present is None else present
        if not isinstance(present, (int, float)) or not isinstance(value, (int, float)):
            return value  # a decimal has as many bytes as any other
        return present + value if operator == "$inc" else present * value
    if operator in ("$min", "$max"):
        return max(present, value, key=lambda one: len(encode({"": one})))
    if operator == "$set":
        return value
    listed = present if isinstance(present, list) else []
    if operator == "$push":
        return push(listed, value)
    return [*listed, *(value["$each"] if is_each(value) else [value])]


def _at(node: Any, key: str) -> Any:
    if isinstance(node, list):
        return node[int(key)] if key.isdigit() and int(key) < len(node) else None
    return node.get(key) if isinstance(node, dict) else None


def _put(node: Any, key: str, value: Any) -> None:
    """Put a value into an object or a list.

    Nulls fill up a list to reach an index.
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
