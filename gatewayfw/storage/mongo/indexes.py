"""Find and build missing indexes on MongoDB."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import IndexModel
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import CollectionInvalid, OperationFailure

from gatewayfw.storage.missing_indexes import COLLISION, find_missing
from gatewayfw.storage.terms import Index

_LOG = logging.getLogger("gatewayfw.storage")


def find_or_create(database: Database[Any], name: str) -> object:
    """Return the UUID of a collection, which is created if it is missing."""
    found = identities(database, {"name": name})
    if found:
        return found[name]
    # Two transactions that create one collection conflict; another process may be first.
    try:
        database.create_collection(name)
    except (OperationFailure, CollectionInvalid):
        _LOG.debug("collection %s was created by another process", name)
    return identities(database, {"name": name}).get(name)


def identities(database: Database[Any], filter: Mapping[str, Any]) -> dict[str, object]:
    """Return the UUIDs of collections by name; None for a view."""
    return {one["name"]: one["info"].get("uuid") for one in database.list_collections(filter=filter)}


def compare(
    database: Database[Any], name: str, indexes: Sequence[Index], build_limit: int
) -> tuple[list[Index], list[str]]:
    """Return the indexes of a collection to build, and messages about the others."""
    collection = database[name]
    present = {tuple(index["key"].items()): bool(index.get("unique")) for index in collection.list_indexes()}
    return find_missing(name, indexes, present, lambda: collection.estimated_document_count() > build_limit)


def build(collection: Collection[Any], indexes: Sequence[Index]) -> list[str]:
    """Build indexes in one command or, if it fails, one by one; return the failures."""
    if not indexes:
        return []
    models = [IndexModel(list(index.keys), **index.options) for index in indexes]
    try:
        collection.create_indexes(models)
    except OperationFailure as error:
        if len(indexes) > 1:
            return [problem for index in indexes for problem in build(collection, [index])]
        reason = COLLISION if error.code == 11000 else f"server error {error.code}"
        return [indexes[0].problem(collection.name, f"cannot be built: {reason}")]
    return []


def index_of(known: Mapping[str, Any]) -> Index:
    """Return an index that the server lists.

    Directions written by other tools may be floats.
    """
    keys = tuple((name, int(order) if isinstance(order, float) else order) for name, order in known["key"].items())
    options = {name: value for name, value in known.items() if name not in ("v", "key", "ns", "background")}
    return Index(keys, {name: value for name, value in options.items() if value is not False})
