"""Values that come in pieces, as a database delivers them.

Who passes them on without keeping them goes by the pieces: then never more is in memory than one.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Generic, TypeVar

T = TypeVar("T")
#: Values of a piece where nothing else decides: as many as the first reply of a database holds.
PIECE = 101


class Batched(Generic[T]):
    """An iterable whose values come in pieces.

    No piece is empty, unless there is nothing at all.
    """

    def batches(self) -> Iterator[Sequence[T]]:
        """Return an iterator over the pieces."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.batches())


class Found(Batched[T]):
    """An iterator over what a query found; either its values are read, or its pieces."""

    def __init__(self, batches: Iterator[Sequence[T]]) -> None:
        self._batches = batches
        self._rest = chain.from_iterable(batches)

    def batches(self) -> Iterator[Sequence[T]]:
        """Return the pieces that were not read yet."""
        return self._batches

    def __iter__(self) -> Iterator[T]:
        return self._rest

    def __next__(self) -> T:
        return next(self._rest)


def in_batches(values: Iterable[T]) -> Iterator[Sequence[T]]:
    """Return values in the pieces in which they come, or else in pieces of `PIECE`."""
    return values.batches() if isinstance(values, Batched) else _sliced(values)


def _sliced(values: Iterable[T]) -> Iterator[Sequence[T]]:
    rest = iter(values)
    while piece := list(islice(rest, PIECE)):
        yield piece
