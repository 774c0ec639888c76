"""Deep `get`: read the documents beyond the embedded copies, level by level.

A copy has no relations. If a `get` asks for those of a copied document, that document is
read: one query for each relation path, for all documents at that path together, in the order
and within the limits of what is stored there. So ``{"cities": {"country": {"users": {...}}}}``
reads the cities of all countries found, then the countries of all those cities: two queries.

What a reply may hold bounds what is read for it: see `Reading`. Outside of a request nothing does.

The embedded copies are right at every moment. The levels below them are read a moment later, each
by a query of its own: outside of a transaction a write between two queries shows in the second
only. A copied document that is gone by then is shown as its copy alone, as one without relations.
All of this is our choice.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from json.encoder import encode_basestring
from typing import Any

from bson import ObjectId

from gatewayfw.errors import ReplyTooLarge
from gatewayfw.odm.reading.projection import LinkShape, Projection
from gatewayfw.odm.reading.rights import MOST_IDS, limit, screen
from gatewayfw.odm.reading.shapes import shape, shapes, shown_copies
from gatewayfw.odm.reading.viewer import Viewer
from gatewayfw.pieces import in_batches
from gatewayfw.storage import Document, Storage

#: Documents of a cursor whose deeper levels are read together; each batch takes one query for each path.
BATCH = 1_000
#: What a value counts besides its name and text. As JSON an id takes 26 bytes, a small number 1; in memory a
#: document of one or two fields takes 200, a field 0 to 50.
VALUE_BYTES = 16

#: A copied document's `_id`, and what is shown of its copy so far.
_Place = tuple[object, Document]


def show(storage: Storage, projection: Projection, documents: Sequence[Document]) -> list[Document]:
    """Return what a projection shows of documents, including deeper levels, in order.

    Inside a transaction it reads in that transaction.

    Raises:
        ReplyTooLarge: the deeper levels would show more than the reply of this request may hold.
    """
    if not projection.deeper and projection.viewer is None:
        return [shape(projection, document) for document in documents]
    return Reading(storage, projection.viewer).show(projection, documents)


def show_one(storage: Storage, projection: Projection, document: Document | None) -> Document | None:
    """Show one document as `show` does; return None for None."""
    return None if document is None else show(storage, projection, [document])[0]


def show_found(storage: Storage, projection: Projection, found: Sequence[Document]) -> Sequence[Document]:
    """Show documents read by the projection's paths; it may return the same objects."""
    return show(storage, projection, found) if projection.deeper or projection.viewer else shapes(projection, found)


def show_each(storage: Storage, projection: Projection, found: Iterator[Document]) -> Iterator[Sequence[Document]]:
    """Show documents piece by piece, as `show_found` does.

    Deeper levels are read for 1,000 documents at a time, fewer where these alone might fill the reply.
    """
    if projection.deeper or projection.viewer:
        return (show(storage, projection, batch) for batch in _together(found, storage.scope.reply_bytes))
    return map(partial(shapes, projection), in_batches(found))


def _together(found: Iterator[Document], most: int | None) -> Iterator[list[Document]]:
    batch: list[Document] = []
    size = 0
    for document in found:
        batch.append(document)
        size += 0 if most is None else weigh(document)
        if len(batch) >= BATCH or (most is not None and size >= most):
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Reading:
    """Reads the deeper levels for one batch of documents.

    One document is shown wherever a copy of it is, so that a few may fill any reply: 300 books of an
    author, each with its author, each with its books, are 90,000. So before a level is put together, what
    it is going to show is weighed, against the bytes that the reply may have.
    """

    def __init__(self, storage: Storage, viewer: Viewer | None) -> None:
        self._storage = storage
        self._viewer = viewer
        self._most = storage.scope.reply_bytes
        self._weight = 0

    def show(self, projection: Projection, documents: Sequence[Mapping[str, Any]]) -> list[Document]:
        if self._viewer is not None:
            documents = screen(self._viewer, self._storage, projection, documents)
        return self._show(projection, documents)

    def _show(self, projection: Projection, documents: Sequence[Mapping[str, Any]]) -> list[Document]:
        result = [shape(projection, document) for document in documents]
        for name, link, below in projection.deeper:
            self._deepen(link.model, below, list(_places(name, link, documents, result)))
        return result

    def _deepen(self, model: str, below: Projection, places: Sequence[_Place]) -> None:
        """Add to each place what is shown of the relations of the document copied there."""
        found = self._read(model, below, Counter(id_ for id_, _ in places if isinstance(id_, ObjectId)))
        nothing: Document = {}
        documents = [found.get(id_, nothing) if isinstance(id_, ObjectId) else nothing for id_, _ in places]
        for (_, part), more in zip(places, self._show(below, documents), strict=True):
            part.update(more)

    def _read(self, model: str, below: Projection, uses: Mapping[ObjectId, int]) -> dict[object, Mapping[str, Any]]:
        """Read documents by `_id`, screened; ``uses`` says how often each will be shown."""
        found: dict[object, Mapping[str, Any]] = {}
        remaining = iter(uses)
        while ids := list(islice(remaining, MOST_IDS)):
            wanted = limit(self._viewer, model, {"_id": {"$in": ids}})
            documents = self._storage.find(model, wanted, below.paths, limit=len(ids))
            for document in documents if self._viewer is None else self._screened(self._viewer, below, documents):
                if self._most is not None:
                    self._weight += uses[document["_id"]] * weigh(shape(below, document))
                    if self._weight > self._most:
                        raise ReplyTooLarge(self._most)
                found[document["_id"]] = document
        return found

    def _screened(
        self, viewer: Viewer, below: Projection, documents: Iterable[Document]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield what the caller sees of documents, because only that may count.

        So many are kept until they are screened as weigh no more than a reply.
        """
        some: list[Document] = []
        weight = 0
        for document in documents:
            some.append(document)
            if self._most is not None and (weight := weight + weigh(shape(below, document))) > self._most:
                yield from screen(viewer, self._storage, below, some)
                some, weight = [], 0
        yield from screen(viewer, self._storage, below, some)


def _places(
    name: str, link: LinkShape, documents: Sequence[Mapping[str, Any]], result: Sequence[Document]
) -> Iterator[_Place]:
    """Yield the `_id` of each copy that a link shows, with what is shown of it."""
    for document, part in zip(documents, result, strict=True):
        if name in part:
            parts = part[name] if link.multiple else [part[name]]
            copies = shown_copies(link, document.get(name))
            yield from ((copy.get("_id"), one) for copy, one in zip(copies, parts, strict=True))


def weigh(value: Any) -> int:
    """Estimate the bytes of a value as JSON, and a part of its memory.

    Each value counts 16 (see `VALUE_BYTES`), plus its name and text as long as they are in JSON. So a document
    of ids or texts weighs about as much as its JSON, one of small numbers up to four times as much.
    """
    kind = type(value)
    if kind is str:
        return VALUE_BYTES + len(encode_basestring(value).encode(errors="surrogatepass"))
    if kind is dict:
        return VALUE_BYTES + sum(len(name) + weigh(inner) for name, inner in value.items())
    if kind is list:
        return VALUE_BYTES + sum(map(weigh, value))
    return VALUE_BYTES + (len(value) if kind is bytes else 0)
