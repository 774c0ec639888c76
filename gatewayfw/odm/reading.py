"""Deep `get`: what lies beyond the embedded copies, read level by level.

A copy holds no relations. Where a `get` asks for those of a copied document, that document is
read: one query for each relation path, for all documents at that path together, in the order
and within the limits of what is stored there. So ``{"cities": {"country": {"users": {...}}}}``
reads the cities of all countries found, then the countries of all those cities: two queries.

The embedded copies are right at every moment. The levels below them are read a moment later, each
by a query of its own: outside of a transaction a write between two queries shows in the second
only. A copied document that is gone by then is shown as its copy alone, as one without relations.
All of this is our choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from bson import ObjectId

from gatewayfw.errors import ValidationError
from gatewayfw.odm.projection import LinkShape, Projection, shape, shapes, shown_copies
from gatewayfw.storage import Document, Storage

#: Documents of a cursor whose deeper levels are read together; each batch takes one query for each path.
BATCH = 1_000
#: Documents of a cursor without such levels that are taken together: as many as a first reply of the database holds.
FLAT_BATCH = 101
#: Most ids in one query; 10,000 of them are 250 kB, far from the 16 MB that a command may have.
MOST_IDS = 10_000
#: Most copies that the levels below embedded copies may show for one batch: with two fields each they take
#: 25 MB, twice that while they are read. With lists of 50 each level has 50 times as many as the one above.
MOST_COPIES = 100_000

#: A copied document's `_id`, and what is shown of its copy so far.
_Place = tuple[object, Document]


def show(storage: Storage, projection: Projection, documents: Sequence[Document]) -> list[Document]:
    """Return what a projection shows of documents, in their order, deeper levels included.

    Inside a transaction it reads in that transaction.

    Raises:
        ValidationError: the deeper levels would show more than 100,000 copies.
    """
    return _Reading(storage).show(projection, documents)


def show_found(storage: Storage, projection: Projection, found: Sequence[Document]) -> Sequence[Document]:
    """Return what `show` does of documents that were read by the paths of the projection; they may be the same."""
    return show(storage, projection, found) if projection.deeper else shapes(projection, found)


def show_each(storage: Storage, projection: Projection, found: Iterator[Document]) -> Iterator[Document]:
    """Return an iterator over what `show_found` gives; deeper levels are read for 1,000 documents at a time."""
    return chain.from_iterable(_show_batches(storage, projection, found))


def _show_batches(storage: Storage, projection: Projection, found: Iterator[Document]) -> Iterator[Sequence[Document]]:
    size = BATCH if projection.deeper else FLAT_BATCH
    while batch := list(islice(found, size)):
        yield show_found(storage, projection, batch)


class _Reading:
    """The reading of the deeper levels for one batch of documents."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._left = MOST_COPIES

    def show(self, projection: Projection, documents: Sequence[Mapping[str, Any]]) -> list[Document]:
        result = [shape(projection, document) for document in documents]
        for name, link, below in projection.deeper:
            self._deepen(link.model, below, list(_places(name, link, documents, result)))
        return result

    def _deepen(self, model: str, below: Projection, places: Sequence[_Place]) -> None:
        """Add to each place what is shown of the relations of the document that was copied there."""
        found = self._read(model, below, Counter(id_ for id_, _ in places if isinstance(id_, ObjectId)))
        nothing: Document = {}
        documents = [found.get(id_, nothing) if isinstance(id_, ObjectId) else nothing for id_, _ in places]
        for (_, part), more in zip(places, self.show(below, documents), strict=True):
            part.update(more)

    def _read(self, model: str, below: Projection, uses: Mapping[ObjectId, int]) -> dict[object, Document]:
        """Read documents by `_id`; ``uses`` says in how many places each is going to be shown."""
        found: dict[object, Document] = {}
        remaining = iter(uses)
        while ids := list(islice(remaining, MOST_IDS)):
            for document in self._storage.find(model, {"_id": {"$in": ids}}, below.paths, limit=len(ids)):
                self._count(uses[document["_id"]] * _copies(below, document))
                found[document["_id"]] = document
        return found

    def _count(self, copies: int) -> None:
        self._left -= copies
        if self._left < 0:
            raise ValidationError({"get": [f"Too many related documents: at most {MOST_COPIES}."]})


def _places(
    name: str, link: LinkShape, documents: Sequence[Mapping[str, Any]], result: Sequence[Document]
) -> Iterator[_Place]:
    """Yield the `_id` of each copy that a link shows, with what is shown of it."""
    for document, part in zip(documents, result, strict=True):
        if name in part:
            parts = part[name] if link.multiple else [part[name]]
            copies = shown_copies(link, document.get(name))
            yield from ((copy.get("_id"), one) for copy, one in zip(copies, parts, strict=True))


def _copies(below: Projection, document: Mapping[str, Any]) -> int:
    """Return how many copies a document shows."""
    values = (document.get(name) for name in below.links)
    return sum(len(value) if isinstance(value, list) else 1 for value in values if value)
