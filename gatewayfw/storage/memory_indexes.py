"""Indexes as mongomock keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gatewayfw.storage.terms import Index

#: The index options that mongomock 4.3 keeps; it ignores the others.
_KEPT = ("unique", "sparse", "expireAfterSeconds", "partialFilterExpression")


def options_of(index: Index) -> dict[str, Any]:
    """Return the options of an index for mongomock: a partial one for a sparse one.

    In a unique sparse index mongomock 4.3 takes null for a missing value, and fails on lists and objects.
    """
    options = dict(index.options)
    if index.unique and options.pop("sparse", False):
        options["partialFilterExpression"] = _any_of(index.keys)
    return options


def index_of(name: str, known: Mapping[str, Any]) -> Index:
    """Return an index that mongomock lists.

    Its options are those that `options_of` was given.
    """
    keys = tuple(known["key"])
    options = {"name": name, **{option: known[option] for option in known if option in _KEPT}}
    if options.get("partialFilterExpression") == _any_of(keys):
        del options["partialFilterExpression"]
        options["sparse"] = True
    return Index(keys, options)


def _any_of(keys: Iterable[tuple[str, int]]) -> dict[str, Any]:
    return {"$or": [{name: {"$exists": True}} for name, _ in keys]}
