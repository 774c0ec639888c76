"""Visit many documents of one model, each once, with room for other writers."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeVar, final

from gatewayfw import messages
from gatewayfw.errors import GatewayError, TooLarge
from gatewayfw.odm.database import Database, Done
from gatewayfw.odm.ids import pages
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.windows import settle
from gatewayfw.storage.order import order_key
from gatewayfw.storage.terms import Filter

#: Documents in the first batch, and the most in any.
FIRST, MOST = 10, 1_000
#: Seconds below which a batch is quick, so that the next one may be larger. Twice what a window of 1,000 members took
#: on a busy machine, which each batch computes, however small it is.
QUICK = 0.1

T = TypeVar("T")
Ids = Sequence[Any]
#: Given the documents of a batch, returns what visits one of them by id. Both run inside its transaction, at the end
#: of which the effects are settled: each window is computed once, however many members changed.
Begin = Callable[[Attempt, Effects, Ids], Callable[[Any], T]]
#: Given the ids of a batch and what the visits returned, may refuse what they have left before it is committed.
Judge = Callable[[Ids, Sequence[T]], object]
#: The ids of a committed batch, and what the visits returned.
Batch = tuple[Ids, Done[list[T]]]


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
        remaining: Callable[[], float] = lambda: math.inf,
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


@final
class Walk:
    """A way through the documents of a model that match a filter.

    With a ``pace`` it has transactions of its own, which leave room for other writers: an error in one of them has
    `done` as its attribute, and all before it is committed. Without one, all is one batch of the open transaction.

    Attributes:
        done: how many visits are committed whose result ``counts`` accepted.
    """

    def __init__(self, database: Database, model: str, wanted: Filter, pace: Pace | None = None) -> None:
        self._database = database
        self._model = model
        self._wanted = wanted
        self._pace = pace
        self.done = 0

    def pages(self) -> Iterator[Ids]:
        """Yield ids by page, in order, up to the last one that matches at the start.

        Without this end a walk would go on for as long as others insert faster than it visits.

        Raises:
            TooLarge: there are more than `MOST`, without a pace.
        """
        page: Ids = self._find_ids(self._wanted, MOST if self._pace else MOST + 1)
        if len(page) > MOST:
            raise TooLarge(messages.TOO_MANY_MATCH.format(max=MOST, model=self._model))
        if len(page) < MOST or self._pace is None:
            yield page
            return
        (last,) = self._database.storage.find(self._model, self._wanted, [], sort=[("_id", -1)], limit=1)
        end = order_key(last["_id"])
        yield page
        yield from pages(lambda filter: self._find_page(filter["_id"], end), lambda id_: id_, page[-1])

    def _find_page(self, condition: object, end: Any) -> Ids:
        found = self._find_ids(of_ids(self._wanted, condition), MOST)
        return list(takewhile(lambda id_: order_key(id_) <= end, found))

    def _find_ids(self, wanted: Filter, most: int) -> list[Any]:
        found = self._database.storage.find(self._model, wanted, [], sort=[("_id", 1)], limit=most)
        return [one["_id"] for one in found]

    def batches(
        self, pages: Iterable[Ids], begin: Begin[T], counts: Callable[[T], bool], judge: Judge[T] = lambda *_: None
    ) -> Iterator[Batch[T]]:
        """Visit documents in the order of their pages; yield what became of them.

        A batch that meets a conflict is halved. It ends early where the next document might embed more copies
        than ``inline_limit`` leaves it, because a job for each would cost more.
        """
        try:
            for page in pages:
                while page:
                    done = self._visit(page, begin, judge)
                    if self._pace is not None:
                        self.done += sum(map(counts, done.result))
                    yield page[: len(done.result)], done
                    page = page[len(done.result) :]
        except GatewayError as error:
            error.done = self.done
            raise

    def _visit(self, page: Ids, begin: Begin[T], judge: Judge[T]) -> Done[list[T]]:
        pace, visited, lost = self._pace, 0, 0

        def visit_batch(attempt: Attempt) -> list[T]:
            nonlocal visited, lost
            lost += visited > 1  # a conflict in the first visit has nothing to do with the size
            visited = 0
            ids = page if pace is None else page[: at_attempt(pace.size, lost)]
            effects = Effects(shared=len(ids) > 1)
            visit = begin(attempt, effects, ids)
            results: list[T] = []
            for id_ in ids:
                if results and pace is not None and not attempt.has_room:
                    break
                visited += 1
                results.append(visit(id_))
            apply(self._database.storage, settle(attempt, effects))
            judge(ids, results)
            return results

        if pace is None:
            return self._database.run(visit_batch)
        pace.begin()
        done = self._database.run(visit_batch)
        pace.end(len(done.result), lost)
        return done


def of_ids(wanted: Filter, condition: object) -> dict[str, Any]:
    """Return a filter with one more condition, on ``_id``."""
    return {"$and": [wanted, {"_id": condition}]} if "_id" in wanted else {**wanted, "_id": condition}
