"""Limit the bytes of a document's pure fields.

A document filled by its own writer would leave no room for the copies that other writes put into it, and
make them fail. Only models whose definition allows more than the setting ``document_bytes`` are checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bson.errors import BSONError

from gatewayfw import messages
from gatewayfw.errors import GatewayError, TooLarge
from gatewayfw.odm.sizes.budgets import own_bytes
from gatewayfw.odm.writing.updates import Change
from gatewayfw.schemas import ModelSchema
from gatewayfw.storage import Document
from gatewayfw.storage.documents import encode
from gatewayfw.storage.terms import Update
from gatewayfw.storage.update_operators import apply_update

T = TypeVar("T")
#: Errors of encoding. Such a value is not checked here, because the database refuses it.
_UNENCODABLE = (BSONError, OverflowError, ValueError)


class FieldsTooLarge(TooLarge):
    """The pure fields have more bytes than the setting ``document_bytes``."""


@dataclass(frozen=True)
class Allowance:
    """The limit on the bytes of pure fields, including excluded ones.

    An update that ``looks_first`` knows what is too large already. The others must be undone if they are refused.
    """

    model: str
    names: tuple[str, ...]
    most: int
    looks_first: bool = False

    def check_new(self, document: Mapping[str, Any], where: str) -> None:
        """Check a new document; ``where`` is its place in the caller's input.

        Raises:
            FieldsTooLarge: its pure fields have too many bytes.
        """
        size = _bytes_of(document, self.names)
        if size > self.most:
            raise self._refusal("" if where == "doc" else f" ({where})")

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
            raise self._refusal()

    def _refusal(self, where: str = "") -> FieldsTooLarge:
        """Return an error that does not tell the size, which hidden fields add to."""
        return FieldsTooLarge(messages.FIELDS_TOO_LARGE.format(document=f"{self.model}{where}", max=self.most))

    def looking_first(self) -> Allowance:
        """Return this limit for an update that reads the fields before it changes them."""
        return replace(self, looks_first=True)


def allowance_of(schema: ModelSchema, document_bytes: int) -> Allowance | None:
    """Return the limit for a model's documents; None if they cannot be too large."""
    if own_bytes(schema) <= document_bytes:
        return None
    return Allowance(schema.name, tuple(schema.pure), document_bytes)


def foresee(document: Document, update: Update) -> Document:
    """Return a document after a stored update; as it is if that will be refused."""
    try:
        return apply_update(document, update, {})
    except GatewayError:
        return document


def _bytes_of(document: Mapping[str, Any], names: Iterable[str]) -> int:
    try:
        return len(encode({name: document[name] for name in names if name in document}))
    except _UNENCODABLE:
        return 0
