"""Databases that answer at once with the same document, so that only the service's own work is measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mongomock

from benchmarks.contenders import Contender
from benchmarks.dataset import JOINED, Size, country, user
from gatewayfw.storage import Document, MockStorage
from gatewayfw.storage.terms import Filter, Paths

#: What a database returns for getUser and getCountry.
_USER = {name: value for name, value in user(7, Size()).items() if name != JOINED}
_COUNTRY = country(7, Size())
_COUNTRY["users"] = [{name: one[name] for name in ("_id", "first_name", "last_name")} for one in _COUNTRY["users"]]


def _document(collection: str) -> Document:
    return dict(_USER if collection == "user" else _COUNTRY)


class CannedStorage(MockStorage):
    """A storage whose reads find the same document, whatever is asked."""

    def __init__(self) -> None:
        super().__init__(mongomock.MongoClient().canned)

    def find(self, collection: str, filter: Filter, fields: Paths = None, **_: Any) -> Iterator[Document]:
        """Yield the document."""
        return iter((_document(collection),))


class _Collection:
    def __init__(self, name: str) -> None:
        self._name = name

    def find_one(self, *_: Any) -> Document:
        return _document(self._name)


class _Database:
    user, country = _Collection("user"), _Collection("country")


def application(contender: Contender) -> Any:
    """Return a contender's application over such a database; it can answer ping, getUser and getCountry."""
    return contender.application(CannedStorage() if contender.gateway else _Database())
