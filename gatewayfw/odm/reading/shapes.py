"""What a projection shows of documents: their shape. Pure.

It is built from the names that were asked for, so that a document never shows more, whatever is stored in it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gatewayfw.odm.hidden import revision_of
from gatewayfw.odm.reading.projection import LinkShape, Projection
from gatewayfw.schemas import Sort
from gatewayfw.schemas.relations import REV
from gatewayfw.schemas.values import loaded_form
from gatewayfw.storage.order import order_key

#: In place of a copy that is not there.
_NOTHING: dict[str, Any] = {}


def shape(projection: Projection, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the projection shows of a document, without the levels below copies.

    An absent `multiple` relation reads as ``[]``; everything else that is absent is left out.
    The document is not changed; the result shares values with it.
    """
    links = projection.links
    if projection.revision:
        document = {**document, REV: revision_of(document)}
    if not links:
        shown = {name: document[name] for name in projection.names if name in document}
        return _load(projection.loaded, shown) if projection.loaded else shown
    result: dict[str, Any] = {}
    for name in projection.names:
        link = links.get(name)
        if link is None:
            if name in document:
                result[name] = document[name]
            continue
        parts = _parts(link, document.get(name))
        if link.multiple:
            result[name] = parts
        elif parts:
            result[name] = parts[0]
    return _load(projection.loaded, result) if projection.loaded else result


def _load(names: frozenset[str], shown: dict[str, Any]) -> dict[str, Any]:
    for name in names:
        if name in shown:
            shown[name] = loaded_form(shown[name])
    return shown


def shapes(projection: Projection, found: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return what is shown of documents read by the projection's paths; see `shape`.

    A database gives nothing beside the paths. So where these are just what is shown, only links are
    looked at, which may hold what is no copy; the documents are given as they are, or are changed.
    """
    if not projection.exact or not _hold_copies(projection.links, found):
        return [shape(projection, document) for document in found]
    if projection.amended:
        for document in found:
            _amend(projection, document)
    return found


def _hold_copies(links: Mapping[str, LinkShape], found: Sequence[dict[str, Any]]) -> bool:
    """Tell whether links hold nothing but copies; an absent list becomes an empty one."""
    for name, link in links.items():
        if not link.multiple:
            for document in found:
                if type(document.get(name, _NOTHING)) is not dict:
                    return False
            continue
        for document in found:
            value = document.get(name)
            if value is None:
                document[name] = []
            elif type(value) is not list:
                return False
            else:
                for copy in value:
                    if type(copy) is not dict:
                        return False
    return True


def _amend(projection: Projection, document: dict[str, Any]) -> None:
    _load(projection.loaded, document)
    for name, link in projection.links.items():
        if link.loaded and name in document:
            for copy in document[name] if link.multiple else [document[name]]:
                _load(link.loaded, copy)
    if "_id" not in projection.names:
        document.pop("_id", None)


def _parts(link: LinkShape, value: object) -> list[dict[str, Any]]:
    """Return the part of each copy that is shown."""
    names = link.names
    parts = [{name: copy[name] for name in names if name in copy} for copy in shown_copies(link, value)]
    return [_load(link.loaded, part) for part in parts] if link.loaded else parts


def shown_copies(link: LinkShape, value: object) -> list[dict[str, Any]]:
    """Return the stored copies that a link shows, in the order in which it shows them."""
    if isinstance(value, list) and link.multiple:
        return in_order(link.sort, [copy for copy in value if isinstance(copy, dict)])
    return [value] if isinstance(value, dict) else []


def copies_in(value: object) -> list[dict[str, Any]]:
    """Return the copies embedded in a relation's value, be it absent, one or a list."""
    if isinstance(value, Mapping):
        return [dict(value)]
    return [dict(copy) for copy in value if isinstance(copy, Mapping)] if isinstance(value, list) else []


def in_order(sort: Sort | None, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return documents by a sort's field, in MongoDB's order; ties keep theirs."""
    if sort is None:
        return documents
    return sorted(documents, key=lambda one: order_key(one.get(sort.field)), reverse=sort.direction == -1)
