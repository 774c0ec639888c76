"""Find and build missing indexes on MongoDB."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pymongo import IndexModel
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import OperationFailure, PyMongoError

from gatewayfw.storage.missing_indexes import COLLISION, find_missing
from gatewayfw.storage.terms import Index, IndexProblem

_LOG = logging.getLogger("gatewayfw.storage")
#: The server's error codes for a collection that exists, and for two documents with one entry in a unique index.
_EXISTS, _DUPLICATE = 48, 11000
#: More collections than a database has, so that one reply lists them all.
_AT_ONCE = {"batchSize": 1_000_000}


def identities(database: Database[Any]) -> dict[str, str]:
    """Return the UUIDs of collections by name, in hexadecimal; empty for a view."""
    found = {one["name"]: one["info"].get("uuid", b"") for one in database.list_collections(cursor=_AT_ONCE)}
    return {name: uuid.hex if isinstance(uuid, UUID) else uuid.hex() for name, uuid in found.items()}


def compare(
    database: Database[Any], name: str, indexes: Sequence[Index], build_limit: int
) -> tuple[list[Index], list[IndexProblem]]:
    """Return the indexes of a collection to build, and messages about the others.

    The collection is created if it is missing.
    """
    collection = database[name]
    present = {tuple(index["key"].items()): bool(index.get("unique")) for index in collection.list_indexes()}
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
    models = [IndexModel(list(index.keys), **index.options) for index in indexes]
    try:
        collection.create_indexes(models)
    except OperationFailure as error:
        if len(indexes) > 1:
            return [problem for index in indexes for problem in build(collection, [index])]
        if error.code != _DUPLICATE:
            return [indexes[0].problem(collection.name, f"cannot be built: server error {error.code}")]
        twins = find_twins(collection, indexes[0], (error.details or {}).get("keyValue") or {})
        return [indexes[0].problem(collection.name, f"cannot be built: {COLLISION}", twins)]
    return []


def find_twins(collection: Collection[Any], index: Index, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the ids of two documents that have one entry in a unique index, or none.

    This reads all documents before the second one.
    """
    if values.keys() != {name for name, _ in index.keys}:
        return ()
    wanted: list[Mapping[str, Any]] = [{name: {"$eq": value} for name, value in values.items()}]
    if index.options.get("sparse"):
        wanted.append({"$or": [{name: {"$exists": True}} for name in values]})
    wanted.append(index.options.get("partialFilterExpression", {}))
    found = collection.find({"$and": wanted}, {"_id": 1}, limit=2, collation=index.options.get("collation"))
    try:
        ids = tuple(one["_id"] for one in found)
    except PyMongoError:  # such as no time left: another process tries to build it, then
        return ()
    return ids if len(ids) == 2 else ()


def index_of(known: Mapping[str, Any]) -> Index:
    """Return an index that the server lists.

    Directions written by other tools may be floats.
    """
    keys = tuple((name, int(order) if isinstance(order, float) else order) for name, order in known["key"].items())
    options = {name: value for name, value in known.items() if name not in ("v", "key", "ns", "background")}
    return Index(keys, {name: value for name, value in options.items() if value is not False})
