"""The interface every adapter implements.

An adapter stores documents in named collections. It understands only the filters and updates that
`gatewayfw.storage.subset` names, so that all adapters behave alike; one test suite
(`gatewayfw.testing.storage_suite`) defines what it must do.

Filters and updates are in MongoDB's notation. Documents passed in are copied and never changed; returned documents
belong to the caller, in any order of their keys. Embedded documents keep the order of theirs; dates are naive UTC with
milliseconds, integers have 64 bits, strings may contain any character.

Each write outside a transaction commits by itself. `insert` and `update_one` then do all or
nothing; the other writes may stop half done when they fail. Without `has_transactions` the same is
true inside a transaction. Every method may raise, besides the errors it names itself:

- `Unavailable`: the database cannot be reached, or conflicts used up all retries;
- `Timeout`: the deadline passed;
- `StorageError`: the database refused for another reason;
- writes `DuplicateKey` and `TooLarge`, as `insert` says.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from gatewayfw.errors import StorageError
from gatewayfw.storage.commits import Commits
from gatewayfw.storage.deadlines import Deadline, Scope, Scopes, unrecorded
from gatewayfw.storage.documents import encode
from gatewayfw.storage.filter_operators import distinct_values
from gatewayfw.storage.terms import (
    MANY_VALUES,
    NOTHING,
    Document,
    Filter,
    Index,
    IndexProblem,
    Lock,
    Marked,
    Paths,
    Sorting,
    Trouble,
    Update,
)

T = TypeVar("T")


class OpenTransaction:
    """A transaction of one thread.

    Attributes:
        failed: the error that has failed it; None if none has.
    """

    failed: BaseException | None = None

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Make a block a part of it, whose error fails the whole."""
        self.check()
        try:
            yield
        except BaseException as error:
            self.failed = error
            raise

    def check(self) -> None:
        """Raise the error that has failed it, if one has."""
        if self.failed is not None:
            raise self.failed


class OpenTransactions(threading.local):
    """The open transaction of each thread."""

    transaction: OpenTransaction | None = None


