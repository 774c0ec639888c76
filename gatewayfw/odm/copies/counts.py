"""How many copies of a document there are at most, as far as this process knows."""

from __future__ import annotations

from typing import final

from gatewayfw.odm.copies.rules import locks_of
from gatewayfw.schemas import Relation
from gatewayfw.storage import Document


@final
class CopyCounts:
    """Upper bounds on copies, so that frequent changes need not count them.

    Every operation that copies a document locks it first, and where the storage `counts_locks` the
    lock adds the number of copies to a counter in the document. So there are at most as many copies
    as the last change met, plus what the counter has grown by since. Only committed changes are
    noted: a failed transaction may have met fewer copies than exist after it is undone.

    Each bound is used once, because the change itself notes the next one. So a wrong bound, caused by
    a tool that added holders without a lock, is forgotten after the first change that fails over it.
    """

    def __init__(self, most: int = 10_000) -> None:
        """Remember bounds for so many documents and relations."""
        self._most = most
        self._met: dict[tuple[str, str, object], tuple[int, int]] = {}

    def note(self, relation: Relation, source: Document, met: int) -> None:
        """Remember how many copies in a relation a committed change of the source met."""
        if len(self._met) >= self._most:
            self._met.clear()
        self._met[_key(relation, source)] = (met, locks_of(source))

    def take(self, relation: Relation, source: Document) -> int | None:
        """Return a bound on the copies of a locked source, if one is known."""
        known = self._met.pop(_key(relation, source), None)
        if known is None:
            return None
        met, locks = known
        grown = locks_of(source) - locks
        return met + grown if grown >= 0 else None


def _key(relation: Relation, source: Document) -> tuple[str, str, object]:
    return relation.model, relation.name, source["_id"]
