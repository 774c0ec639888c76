"""What indexes in memory may be, and what they refuse. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gatewayfw.errors import StorageError, UsageError
from gatewayfw.storage.filter_operators import compile_filter
from gatewayfw.storage.order import AMBIGUOUS, EMPTY, NULL, is_place, order_key
from gatewayfw.storage.subset import Rules
from gatewayfw.storage.terms import Document, Index

_ABSENT: Any = object()
#: What MongoDB 6 takes in a ``partialFilterExpression``; ``$type`` by names alone.
_PARTIAL = Rules("partialFilterExpression", frozenset({"$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$exists", "$type"}))


def find_unsupported(index: Index) -> str | None:
    """Return the option of an index that does nothing here; None for none."""
    if index.unique and "collation" in index.options:
        return "mongomock knows no collation"
    if "expireAfterSeconds" in index.options and "." in index.keys[0][0]:
        return "mongomock knows no expireAfterSeconds below the top level"
    if index.options.keys() >= {"expireAfterSeconds", "partialFilterExpression"}:
        return "mongomock knows no expireAfterSeconds of some documents alone"
    try:
        _PARTIAL.check_filter(index.options.get("partialFilterExpression", {}))
    except UsageError as error:
        return str(error)
    return None


def is_taken(index: Index, kept: Iterable[Document], document: Document, before: Document | None) -> bool:
    """Tell whether a unique index refuses a document in place of what it was.

    Raises:
        StorageError: any index refuses it.
    """
    entries_of = _compile_entries(index)
    added = entries_of(document)
    if not index.unique:
        return False
    if before is not None:
        added -= entries_of(before)
    return bool(added) and any(not added.isdisjoint(entries_of(one)) for one in kept if one is not before)


def has_collision(documents: Iterable[Document], index: Index) -> bool:
    """Tell whether two documents have one entry in a unique index.

    Raises:
        StorageError: any index refuses one of them.
    """
    entries_of, known = _compile_entries(index), set[Any]()
    for document in list(documents):
        entries = entries_of(document)
        if index.unique and not known.isdisjoint(entries):
            return True
        known |= entries
    return False


def _compile_entries(index: Index) -> Callable[[Document], frozenset[Any]]:
    """Return the function that gives the entries that an index has of a document.

    It raises StorageError where MongoDB has none to give and refuses the document.
    """
    covers = compile_filter(index.options.get("partialFilterExpression", {}))
    paths = [path.split(".") for path, _ in index.keys]
    absent = (_ABSENT,) * len(paths) if index.options.get("sparse") else None

    def entries_of(document: Document) -> frozenset[Any]:
        if not covers(document):
            return frozenset()
        entries = set(_entries(paths, [_ABSENT] * len(paths), document, [])) - {absent}
        return frozenset(tuple(NULL if key is _ABSENT else key for key in entry) for entry in entries)

    return entries_of


def _entries(paths: Sequence[Sequence[str]], keys: Sequence[Any], value: Any, holder: list[Any]) -> Iterator[Any]:
    """Yield the entries of a value; each element of a list has its own.

    ``holder`` is the list that the value is an element of, if it is one. A path without names has its key already.
    """
    below, keys, spread, whole = list(paths), list(keys), None, False
    lists = set()
    for at, names in enumerate(paths):
        if not names:
            continue
        found, below[at] = _find_next(value, names, holder)
        if not isinstance(found, list):
            keys[at] = found if found is _ABSENT else order_key(found)
            continue
        if spread is not None and found is not spread:
            raise StorageError("an index holds at most one list of a document")
        spread = found
        lists.add(at)
        whole = whole or (len(names) == 1 and _is_in(holder, names[0]))
    if spread is None:
        yield tuple(keys)
        return
    for inner in spread or [None]:
        for at in lists:
            if not below[at]:
                keys[at] = EMPTY if not spread else order_key(spread if whole else inner)
        yield from _entries(below, keys, inner if isinstance(inner, Mapping) else {}, spread)


def _find_next(value: Any, names: Sequence[str], holder: list[Any]) -> tuple[Any, Sequence[str]]:
    """Return the value at a path, or the first list on the way, and the names below."""
    if _is_in(holder, names[0]):
        if _has(value, names[0]):
            raise StorageError(AMBIGUOUS)
        value, names = holder[int(names[0])], names[1:]
    while names and not isinstance(value, list):
        if not _has(value, names[0]):
            return _ABSENT, ()
        value, names = value[names[0]], names[1:]
    return value, names


def _has(value: Any, name: str) -> bool:
    return isinstance(value, Mapping) and name in value


def _is_in(holder: list[Any], name: str) -> bool:
    return is_place(name) and int(name) < len(holder)
