"""How large the batches of `update_many` are, and how long it waits between them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import final

#: Documents in the first batch, and the most in any.
FIRST, MOST = 10, 1_000
#: Seconds below which a batch is quick, so that the next one may be larger. Twice what a window of 1,000 members took
#: on a busy machine, which each batch computes, however small it is.
QUICK = 0.1


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
