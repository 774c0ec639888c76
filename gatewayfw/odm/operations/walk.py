"""Visit many documents of one model, each once."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeVar, final

from gatewayfw.errors import GatewayError, TooLarge
from gatewayfw.odm.database import Database, Done
from gatewayfw.odm.ids import pages
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.storage import Storage
from gatewayfw.storage.order import order_key
from gatewayfw.storage.terms import Filter

#: Documents in the first batch, and the most in any.
FIRST, MOST = 10, 1_000
#: Seconds below which a batch is quick, so that the next one may be larger.
QUICK = 0.05


def next_size(size: int, seconds: float, conflicts: int, *, whole: bool = True) -> int:
    """Return the size of the batch after one of ``size`` documents.

    It is halved for each conflict. It grows by half after a quick batch, but only if that was a ``whole`` one.
    """
    if conflicts:
        return at_attempt(size, conflicts)
    return min(MOST, size + (size + 1) // 2) if whole and seconds < QUICK else size


def at_attempt(size: int, conflicts: int) -> int:
    """Return how many documents of a batch to try after so many conflicts."""
    return max(1, size >> conflicts)


def _endless() -> float:
    return math.inf


@final
class Pace:
    """The sizes of batches and the rests between them.

    A batch holds locks that other writers lose against, so each is followed by a rest as long as itself.
    Batches of 100 without a rest made 4 of 14 writers of the same documents fail. No rest is longer than the seconds
    that ``remaining`` gives, so that a deadline ends it, and no batch has more documents than ``most``.

    Attributes:
        size: how many documents the next batch has.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        remaining: Callable[[], float] = _endless,
        *,
        most: int = MOST,
    ) -> None:
        self.size = min(FIRST, most)
        self._most = most
        self._remaining = remaining
        self._clock = clock
        self._sleep = sleep
        self._began = 0.0
        self._took = 0.0

    def begin(self) -> None:
        """Rest as long as the last batch took, then begin the next."""
        if self._took:
            self._sleep(max(0.0, min(self._took, self._remaining())))
        self._began = self._clock()

    def end(self, done: int, conflicts: int) -> None:
        """End a batch that finished ``done`` documents."""
        self._took = self._clock() - self._began
        self.size = min(self._most, next_size(self.size, self._took, conflicts, whole=done >= self.size))


T = TypeVar("T")
Ids = Sequence[Any]
#: Given the documents of a batch, returns what visits one of them by id. Both run inside its transaction.
Begin = Callable[[Attempt, Ids], Callable[[Any], T]]
#: The ids of a committed batch, and what the visits returned.
Batch = tuple[Ids, Done[list[T]]]


class Walk(ABC):
    """A way through the documents of a model that match a filter.

    Attributes:
        done: how many visits are committed whose result ``counts`` accepted.
    """

    def __init__(self, storage: Storage, model: str, wanted: Filter) -> None:
        self._storage = storage
        self._model = model
        self._wanted = wanted
        self.done = 0

    @abstractmethod
    def pages(self) -> Iterator[Ids]:
        """Yield the ids of the documents by page, in MongoDB's order."""

    @abstractmethod
    def batches(self, pages: Iterable[Ids], begin: Begin[T], counts: Callable[[T], bool]) -> Iterator[Batch[T]]:
        """Visit documents in the order of their pages; yield what became of them."""

    def _find_ids(self, wanted: Filter, most: int) -> list[Any]:
        return [one["_id"] for one in self._storage.find(self._model, wanted, [], sort=[("_id", 1)], limit=most)]


@final
class PacedWalk(Walk):
    """A walk in transactions of its own, at a pace that leaves room for other writers.

    An error in one of them has `done` as its attribute: all before it is committed.
    """

    def __init__(self, database: Database, model: str, wanted: Filter, pace: Pace) -> None:
        super().__init__(database.storage, model, wanted)
        self._database = database
        self._pace = pace

    def pages(self) -> Iterator[Ids]:
        """Yield ids by page, up to the last one that matches at the start.

        Without this end a walk would go on for as long as others insert faster than it visits.
        """
        page: Ids = self._find_ids(self._wanted, MOST)
        if len(page) < MOST:
            yield page
            return
        (last,) = self._storage.find(self._model, self._wanted, [], sort=[("_id", -1)], limit=1)
        end = order_key(last["_id"])
        yield page
        yield from pages(lambda filter: self._find_page(filter["_id"], end), lambda id_: id_, page[-1])

    def _find_page(self, condition: object, end: Any) -> Ids:
        found = self._find_ids(of_ids(self._wanted, condition), MOST)
        return list(takewhile(lambda id_: order_key(id_) <= end, found))

    def batches(self, pages: Iterable[Ids], begin: Begin[T], counts: Callable[[T], bool]) -> Iterator[Batch[T]]:
        """Visit documents in small transactions.

        One that meets a conflict is halved. One ends early where the next document might embed more copies
        than ``inline_limit`` leaves it, because a job for each would cost more.
        """
        try:
            for page in pages:
                while page:
                    done = self._visit(page, begin)
                    self.done += sum(map(counts, done.result))
                    yield page[: len(done.result)], done
                    page = page[len(done.result) :]
        except GatewayError as error:
            error.done = self.done
            raise

    def _visit(self, page: Ids, begin: Begin[T]) -> Done[list[T]]:
        attempts = 0

        def visit_batch(attempt: Attempt) -> list[T]:
            nonlocal attempts
            ids = page[: at_attempt(self._pace.size, attempts)]
            attempts += 1
            visit = begin(attempt, ids)
            results = [visit(ids[0])]
            for id_ in ids[1:]:
                if not attempt.has_room:
                    break
                results.append(visit(id_))
            return results

        self._pace.begin()
        done = self._database.run(visit_batch)
        self._pace.end(len(done.result), attempts - 1)
        return done


@final
class InnerWalk(Walk):
    """A walk inside an open transaction: all or nothing, so `done` stays 0."""

    def __init__(self, attempt: Attempt, storage: Storage, model: str, wanted: Filter) -> None:
        super().__init__(storage, model, wanted)
        self._attempt = attempt

    def pages(self) -> Iterator[Ids]:
        """Yield the ids of all documents at once.

        Raises:
            TooLarge: there are more than `MOST`.
        """
        found = self._find_ids(self._wanted, MOST + 1)
        if len(found) > MOST:
            raise TooLarge(f"more than {MOST} documents of {self._model} match, too many for one transaction")
        yield found

    def batches(self, pages: Iterable[Ids], begin: Begin[T], counts: Callable[[T], bool]) -> Iterator[Batch[T]]:
        """Visit all documents of each page."""
        for ids in pages:
            visit = begin(self._attempt, ids)
            yield ids, Done([visit(id_) for id_ in ids], frozenset(self._attempt.jobs))


def of_ids(wanted: Filter, condition: object) -> dict[str, Any]:
    """Return a filter with one more condition, on ``_id``."""
    return {"$and": [wanted, {"_id": condition}]} if "_id" in wanted else {**wanted, "_id": condition}


def cut_pages(ids: Ids) -> Iterator[Ids]:
    """Yield ids by page."""
    return (ids[start : start + MOST] for start in range(0, len(ids), MOST))
