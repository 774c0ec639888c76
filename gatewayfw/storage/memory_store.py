"""What mongomock keeps of a collection: documents and indexes.

mongomock 4.3 has its own mind about which documents a filter selects, what an update makes of them and what a unique
index refuses. So it only keeps them, and MongoDB's rules are carried out here and in the modules that this one imports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from bson import Binary, ObjectId, Timestamp

from gatewayfw.errors import DuplicateKey, StorageError
from gatewayfw.storage.documents import as_stored
from gatewayfw.storage.filter_operators import compile_filter
from gatewayfw.storage.memory_indexes import find_unsupported, has_collision, is_taken
from gatewayfw.storage.order import order_key
from gatewayfw.storage.terms import COLLISION, Document, Filter, Index

#: Types of an `_id` that equals no value of another type.
_LOOKED_UP = frozenset({ObjectId, str})
#: Types of an `_id` whose hash tells what equals it.
_HASHED = _LOOKED_UP | {type(None), bytes, Binary, datetime, Timestamp}


class MockCollection:
    """A collection of a mongomock or mongomock-ng database.

    Documents come and go as they are stored: those in here are replaced, never changed.
    """

    def __init__(self, database: Any, name: str) -> None:
        self._kept = database._store[name]
        self._helpers = sys.modules[f"{type(database).__module__.partition('.')[0]}.helpers"]

    def __len__(self) -> int:
        return len(self._kept)

    def select(self, filter: Filter) -> Iterator[Document]:
        """Yield the matches of a filter; those found so far do not change the next.

        Raises:
            BSONError, OverflowError, TypeError, ValueError: BSON cannot hold a value of the filter.
        """
        filter = as_stored(filter)
        accepts = compile_filter(filter)
        return (document for document in self._candidates(filter.get("_id")) if accepts(document))

    def _candidates(self, condition: Any) -> list[Document]:
        """Return the documents that may meet a condition on the ``_id``."""
        wanted = condition["$in"] if isinstance(condition, Mapping) and "$in" in condition else [condition]
        if not all(type(one) in _LOOKED_UP for one in wanted):
            return list(self._kept.documents)
        return [self._kept[id_] for id_ in sorted(set(wanted), key=order_key) if id_ in self._kept]

    def has(self, id_: object) -> bool:
        """Tell whether a document has this ``_id``."""
        return self._key(id_) in self._kept

    def put(self, document: Document, before: Document | None = None) -> None:
        """Store a document in place of what it was before; None stands for a new one.

        Raises:
            DuplicateKey: a unique index has its entry for another document.
            StorageError: an index refuses it.
        """
        for index in self.indexes():
            if is_taken(index, self._kept.documents, document, before):
                raise DuplicateKey(name for name, _ in index.keys)
        self.restore(document)

    def restore(self, document: Document) -> None:
        """Store a document that was here before."""
        self._kept[self._key(document["_id"])] = document

    def remove(self, id_: object) -> None:
        """Remove the document with an ``_id``."""
        del self._kept[self._key(id_)]

    def indexes(self) -> list[Index]:
        """Return the indexes, without the one on ``_id``."""
        return [
            Index(tuple(known["key"]), {"name": name, **{option: known[option] for option in known if option != "key"}})
            for name, known in self._kept.indexes.items()
        ]

    def build(self, index: Index) -> str | None:
        """Build an index; return why it cannot be built."""
        name = index.options.get("name") or "_".join(f"{path}_{direction}" for path, direction in index.keys)
        reason = find_unsupported(index)
        if reason is None and name in self._kept.indexes:
            reason = "another index has its name"
        if reason is None:
            reason = self._find_obstacle(index)
        if reason is None:
            options = {option: value for option, value in index.options.items() if option != "name"}
            self._kept.create_index(name, {"key": list(index.keys), **options})
        return reason

    def _find_obstacle(self, index: Index) -> str | None:
        try:
            return COLLISION if has_collision(self._kept.documents, index) else None
        except StorageError as error:
            return str(error)

    def _key(self, id_: object) -> Any:
        """Return what a document is kept under.

        That is mongomock's key, unless it means another `_id`, too: mongomock tells neither ``True`` from 1 nor
        the order of an object, and cannot hash all that MongoDB takes.
        """
        if type(id_) in _HASHED:
            return id_
        key, own = order_key(id_), id_
        for kept, one in self._kept._documents.items():
            if order_key(one["_id"]) == key:
                return kept
        if isinstance(id_, dict):
            own = self._helpers.hashdict(id_)
        try:
            return key if own in self._kept else own
        except TypeError:
            return key
