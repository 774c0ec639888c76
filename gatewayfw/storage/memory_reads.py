"""Which documents a filter selects from mongomock, and what is shown.

mongomock compares every document, and copies what matches. So a filter is used once, and what it finds is sorted and
cut to its fields here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gatewayfw.storage.documents import encode
from gatewayfw.storage.matching import AnyOf, matches, needs_matching
from gatewayfw.storage.mongo.errors import DRIVER_ERRORS
from gatewayfw.storage.terms import Document, Filter

#: What is wanted of an object, by name; None is the whole value.
_Shape = dict[str, "_Shape | None"]


def select(collection: Any, filter: Filter) -> Iterator[Document]:
    """Yield copies of the matches of a filter, whole, as they are stored.

    Lazy as mongomock's cursors are: they see later writes.
    """
    rest = {key: value for key, value in filter.items() if needs_matching({key: value})}
    found: Iterator[Document] = iter(collection.find(_understood(filter)))
    return (document for document in found if matches(rest, document)) if rest else found


def narrow(filter: Filter, matching: Iterable[Document]) -> Document:
    """Return a filter for mongomock that selects documents by their ids, too.

    Conditions that mongomock understands stay: positional paths of an update depend on them.
    """
    return {**_understood(filter), "_id": AnyOf(document["_id"] for document in matching)}


def show(document: Document, fields: Sequence[str] | None) -> Document:
    """Return a document with these fields and, as its first one, the `_id`.

    None are all fields. A path below a list shows that of each object in it, and drops what is none.
    """
    if fields is None:
        return {"_id": document["_id"], **document}
    shape: _Shape = {}
    for path in fields:
        _add(shape, path.split("."))
    return {"_id": document["_id"], **_cut(document, shape)}


def _understood(filter: Filter) -> Document:
    return {key: value for key, value in filter.items() if not needs_matching({key: value})}


def _add(shape: _Shape, names: Sequence[str]) -> None:
    """Add a path; of a value that is shown as a whole nothing is taken back."""
    for name in names[:-1]:
        inner = shape.setdefault(name, {})
        if inner is None:
            return
        shape = inner
    shape[names[-1]] = None


def _cut(value: Mapping[str, Any], shape: _Shape) -> Document:
    shown = {}
    for name, inner in value.items():
        wanted = shape.get(name, {})
        if wanted is None:
            shown[name] = inner
        elif wanted and isinstance(inner, Mapping):
            shown[name] = _cut(inner, wanted)
        elif wanted and isinstance(inner, list):
            shown[name] = _cut_list(inner, wanted)
    return shown


def _cut_list(values: list[Any], shape: _Shape) -> list[Any]:
    return [
        _cut(value, shape) if isinstance(value, Mapping) else _cut_list(value, shape)
        for value in values
        if isinstance(value, (Mapping, list))
    ]


def bytes_of(document: Mapping[str, Any]) -> int:
    """Return a document's bytes as BSON; 0 where BSON, unlike mongomock, refuses it."""
    try:
        return len(encode(document))
    except (*DRIVER_ERRORS, TypeError, ValueError):
        return 0
