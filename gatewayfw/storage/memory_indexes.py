"""What indexes in memory may be, and what a unique one refuses. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from gatewayfw.errors import UsageError
from gatewayfw.storage.filter_operators import compile_filter
from gatewayfw.storage.order import keys_at
from gatewayfw.storage.subset import Rules
from gatewayfw.storage.terms import Document, Filter, Index

#: What MongoDB 6 takes in a ``partialFilterExpression``, but ``$type``, which filters do not know here.
_PARTIAL = Rules("partialFilterExpression", frozenset({"$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$exists"}))


def find_unsupported(index: Index) -> str | None:
    """Return the option of an index that does nothing here; None for none."""
    if index.unique and "collation" in index.options:
        return "mongomock knows no collation"
    if "expireAfterSeconds" in index.options and "." in index.keys[0][0]:
        return "mongomock knows no expireAfterSeconds below the top level"
    try:
        _PARTIAL.check_filter(index.options.get("partialFilterExpression", {}))
    except UsageError as error:
        return str(error)
    return None


def is_taken(index: Index, kept: Iterable[Document], document: Document, before: Document | None) -> bool:
    """Tell whether a unique index refuses a document in place of what it was."""
    entries_of = _compile_entries(index)
    added = entries_of(document)
    if before is not None:
        added -= entries_of(before)
    return bool(added) and any(not added.isdisjoint(entries_of(one)) for one in kept if one is not before)


def has_collision(documents: Iterable[Document], index: Index) -> bool:
    """Tell whether two documents have one entry in an index."""
    entries_of, known = _compile_entries(index), set[Any]()
    for document in list(documents):
        entries = entries_of(document)
        if not known.isdisjoint(entries):
            return True
        known |= entries
    return False


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
