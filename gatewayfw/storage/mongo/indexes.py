"""Find and build missing indexes on MongoDB."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pymongo import IndexModel
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import OperationFailure

from gatewayfw.storage.mongo.reads import send
from gatewayfw.storage.terms import COLLISION, Index, IndexProblem, find_missing

_LOG = logging.getLogger("gatewayfw.storage")
#: The server's error codes for a collection that is missing or exists, and for two documents with one entry in a unique
#: index.
_MISSING, _EXISTS, _DUPLICATE = 26, 48, 11000
#: More collections than a database has, or indexes than a collection has, so that one reply lists them all.
_AT_ONCE = {"batchSize": 1_000_000}


def identities(database: Database[Any]) -> dict[str, str]:
    """Return the UUIDs of collections by name, in hexadecimal; empty for a view."""
    found = {one["name"]: one["info"].get("uuid", b"") for one in database.list_collections(cursor=_AT_ONCE)}
    return {name: uuid.hex if isinstance(uuid, UUID) else uuid.hex() for name, uuid in found.items()}


def list_indexes(collection: Collection[Any]) -> list[dict[str, Any]]:
    """Return what the server holds of each index.

    PyMongo's method reads the reply by options of its own, which know no dates beyond Python's range.
    """
    try:
        return list(send(collection, {"listIndexes": collection.name, "cursor": _AT_ONCE})["cursor"]["firstBatch"])
    except OperationFailure as error:
        if error.code != _MISSING:
            raise
        return []


def compare(
    database: Database[Any], name: str, indexes: Sequence[Index], build_limit: int
) -> tuple[list[Index], list[IndexProblem]]:
    """Return the indexes of a collection to build, and messages about the others.

    The collection is created if it is missing.
    """
    collection = database[name]
    present = {tuple(index["key"].items()): bool(index.get("unique")) for index in list_indexes(collection)}
    if not present:  # Each collection has the index on `_id`.
        _create(database, name)
    return find_missing(
        name, indexes, present, lambda: bool(present) and collection.estimated_document_count() > build_limit
    )


def _create(database: Database[Any], name: str) -> None:
    # Two transactions that create one collection conflict; another process may be first.
    try:
        database.create_collection(name, check_exists=False)
    except OperationFailure as error:
        if error.code != _EXISTS:
            raise
        _LOG.debug("collection %s was created by another process", name)


def build(collection: Collection[Any], indexes: Sequence[Index]) -> list[IndexProblem]:
    """Build indexes in one command or, if it fails, one by one; return the failures."""
    if not indexes:
        return []
    models = [IndexModel(list(index.keys), **index.options).document for index in indexes]
    concern = collection.write_concern.document
    try:
        # PyMongo's method cannot read the reply about two documents that share a date beyond Python's range.
        send(collection, {"createIndexes": collection.name, "indexes": models, "writeConcern": concern})
    except OperationFailure as error:
        if len(indexes) > 1:
            return [problem for index in indexes for problem in build(collection, [index])]
        reason = COLLISION if error.code == _DUPLICATE else f"server error {error.code}"
        return [indexes[0].problem(collection.name, f"cannot be built: {reason}")]
    return []


def index_of(known: Mapping[str, Any]) -> Index:
    """Return an index that the server lists; directions of other tools may be floats."""
    keys = tuple((name, int(order) if isinstance(order, float) else order) for name, order in known["key"].items())
    options = {name: value for name, value in known.items() if name not in ("v", "key", "ns", "background")}
    return Index(keys, {name: value for name, value in options.items() if value is not False})
