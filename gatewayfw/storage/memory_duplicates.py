"""What mongomock 4.3 lacks of unique indexes: fields in its error, and lists.

Where MongoDB gives each element of a list an entry in the index, mongomock compares lists as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from gatewayfw.errors import DuplicateKey
from gatewayfw.storage.order import keys_at
from gatewayfw.storage.terms import Document, Filter, Update


def taken_fields(collection: Any, refused: Iterable[Document]) -> tuple[str, ...]:
    """Return the fields of the first unique index in which documents collide.

    Returns an empty tuple if none do. ``collection`` holds the documents stored when the write was refused;
    documents collide as in mongomock 4.3.
    """
    unique = _unique_indexes(collection)
    collisions = (
        index
        for document in refused
        for index in unique
        if _collides(collection, document, index)
        or (_reaches_list(document, index) and _shares_entry(collection, document, index))  # mongomock-ng
    )
    return next((tuple(name for name, _ in index["key"]) for index in collisions), ())


def refuse_shared(collection: Any, written: Iterable[Document]) -> None:
    """Refuse lists with an element that another document has, in unique indexes.

    ``written`` are documents as they are stored.

    Raises:
        DuplicateKey: names the fields of the first such index.
    """
    unique = _unique_indexes(collection)
    if not unique:
        return
    for document in written:
        for index in unique:
            if _reaches_list(document, index) and _shares_entry(collection, document, index):
                raise DuplicateKey(name for name, _ in index["key"])


def after_update(
    collection: Any, documents: Sequence[Document], statements: Iterable[tuple[Filter, Update]]
) -> list[Document]:
    """Return documents after their updates, without changing their collection."""
    scratch = _copy_to_scratch(collection, documents)
    for filter, update in statements:
        scratch.update_many(dict(filter), update)
    return list(scratch.find())


def is_storable(collection: Any, document: Document) -> bool:
    """Return whether only a unique index can refuse a document.

    mongomock 4.3 asks these indexes after it has stored the document, and takes it out again only
    when it finds a duplicate, not when a value cannot be compared.
    """
    try:
        _copy_to_scratch(collection, [document])
    except Exception:
        return False
    return True


def _unique_indexes(collection: Any) -> list[dict[str, Any]]:
    return [index for index in collection.index_information().values() if index.get("unique")]


def _collides(collection: Any, document: Document, index: dict[str, Any]) -> bool:
    values = {name: _value_at(document, name) for name, _ in index["key"]}
    if index.get("sparse") and all(value is None for value in values.values()):
        return False
    covered = index.get("partialFilterExpression") or {}
    if not _copy_to_scratch(collection, [document]).count_documents(covered):
        return False
    others = {"_id": {"$ne": document["_id"]}}
    return bool(collection.count_documents({"$and": [values, covered, others]}, limit=1))


def _shares_entry(collection: Any, document: Document, index: Mapping[str, Any]) -> bool:
    covered = index.get("partialFilterExpression") or {}
    if not _copy_to_scratch(collection, [document]).count_documents(covered):
        return False
    entries = _entries(document, index)
    others = collection.find({"$and": [covered, {"_id": {"$ne": document["_id"]}}]})
    return any(not entries.isdisjoint(_entries(other, index)) for other in others)


def _entries(document: Document, index: Mapping[str, Any]) -> frozenset[Any]:
    """Return the entries that MongoDB's index has of a document."""
    return frozenset(product(*(frozenset(keys_at(document, name.split("."))) for name, _ in index["key"])))


def _reaches_list(document: Document, index: Mapping[str, Any]) -> bool:
    """Tell whether a field of an index is a list, or below one."""
    for path, _ in index["key"]:
        value: Any = document
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
            if isinstance(value, list):
                return True
    return False


def _copy_to_scratch(collection: Any, documents: Iterable[Document]) -> Any:
    """Return a collection with these documents, in a client of its own."""
    scratch = type(collection.database.client)().scratch.scratch
    for document in documents:
        scratch.insert_one(dict(document))
    return scratch


def _value_at(document: Document, path: str) -> Any:
    """Return a value, or None for a missing one, as MongoDB indexes it."""
    value: Any = document
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value
