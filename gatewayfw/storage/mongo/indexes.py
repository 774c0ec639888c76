"""Indexes on MongoDB: which are missing, and building them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import IndexModel
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import CollectionInvalid, OperationFailure

from gatewayfw.storage.base import Index

_LOG = logging.getLogger("gatewayfw.storage")


def compared(
    database: Database[Any], name: str, indexes: Sequence[Index], build_limit: int
) -> tuple[list[Index], list[str]]:
    """Create a collection; return the indexes to build, and what is wrong with the others."""
    collection = database[name]
    if name not in database.list_collection_names(filter={"name": name}):
        # Two transactions that create one collection conflict; another process may be first.
        try:
            database.create_collection(name)
        except (OperationFailure, CollectionInvalid):
            _LOG.debug("collection %s was created by another process", name)
    present = {tuple(index["key"].items()): bool(index.get("unique")) for index in collection.list_indexes()}
    missing = [index for index in indexes if index.keys not in present and index.instead not in present]
    problems = [
        _described(name, index, "exists, but is not unique")
        for index in indexes
        if index.unique and not present.get(index.keys, True)
    ]
    if missing and collection.estimated_document_count() > build_limit:
        large = "is missing; the collection is large"
        problems += [_described(name, index, large) for index in missing if not index.unique]
        missing = [index for index in missing if index.unique]
    return missing, problems


def built(collection: Collection[Any], indexes: Sequence[Index]) -> list[str]:
    """Build indexes in one command; if one cannot be built, each on its own. Return what kept them from it."""
    if not indexes:
        return []
    models = [IndexModel(list(index.keys), **index.options) for index in indexes]
    try:
        collection.create_indexes(models)
    except OperationFailure as error:
        if len(indexes) > 1:
            return [problem for index in indexes for problem in built(collection, [index])]
        # The server's text names the values that collide.
        reason = "two documents share a value" if error.code == 11000 else f"server error {error.code}"
        return [_described(collection.name, indexes[0], f"cannot be built: {reason}")]
    return []


def index_of(known: Mapping[str, Any]) -> Index:
    """Return an index as the server lists it; directions that other tools wrote may be floats."""
    keys = tuple((name, int(order) if isinstance(order, float) else order) for name, order in known["key"].items())
    options = {name: value for name, value in known.items() if name not in ("v", "key", "ns", "background")}
    return Index(keys, {name: value for name, value in options.items() if value is not False})


def _described(collection: str, index: Index, what: str) -> str:
    return f"{collection}: index {dict(index.keys)} {what}"
