"""The interface every adapter implements.

An adapter stores documents in named collections. It understands the filters and updates that
`gatewayfw.storage.subset` names and no others, so that all adapters behave alike; one
suite of tests (`gatewayfw.testing.storage_suite`) holds what it must do.

Filters and updates are in MongoDB's notation. ``fields`` is None for whole documents, or dotted
paths of which none lies below another; ``_id`` is always included, and the order of keys is open.
Documents that go in are copied and never changed; those that come out belong to the caller.
Embedded documents keep the order of their keys; dates are naive UTC with milliseconds, integers
have 64 bits, strings may hold any character.

Each write outside a transaction commits by itself. `insert` and `update_one` then do all or
nothing; the other writes may stop half done when they fail. Without `has_transactions` this is
so inside a transaction too. Every method may raise, besides what it names itself:

- `Unavailable`: the database cannot be reached, or conflicts used up all retries;
- `Timeout`: the deadline passed;
- `StorageError`: the database refused for another reason.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from gatewayfw.errors import StorageError
from gatewayfw.storage.deadlines import Deadline, Scope, Scopes

T = TypeVar("T")
Document = dict[str, Any]
Filter = Mapping[str, Any]
Update = Mapping[str, Mapping[str, Any]]
Sorting = Sequence[tuple[str, int]]
#: The update that changes nothing.
NOTHING: Update = MappingProxyType({})


class Marked(StorageError):
    """A document to be touched has an unwanted mark. Nothing was locked."""


@dataclass(frozen=True)
class Lock:
    """How documents are locked, where only a write can do that.

    Attributes:
        counter: the path of an integer that is the lock's alone, and may be missing.
        step: what is added to it, 1 or more.
        unmarked: the path of a mark, an object, that the document must not have; empty for none.
    """

    counter: str
    step: int = 1
    unmarked: str = ""


@dataclass(frozen=True)
class Index:
    """An index: ``(field, 1 | -1)`` pairs, and MongoDB's options.

    Attributes:
        instead: the keys of another index that will do where it is there already; empty for none.
    """

    keys: tuple[tuple[str, int], ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    instead: tuple[tuple[str, int], ...] = ()

    @property
    def unique(self) -> bool:
        """Whether two documents may not share the indexed values."""
        return bool(self.options.get("unique"))


@dataclass(frozen=True)
class Trouble:
    """Why a database is out of reach.

    Attributes:
        kind: ``unreachable``, ``unauthenticated``, ``no_primary`` (of the replica set) or ``wrong_set``
            (no server of the replica set that was asked for).
        text: the same in words, with hosts and without credentials; for logs and `doctor`, not for clients.
    """

    kind: Literal["unreachable", "unauthenticated", "no_primary", "wrong_set"]
    text: str


class Storage(ABC):
    """A database of documents. Instances are safe to share between threads."""

    #: Whether other processes see the same data; if not, one process must serve all requests.
    multi_process: bool = True
    #: Most bytes of one document, as BSON; a write that would make one larger raises `TooLarge`.
    most_bytes: int = 16 * 1024 * 1024

    def __init__(self) -> None:
        self._scopes = Scopes()

    @property
    def name(self) -> str:
        """The name of the database; empty where it has none."""
        return ""

    def deadline(self, seconds: float) -> AbstractContextManager[Scope]:
        """Bound everything this thread does inside to ``seconds``.

        The nearer of nested ones wins.

        Calls that begin after it raise `Timeout`, those under way at the latest a little later.
        """
        return Deadline(self._scopes, seconds)

    def remaining(self) -> float:
        """Return the seconds left of this thread's deadline; infinity without one."""
        return math.inf if self._scopes.scope is None else self._scopes.scope.remaining()

    def check_deadline(self) -> None:
        """Raise `Timeout` when this thread's deadline has passed."""
        if self._scopes.scope is not None:
            self._scopes.scope.check()

    def reply_bytes(self) -> int | None:
        """Return the most bytes of the reply this thread works for; None for no request."""
        return None if self._scopes.scope is None else self._scopes.scope.reply_bytes

    def trouble(self) -> Trouble | None:
        """Return why the database was out of reach when last asked; None if it was not."""
        return None

    @abstractmethod
    def has_transactions(self) -> bool:
        """Return whether a failed or interrupted `transaction` leaves no trace."""

    @abstractmethod
    def ensure(self, collection: str, indexes: Sequence[Index], build_limit: int) -> list[str]:
        """Create the collection and missing indexes; return what could not be built.

        Unique indexes are always built; others only while the collection has at most
        ``build_limit`` documents. An index that exists is left as it is, whatever its options;
        one with the keys of ``instead`` counts as the wanted one.
        Never call it inside a transaction. The thread's deadline bounds the looking, not the building.
        """

    @abstractmethod
    def indexes(self, collection: str) -> list[Index]:
        """Return the indexes there are, without the one on ``_id``.

        None of a collection that does not exist.

        ``options`` has ``name`` and whatever is not the default, such as ``unique``. What another
        tool made may have words for directions, such as ``text``. Never call it inside a transaction.
        """

    @abstractmethod
    def is_sharded(self, collection: str) -> bool:
        """Tell whether a collection is spread over several servers: not supported."""

    def transaction_lifetime(self) -> float | None:
        """Return the seconds until the server ends a dead client's transaction, if known."""
        return None

    @abstractmethod
    def transaction(
        self,
        fn: Callable[[], T],
        proof: tuple[str, Filter] | None = None,
        hot: Iterable[tuple[str, object]] = (),
    ) -> T:
        """Run ``fn`` so that all of its writes happen, or none.

        ``fn`` may run several times and must have no effect but on this storage. Its result is
        returned; any exception, of whatever class, undoes its writes and is raised unchanged,
        unless a conflict is behind it: then ``fn`` runs again.
        It sees its own writes; other threads see all of them or none, once they are committed.

        A nested call joins the outer one. When it, or any other call of this storage inside,
        fails, the outer one fails too: even if the error was caught, it is raised again by every
        later call and at the end. When the deadline has passed by then, that is `Timeout`.
        ``proof`` (collection, filter) finds a document only once ``fn`` has committed; it settles
        an unknown outcome. ``hot`` names documents that ``fn`` is going to touch: an adapter may
        let threads queue for them.

        Raises:
            OutcomeUnknown: the database did not say whether it committed.
        """

    def in_transaction(self) -> bool:
        """Return whether this thread is inside a transaction that others cannot see yet."""
        return False

    def sorts_pushes(self) -> bool:
        """Tell whether `touch` may push into a list that is kept sorted and short.

        Undone with the rest, too.

        Then its update may have ``$push`` with ``$each``, ``$sort`` and ``$slice``, as on MongoDB.
        """
        return False

    def counts_locks(self) -> bool:
        """Tell whether `touch` and `touch_many` add to the counter of their lock."""
        return False

    @abstractmethod
    def touch(
        self,
        collection: str,
        filter: Filter,
        fields: Sequence[str] | None,
        update: Update = NOTHING,
        *,
        lock: Lock,
    ) -> Document | None:
        """Lock and change the first match; return it as it is then, or None.

        In a transaction no other transaction can touch or write it before this one has ended.
        Where that takes a write, the counter of ``lock`` is written. ``update`` has no ``$inc``.
        To look for the mark should cost no command; without `has_transactions` nobody looks.

        Raises:
            Marked: it has the mark of ``lock``.
            DuplicateKey, TooLarge: as for `insert`.
        """

    @abstractmethod
    def touch_many(
        self,
        collection: str,
        ids: Sequence[object],
        changes: Sequence[tuple[Filter, Update]] = (),
        *,
        lock: Lock,
    ) -> None:
        """Lock all documents with these ids, then do each change, in order.

        Changes are done as by `update_many`.

        Ids of missing documents are passed over. What a change matches need not be among the ids.
        ``lock`` is as for `touch`.

        Raises:
            Marked: one of those with these ids has the mark of ``lock``.
            DuplicateKey, TooLarge: as for `insert`.
        """

    @abstractmethod
    def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Store new documents, each with an ``_id``; all or none of them.

        An empty list does nothing.

        Raises:
            DuplicateKey: a unique index refused one; names its fields, ``_id`` for a taken id.
            TooLarge: one exceeds the database's limit.
        """

    @abstractmethod
    def find(
        self,
        collection: str,
        filter: Filter,
        fields: Sequence[str] | None = None,
        *,
        sort: Sorting = (),
        skip: int = 0,
        limit: int = 0,
    ) -> Iterator[Document]:
        """Yield matching documents; ``limit`` 0 is no limit.

        Without ``sort`` the order is open, and so is that of documents with equal keys: end with
        ``_id`` for a fixed one. Missing values and null sort lowest. What is found in a
        transaction is to be read in it. Whether later writes show in what was not read yet is open.
        """

    def find_stored(
        self,
        collection: str,
        filter: Filter,
        fields: Sequence[str] | None = None,
        *,
        sort: Sorting = (),
        limit: int = 0,
    ) -> Iterator[Mapping[str, Any]]:
        """Yield matching documents to be stored elsewhere, in the order of `find`.

        Objects inside them may be mappings that are not read before they are looked into: large
        documents that are only measured and copied then cost little.
        """
        return self.find(collection, filter, fields, sort=sort, limit=limit)

    @abstractmethod
    def update_one(
        self, collection: str, filter: Filter, update: Update, fields: Sequence[str] | None
    ) -> Document | None:
        """Change the first match and return it as it is afterwards, or None.

        Which one is the first is open where several match.

        Raises:
            DuplicateKey, TooLarge: as for `insert`.
            ValidationError: ``$inc`` or ``$mul`` would leave 64 bits (or it is stored so, and the caller
                looks), or an operator does not fit the value that is there: `update_many` and
                `update_each` may raise `StorageError` then.
        """

    @abstractmethod
    def update_many(self, collection: str, filter: Filter, update: Update, *, most_bytes: int | None = None) -> int:
        """Change all matches, or those of at most so many bytes; return how many.

        One positional path (``users.$``) may stand in ``$set``: the element that the filter's
        condition on that list matched.

        Raises:
            DuplicateKey, TooLarge: as for `insert`.
        """

    @abstractmethod
    def update_each(self, collection: str, changes: Iterable[tuple[object, Update]]) -> None:
        """Apply one update each to documents by ``_id``, in order; pass over missing ones.

        Raises:
            DuplicateKey, TooLarge: as for `insert`.
        """

    @abstractmethod
    def delete_many(self, collection: str, filter: Filter) -> int:
        """Delete all matching documents; return how many."""

    @abstractmethod
    def count(self, collection: str, filter: Filter, limit: int = 0) -> int:
        """Return how many documents match; counting stops at ``limit``, 0 is no limit."""

    @abstractmethod
    def aggregate(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Document]:
        """Yield the results of a pipeline that only reads; the core uses none."""

    def is_closed(self) -> bool:
        """Tell whether `close` was called and the database not asked since."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Release connections that this adapter opened itself."""