class Storage(ABC):
    """A database of documents. Instances are safe to share between threads."""

    #: Whether other processes see the same data; if not, a single process must serve all requests.
    multi_process: bool = True
    #: Most bytes of one document as BSON; a write that would exceed them raises `TooLarge`.
    most_bytes: int = 16 * 1024 * 1024

    def __init__(self) -> None:
        self._scopes = Scopes()
        self._open = OpenTransactions()
        #: What each thread does after its commits; for the ODM.
        self.commits = Commits()

    @property
    def name(self) -> str:
        """The name of the database; empty if it has none."""
        return ""

    def deadline(self, seconds: float) -> AbstractContextManager[Scope]:
        """Limit everything this thread does in the block to ``seconds``.

        Of nested deadlines the nearest wins. Calls that begin after the deadline raise `Timeout`; calls
        under way raise it soon after.
        """
        return Deadline(self._scopes, seconds)

    @property
    def scope(self) -> Scope:
        """What this thread's deadline covers; outside of deadlines it has no end."""
        return self._scopes.scope

    def trouble(self) -> Trouble | None:
        """Return why the last attempt to reach the database failed; None if it did not."""
        return None

    def ping(self) -> Trouble | None:
        """Ask the database for a sign of life; return why there was none.

        For probes. Silence until this thread's deadline is a reason, too. What the server refuses otherwise raises. An
        adapter whose database may be away overrides it.
        """
        return None

    @abstractmethod
    def has_transactions(self) -> bool:
        """Return whether a failed or interrupted `transaction` leaves no trace."""

    @abstractmethod
    def ensure(self, collection: str, indexes: Sequence[Index], build_limit: int) -> list[IndexProblem]:
        """Create the collection and missing indexes; return what could not be built.

        Unique indexes are always built; others only while the collection has at most
        ``build_limit`` documents. An existing index stays as it is, whatever its options;
        one with the keys of ``instead`` counts as the wanted one.
        Never call it inside a transaction. The thread's deadline limits the search for missing
        indexes, but not the building.
        """

    @abstractmethod
    def indexes(self, collection: str) -> list[Index]:
        """Return the existing indexes, without the one on ``_id``.

        The list is empty for a collection that does not exist. ``options`` has ``name`` and whatever
        differs from the default, such as ``unique``. An index made by another tool may have words for
        directions, such as ``text``. Never call it inside a transaction.
        """

    def identities(self) -> Mapping[str, str]:
        """Return what tells each collection from a later one of its name.

        Whoever drops a collection drops its indexes, also if it is made again. An adapter whose collections others may
        drop overrides it; this one lists none.
        """
        return {}

    def is_sharded(self, collection: str) -> bool:
        """Tell whether a collection is sharded, which is not supported."""
        return False

    def transaction_lifetime(self) -> float | None:
        """Return the seconds until the server ends a dead client's transaction, if known."""
        return None

    @abstractmethod
    def transaction(
        self, fn: Callable[[], T], proof: tuple[str, Filter] | None = None, hot: Iterable[tuple[str, object]] = ()
    ) -> T:
        """Run ``fn`` so that all of its writes happen, or none, and return its result.

        ``fn`` may run several times and must have no effect except on this storage. An exception of
        any class undoes its writes and is raised unchanged, unless a conflict caused it: then
        ``fn`` runs again.
        It sees its own writes; other threads see none of them before the commit, and all afterwards.

        A nested call joins the outer one. When it, or any other call of this storage inside,
        fails, the outer one fails, too: even if the error was caught, every later call and the end of
        the transaction raise it again. If the deadline has passed by then, they raise `Timeout`.
        ``proof`` (collection, filter) finds a document only once ``fn`` has committed; it settles
        an unknown outcome. ``hot`` names documents that ``fn`` is going to touch, so that an adapter
        may let threads queue for them.

        Raises:
            OutcomeUnknown: the database did not say whether the transaction committed.
        """

    def aside(self, fn: Callable[[], T]) -> T:
        """Run ``fn`` outside of this thread's transaction, and return its result.

        Its writes commit by themselves, also if the transaction fails later. Whether it sees those of the transaction
        is undefined.
        """
        kept, self._open.transaction = self._open.transaction, None
        try:
            return fn()
        finally:
            self._open.transaction = kept

    def unrecorded(self) -> AbstractContextManager[None]:
        """Keep `scope` from recording what a block commits: notes of our own."""
        return unrecorded(self._scopes)

    def outside(self, fn: Callable[[], object]) -> None:
        """Run ``fn`` where this thread's transaction has no locks that it would wait for.

        An adapter with locks ends the transaction under way, which fails all calls in it, runs ``fn``, and begins the
        transaction again, as after a conflict.
        """
        self.aside(fn)

    def in_transaction(self) -> bool:
        """Return whether this thread is inside a transaction that others cannot see yet."""
        return self._open.transaction is not None

    def counts_locks(self) -> bool:
        """Tell whether locks are writes, which add to the counter of the `Lock`.

        If so, the update of `touch` may have ``$push`` with ``$each``, ``$slice`` and ``$sort`` by several
        fields, as on MongoDB, and a failed transaction undoes this, too.
        """
        return False

    def touch(
        self, collection: str, filter: Filter, fields: Paths, update: Update = NOTHING, *, lock: Lock
    ) -> Document | None:
        """Lock and change the first match; return the changed document, or None.

        In a transaction no other transaction can touch or write it before this one has ended. This default and that of
        `touch_many` are for adapters whose transactions exclude each other; all others override both. If locking takes
        a write, it writes the counter of ``lock``. ``update`` has no ``$inc``. The search for the mark should cost no
        extra command; without `has_transactions` the mark is ignored.

        Raises:
            Marked: the document has the mark of ``lock``.
        """
        self._refuse_marked(collection, filter, lock)
        if update:
            return self.update_one(collection, filter, update, fields)
        return next(self.find(collection, filter, fields, limit=1), None)

    def touch_many(
        self, collection: str, ids: Sequence[object], changes: Sequence[tuple[Filter, Update]] = (), *, lock: Lock
    ) -> None:
        """Lock all documents with these ids, then apply each change, in order.

        Changes work as in `update_many`, and may match documents other than these. Ids of missing
        documents are skipped. ``lock`` is as for `touch`.

        Raises:
            Marked: one of the documents with these ids has the mark of ``lock``.
        """
        self._refuse_marked(collection, {"_id": {"$in": list(ids)}}, lock)
        for filter, update in changes:
            self.update_many(collection, filter, update)

    def _refuse_marked(self, collection: str, filter: Filter, lock: Lock) -> None:
        if lock.unmarked and self.has_transactions():
            marked = {"$and": [filter, {lock.unmarked: {"$exists": True}}]}
            if self.count(collection, marked, 1):
                raise Marked()

    @abstractmethod
    def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Store new documents, each with an ``_id``: all of them or none.

        An empty list does nothing.

        Raises:
            DuplicateKey: a unique index refused one; the error names its fields, ``_id`` for a taken id.
            TooLarge: a document exceeds the database's limit.
        """

    @abstractmethod
    def find(
        self,
        collection: str,
        filter: Filter,
        fields: Paths = None,
        *,
        sort: Sorting = (),
        skip: int = 0,
        limit: int = 0,
        at_once: bool = False,
        stored: bool = False,
    ) -> Iterator[Document]:
        """Yield matching documents; ``limit`` 0 means no limit.

        Without ``sort`` the order is undefined, and so is the order of documents with equal keys: end the
        sort with ``_id`` for a fixed order. Missing values and null sort lowest. Read the documents found
        in a transaction before it ends. Documents not read yet may or may not show later writes.

        Two wishes, which an adapter may pass over: ``at_once``, as all documents were at one moment, so that none is
        met twice, or never, that a writer moves meanwhile in an index; and ``stored``, to be measured and stored
        elsewhere, so that objects inside documents may be mappings that are decoded on first access.
        """

    @abstractmethod
    def update_one(self, collection: str, filter: Filter, update: Update, fields: Paths) -> Document | None:
        """Change the first match and return the changed document, or None.

        If several match, which one is first is undefined.

        Raises:
            ValidationError: ``$inc`` or ``$mul`` would leave 64 bits (or the result is stored, and the caller
                checks it), or an operator does not fit the existing value. `update_many` and
                `update_each` may raise `StorageError` instead.
        """

    @abstractmethod
    def update_many(self, collection: str, filter: Filter, update: Update, *, most_bytes: int | None = None) -> int:
        """Change all matches, or those of at most ``most_bytes``; return how many.

        ``$set`` may have one positional path (``users.$``), for the element that the filter's
        condition on that list matched.
        """

    @abstractmethod
    def update_each(self, collection: str, changes: Iterable[tuple[object, Update]]) -> None:
        """Apply one update each to documents by ``_id``, in order; skip missing ones."""

    @abstractmethod
    def delete_many(self, collection: str, filter: Filter) -> int:
        """Delete all matching documents; return their number."""

    @abstractmethod
    def count(self, collection: str, filter: Filter, limit: int = 0) -> int:
        """Return how many documents match; counting stops at ``limit`` unless it is 0."""

    def distinct(self, collection: str, field: str, filter: Filter) -> list[Any]:
        """Return the values of a field in all matches, each once, in any order.

        ``field`` may be a path. Each element of a list is a value; whether a list inside a list is one, or
        its elements are, is undefined. Null is not a value. Of equal numbers of two types one is returned.
        This reads all matches; an adapter whose database has a better way overrides it.

        Raises:
            StorageError: the values have more than `most_bytes`; the message is `MANY_VALUES`.
        """
        found = distinct_values(self.find(collection, filter, [field.partition(".")[0]]), field)
        if len(encode({"values": found})) > self.most_bytes:
            raise StorageError(MANY_VALUES)
        return found

    @abstractmethod
    def aggregate(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Document]:
        """Yield the results of a pipeline that only reads; the core never calls this."""

    def is_closed(self) -> bool:
        """Tell whether `close` was called and the database has not been used since."""
        return False

    def close(self) -> None:  # noqa: B027  # there may be none
        """Release the connections that this adapter opened itself."""
