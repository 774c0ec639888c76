"""What mongomock keeps of a collection: documents and indexes.

mongomock 4.3 has its own mind about which documents a filter selects, what an update makes of them and what a unique
index refuses. So it only keeps them, and MongoDB's rules are carried out here and in the modules that this one imports.
Below the collection stand the entries that an index has of a document, and what a unique one refuses.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from bson import Binary, ObjectId, Timestamp

from gatewayfw.errors import DuplicateKey, StorageError, UsageError
from gatewayfw.storage.documents import as_stored
from gatewayfw.storage.filter_operators import compile_filter
from gatewayfw.storage.order import AMBIGUOUS, EMPTY, NULL, is_place, order_key
from gatewayfw.storage.subset import Rules
from gatewayfw.storage.terms import COLLISION, Document, Filter, Index

#: Types of an `_id` that equals no value of another type.
_LOOKED_UP = frozenset({ObjectId, str})
#: Types of an `_id` whose hash tells what equals it.
_HASHED = _LOOKED_UP | {type(None), bytes, Binary, datetime, Timestamp}
_ABSENT: Any = object()
#: What MongoDB 6 takes in a ``partialFilterExpression``; ``$type`` by names alone.
_PARTIAL = Rules("partialFilterExpression", frozenset({"$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$exists", "$type"}))


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
        reason = find_unsupported(index) or self._find_obstacle(index, name)
        if reason is None:
            options = {option: value for option, value in index.options.items() if option != "name"}
            self._kept.create_index(name, {"key": list(index.keys), **options})
        return reason

    def _find_obstacle(self, index: Index, name: str) -> str | None:
        if name in self._kept.indexes:
            return "another index has its name"
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
