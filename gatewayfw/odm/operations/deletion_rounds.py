"""Collect the results of deleting many documents, round by round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, final

from gatewayfw.errors import StillReferenced
from gatewayfw.odm.database import Done
from gatewayfw.odm.operations.walk import Ids, cut_pages
from gatewayfw.odm.reading.cursor import DeleteResult

#: What became of one document: cascaded deletes by model, the reason for refusing it, or None for no match.
Deleted = Mapping[str, int] | StillReferenced | None


def is_deleted(one: Deleted) -> bool:
    """Tell whether a document was deleted."""
    return isinstance(one, Mapping)


@final
class Deletion:
    """The result of `delete_many` so far, and the documents that are put aside."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._deleted = 0
        self._cascaded: Counter[str] = Counter()
        self._pending = False
        self._begin_round()

    def _begin_round(self) -> None:
        self._aside: list[Any] = []
        self._held: Counter[str] = Counter()
        self._before = self._deleted

    def add(self, ids: Ids, done: Done[list[Deleted]]) -> None:
        """Add the results of one batch."""
        for id_, one in zip(ids, done.result, strict=True):
            if isinstance(one, StillReferenced):
                self._aside.append(id_)
                self._held.update(one.counts)
            elif one is not None:
                self._deleted += 1
                self._cascaded.update(one)
        self._cascaded.update(done.deleted)
        self._pending |= bool(done.pending)

    def end_round(self, done: int) -> Iterator[Ids] | None:
        """End a round; return the pages of the next one, or None if none is needed.

        The next one goes the other way, so that a chain of documents, each embedding the one before, takes two
        rounds and not one for each.

        Raises:
            StillReferenced: documents were refused, and none was deleted; ``done`` is for the error.
        """
        if not self._aside:
            return None
        if self._deleted == self._before:
            refusal = StillReferenced(self._model, dict(sorted(self._held.items())))
            refusal.done = done
            raise refusal
        pages = cut_pages(self._aside[::-1])
        self._begin_round()
        return pages

    def told(self) -> DeleteResult:
        """Return the result for the caller."""
        pending = {"pending": True} if self._pending else {}
        cascaded = dict(sorted(self._cascaded.items()))
        return DeleteResult(deletedCount=self._deleted, cascaded=cascaded, **pending)
