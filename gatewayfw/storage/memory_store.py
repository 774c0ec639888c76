"""What mongomock keeps of a collection: documents and indexes.

mongomock 4.3 has its own mind about which documents a filter selects, what an update makes of them and what a unique
index refuses. So it only keeps them, and MongoDB's rules are carried out here and in the modules that this one imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from bson import ObjectId

from gatewayfw.errors import DuplicateKey, UsageError
from gatewayfw.storage.filter_operators import compile_filter
from gatewayfw.storage.missing_indexes import COLLISION
from gatewayfw.storage.order import keys_at, order_key
from gatewayfw.storage.subset import check_filter
from gatewayfw.storage.terms import Document, Filter, Index

#: Types of an `_id` that equals no value of another type.
_LOOKED_UP = frozenset({ObjectId, str})
#: What MongoDB 6 takes in a ``partialFilterExpression``, but ``$type``, which filters do not know here.
_OF_PARTIAL = frozenset({"$and", "$or", "$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$exists"})


class MockCollection:
    """A collection of a mongomock or mongomock-ng database.

    Documents come and go as they are stored: those in here are replaced, never changed.
    """

    def __init__(self, database: Any, name: str) -> None:
        self._kept = database._store[name]
        self._database = database

    def __len__(self) -> int:
        return len(self._kept)

    def select(self, filter: Filter) -> Iterator[Document]:
        """Yield the matches of a filter; those found so far do not change the next."""
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
        """
        for index in self.indexes():
            if index.unique:
                self._refuse_taken(index, document, before)
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
        if reason is None and index.unique and _has_collision(self._kept.documents, index):
            reason = COLLISION
        if reason is None:
            options = {option: value for option, value in index.options.items() if option != "name"}
            self._kept.create_index(name, {"key": list(index.keys), **options})
        return reason

    def _refuse_taken(self, index: Index, document: Document, before: Document | None) -> None:
        entries_of = _compile_entries(index)
        added = entries_of(document)
        if before is not None:
            added -= entries_of(before)
        if added and any(not added.isdisjoint(entries_of(one)) for one in self._kept.documents if one is not before):
            raise DuplicateKey(name for name, _ in index.keys)

    def _key(self, id_: object) -> Any:
        """Return what mongomock keeps a document under."""
        if not isinstance(id_, dict):
            return id_
        package = type(self._database).__module__.partition(".")[0]
        return sys.modules[f"{package}.helpers"].hashdict(id_)


def find_unsupported(index: Index) -> str | None:
    """Return the option of an index that does nothing here; None for none."""
    if index.unique and "collation" in index.options:
        return "mongomock knows no collation"
    if "expireAfterSeconds" in index.options and "." in index.keys[0][0]:
        return "mongomock knows no expireAfterSeconds below the top level"
    partial = index.options.get("partialFilterExpression", {})
    try:
        check_filter(partial, "partialFilterExpression")
    except UsageError as error:
        return str(error)
    unknown = next((name for name in _operators_in(partial) if name not in _OF_PARTIAL), None)
    return None if unknown is None else f"partialFilterExpression: {unknown} is not allowed there"


def _operators_in(value: Any) -> Iterator[str]:
    """Yield the operators in a filter; a missing value is ``$exists: false``."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name.startswith("$"):
                yield "$exists: false" if (name, inner) == ("$exists", False) else name
            yield from _operators_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _operators_in(inner)


def _compile_entries(index: Index) -> Callable[[Document], frozenset[Any]]:
    """Return the function that gives the entries that an index has of a document."""
    filters: list[Filter] = [index.options.get("partialFilterExpression", {})]
    if index.options.get("sparse"):
        filters.append({"$or": [{path: {"$exists": True}} for path, _ in index.keys]})
    covers, paths = compile_filter({"$and": filters}), [path.split(".") for path, _ in index.keys]

    def entries_of(document: Document) -> frozenset[Any]:
        if not covers(document):
            return frozenset()
        return frozenset(product(*(frozenset(keys_at(document, names)) for names in paths)))

    return entries_of


def _has_collision(documents: Iterator[Document], index: Index) -> bool:
    entries_of, known = _compile_entries(index), set[Any]()
    for document in list(documents):
        entries = entries_of(document)
        if not known.isdisjoint(entries):
            return True
        known |= entries
    return False
