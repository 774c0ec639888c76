"""Storage on mongomock, for tests and for trying things out.

It keeps everything in the memory of one process. mongomock has no transactions, and its operations are not atomic under
threads. So one re-entrant lock per mongomock client covers every operation, including reads. A failed transaction is
undone by restoring the documents as they were before each write. mongomock itself only keeps documents and indexes
(`gatewayfw.storage.memory_store`), and runs pipelines.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from bson.errors import BSONError
from pymongo.errors import PyMongoError

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, DuplicateKey, StorageError, Timeout, TooLarge, ValidationError
from gatewayfw.storage.base import OpenTransaction, OpenTransactions, Storage, T
from gatewayfw.storage.deadlines import UNLIMITED
from gatewayfw.storage.documents import as_stored, can_be_id, encode, show
from gatewayfw.storage.memory_store import MockCollection, find_unsupported
from gatewayfw.storage.order import rank
from gatewayfw.storage.terms import Document, Filter, Index, IndexProblem, Paths, Sorting, Update, find_missing
from gatewayfw.storage.update_operators import apply_update

#: One lock per store of documents, so that two adapters on one mongomock client share it.
_LOCKS: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()
_LOCKS_GUARD = threading.Lock()
#: Seconds to wait for the lock without a deadline.
_PATIENCE = 30.0
#: The errors of mongomock and BSON, plain Python errors included.
_REFUSALS = (
    *(PyMongoError, BSONError, NotImplementedError),
    *(ArithmeticError, AttributeError, KeyError, TypeError, ValueError),
)


#: Collection and ``_id`` of a document, and what it was before a write; None if it was not there.
_Image = tuple[str, object, Document | None]


class _Undoable(OpenTransaction):
    """An open transaction with what undoes it."""

    def __init__(self) -> None:
        self.images: list[_Image] = []


class _OpenInMemory(OpenTransactions):
    transaction: _Undoable | None = None


class MockStorage(Storage):
    """A `Storage` over a mongomock database."""

    multi_process = False

    def __init__(self, database: Any) -> None:
        super().__init__()
        self._db = database
        self._open: _OpenInMemory = _OpenInMemory()
        #: What holds the documents of each collection, when it was last looked at.
        self._holders: dict[str, object] = {}
        # mongomock 4.3: clients of one address compare equal even if they do not share a store.
        store = getattr(database.client, "_store", database.client)
        with _LOCKS_GUARD:
            self._lock = _LOCKS.setdefault(store, threading.RLock())

    @property
    def name(self) -> str:
        return str(self._db.name)

    def has_transactions(self) -> bool:
        """Return True: a failed transaction is undone, though not when the process dies."""
        return True

    def ensure(self, collection: str, indexes: Sequence[Index], build_limit: int) -> list[IndexProblem]:
        """Create missing indexes; mongomock makes collections by itself.

        Raises:
            DefinitionError: a unique one would refuse nothing here, and so hide what it does on MongoDB.
        """
        for index in indexes:
            if index.unique and (reason := find_unsupported(index)) is not None:
                raise DefinitionError(index.problem(collection, f"is not known in memory: {reason}; use a MongoDB"))
        with self._driver():
            stored = self._stored(collection)
            present = {index.keys: index.unique for index in stored.indexes()}
            missing, problems = find_missing(collection, indexes, present, lambda: len(stored) > build_limit)
            reasons = [(index, stored.build(index)) for index in missing]
        unbuilt = [index.problem(collection, f"cannot be built: {reason}") for index, reason in reasons if reason]
        return problems + unbuilt

    def indexes(self, collection: str) -> list[Index]:
        with self._driver():
            return self._stored(collection).indexes()

    def identities(self) -> dict[str, str]:
        """Tell collections by what holds their documents, which a drop replaces."""
        # They are kept, so that no later one has the same id.
        self._holders = {name: kept._documents for name, kept in list(self._db._store._collections.items())}
        return {name: str(id(holder)) for name, holder in self._holders.items()}

    def _stored(self, collection: str) -> MockCollection:
        return MockCollection(self._db, collection)

    def transaction(
        self, fn: Callable[[], T], proof: tuple[str, Filter] | None = None, hot: Iterable[tuple[str, object]] = ()
    ) -> T:
        """Run ``fn`` under the lock and undo its writes if it fails."""
        with self._undoing():
            return fn()

    @contextmanager
    def _undoing(self) -> Iterator[None]:
        """Make a block a transaction, or a part of the one under way."""
        if self._open.transaction is not None:
            with self._open.transaction.joined(), self._hold_lock():
                yield
            return
        with self._hold_lock():
            self._open.transaction = opened = _Undoable()
            try:
                yield
                opened.check()
                self.scope.check()
            except BaseException:
                self._restore(opened.images)
                raise
            finally:
                self._open.transaction = None
            self.scope.commit()

    def _restore(self, images: Sequence[_Image]) -> None:
        for collection, id_, before in reversed(images):
            if before is None:
                self._stored(collection).remove(id_)
            else:
                self._stored(collection).restore(before)

    def insert(self, collection: str, documents: Sequence[Document]) -> None:
        with self._writing():
            stored = self._stored(collection)
            for document in map(as_stored, documents):
                if not can_be_id(document["_id"]):
                    raise StorageError("no document can have this _id")
                if stored.has(document["_id"]):
                    raise DuplicateKey(["_id"])
                self._put(collection, document)

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
        """Read all matches at once, as they are now."""
        with self._driver():
            found: Iterable[Document] = self._stored(collection).select(filter)
            if sort:
                found = rank(found, sort)
            return iter([show(one, fields) for one in islice(found, skip, skip + limit if limit else None)])

    def update_one(self, collection: str, filter: Filter, update: Update, fields: Paths) -> Document | None:
        with self._writing():
            found = list(islice(self._stored(collection).select(filter), 1))
            return next((show(after, fields) for after in self._update(collection, found, filter, update)), None)

    def update_many(self, collection: str, filter: Filter, update: Update, *, most_bytes: int | None = None) -> int:
        with self._writing():
            found = list(self._stored(collection).select(filter))
            if most_bytes is not None:
                found = [one for one in found if len(encode(one)) <= most_bytes]
            return len(self._update(collection, found, filter, update))

    def update_each(self, collection: str, changes: Iterable[tuple[object, Update]]) -> None:
        with self._writing():
            for id_, update in changes:
                same = {"_id": id_}
                self._update(collection, list(self._stored(collection).select(same)), same, update)

    def delete_many(self, collection: str, filter: Filter) -> int:
        with self._writing():
            stored = self._stored(collection)
            found = list(stored.select(filter))
            for document in found:
                stored.remove(document["_id"])
                self._remember(collection, document["_id"], document)
            return len(found)

    def count(self, collection: str, filter: Filter, limit: int = 0) -> int:
        with self._driver():
            return sum(1 for _ in islice(self._stored(collection).select(filter), limit or None))

    def aggregate(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Document]:
        """Yield the results of a pipeline, as far as mongomock knows its stages."""
        with self._driver():
            return iter(list(self._db[collection].aggregate([dict(stage) for stage in pipeline])))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._undoing(), self._driver():
            yield

    def _update(self, collection: str, found: Sequence[Document], filter: Filter, update: Update) -> list[Document]:
        """Update documents that a filter selected; return what they are afterwards."""
        changes = as_stored(update)
        try:
            changed = [apply_update(before, changes, filter) for before in found]
        except ValidationError as error:
            error.met = collection, [{"_id": one["_id"]} for one in found]
            raise
        for before, after in zip(found, changed, strict=True):
            self._put(collection, after, before)
        return changed

    def _put(self, collection: str, document: Document, before: Document | None = None) -> None:
        if len(encode(document)) > self.most_bytes:
            raise TooLarge(messages.DOCUMENT_TOO_LARGE)
        self._stored(collection).put(document, before)
        self._remember(collection, document["_id"], before)

    def _remember(self, collection: str, id_: object, before: Document | None) -> None:
        assert self._open.transaction is not None
        self._open.transaction.images.append((collection, id_, before))

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        self.scope.check()
        if not self._lock.acquire(timeout=_PATIENCE if self.scope is UNLIMITED else self.scope.remaining()):
            raise Timeout()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _driver(self) -> Iterator[None]:
        """Hold the lock and translate errors, which fail the transaction."""
        joined = nullcontext() if self._open.transaction is None else self._open.transaction.joined()
        with joined, self._hold_lock():
            try:
                yield
            except _REFUSALS as error:
                raise StorageError() from error
