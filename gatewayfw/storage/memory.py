"""Storage on mongomock, for tests and for trying things out.

It keeps everything in the memory of one process. mongomock has no transactions, and its operations are not atomic under
threads. So one re-entrant lock per mongomock client covers every operation, including reads. A failed transaction is
undone by restoring the documents as they were before each write.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from bson.errors import BSONError
from pymongo.errors import DuplicateKeyError, PyMongoError

from gatewayfw.errors import DuplicateKey, StorageError, Timeout, TooLarge, ValidationError
from gatewayfw.storage.base import Storage, T
from gatewayfw.storage.indexes import COLLISION, describe_unbuilt, find_missing
from gatewayfw.storage.matching import needs_matching
from gatewayfw.storage.memory_duplicates import after_update, is_storable, refuse_shared, taken_fields
from gatewayfw.storage.memory_indexes import index_of, options_of
from gatewayfw.storage.memory_reads import bytes_of, narrow, select, show
from gatewayfw.storage.memory_undo import Undo
from gatewayfw.storage.memory_updates import Statement, statements_of
from gatewayfw.storage.mongo.errors import TOO_LARGE
from gatewayfw.storage.order import rank
from gatewayfw.storage.terms import NOTHING, Document, Filter, Index, Lock, Marked, Sorting, Update

_LOG = logging.getLogger("gatewayfw.storage")
#: One lock per store of documents, so that two adapters on one mongomock client share it.
_LOCKS: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()
_LOCKS_GUARD = threading.Lock()
#: Seconds to wait for the lock without a deadline.
_PATIENCE = 30.0
#: How many times its own size an update may add to a document: each name in a path may become a new object.
_GROWTH = 4
#: The errors of mongomock, plain Python errors included where a stored value does not fit an operator.
_REFUSALS = (
    *(PyMongoError, BSONError, NotImplementedError),
    *(ArithmeticError, AttributeError, KeyError, TypeError, ValueError),
)


class MockStorage(Storage):
    """A `Storage` over a mongomock database."""

    multi_process = False

    def __init__(self, database: Any) -> None:
        super().__init__()
        self._db = database
        self._undo = Undo()
        self._ensured: dict[str, list[Index]] = {}  # by collection, which may have been dropped since
        # mongomock 4.3: clients of one address compare equal even if they do not share a store.
        store = getattr(database.client, "_store", database.client)
        with _LOCKS_GUARD:
            self._lock = _LOCKS.setdefault(store, threading.RLock())

    @property
    def name(self) -> str:
        """The name of the database."""
        return str(self._db.name)

    def has_transactions(self) -> bool:
        """Return True: a failed transaction is undone, though not when the process dies."""
        return True

    def ensure(self, collection: str, indexes: Sequence[Index], build_limit: int) -> list[str]:
        """Create missing indexes; mongomock makes collections by itself."""
        with self._driver():
            known = self._db[collection].index_information().values()
            count = self._db[collection].estimated_document_count()
        present = {tuple(index["key"]): bool(index.get("unique")) for index in known}
        missing, problems = find_missing(collection, indexes, present, lambda: count > build_limit)
        problems += [problem for index in missing for problem in self._build(collection, index)]
        self._ensured[collection] = self.indexes(collection)
        return problems

    def _build(self, collection: str, index: Index) -> Iterator[str]:
        try:
            with self._driver():
                self._db[collection].create_index(list(index.keys), **options_of(index))
        except DuplicateKey:
            yield describe_unbuilt(collection, index, COLLISION)
        except StorageError as error:
            yield describe_unbuilt(collection, index, type(error.__cause__).__name__)

    def indexes(self, collection: str) -> list[Index]:
        """Return the existing indexes, with the options that mongomock keeps."""
        with self._driver():
            known = self._db[collection].index_information()
        return [index_of(name, one) for name, one in known.items() if name != "_id_"]

    def is_sharded(self, collection: str) -> bool:
        """Return False: there is no server."""
        return False

    def transaction(
        self,
        fn: Callable[[], T],
        proof: tuple[str, Filter] | None = None,
        hot: Iterable[tuple[str, object]] = (),
    ) -> T:
        """Run ``fn`` under the lock and undo its writes if it fails."""
        with self._hold_lock():
            if self._undo.images is not None:
                return self._join(fn)
            self._undo.images = []
            try:
                result = fn()
                if self._undo.failed is not None:
                    raise self._undo.failed
                if self._scopes.scope is not None:
                    self._scopes.scope.check()
            except BaseException:
                self._restore()
                raise
            finally:
                self._undo.images = self._undo.failed = None
            if self._scopes.scope is not None:
                self._scopes.scope.commit()
            return result

    def aside(self, fn: Callable[[], T]) -> T:
        """Run ``fn``, whose writes are not undone; it does see those of the transaction."""
        return self._undo.aside(fn)

    def in_transaction(self) -> bool:
        """Return whether this thread has a transaction open."""
        return self._undo.images is not None

    def _join(self, fn: Callable[[], T]) -> T:
        if self._undo.failed is not None:
            raise self._undo.failed
        try:
            return fn()
        except BaseException as error:
            self._undo.failed = error
            raise

    def _restore(self) -> None:
        for collection, id_, before in reversed(self._undo.images or ()):
            if before is None:
                self._db[collection].delete_one({"_id": id_})
            else:
                self._db[collection].replace_one({"_id": id_}, before, upsert=True)

    def touch(
        self,
        collection: str,
        filter: Filter,
        fields: Sequence[str] | None,
        update: Update = NOTHING,
        *,
        lock: Lock,
    ) -> Document | None:
        """Read or change the document; this thread holds the lock already."""
        if lock.unmarked:
            self._refuse_marked(collection, filter, lock.unmarked)
        if update:
            return self.update_one(collection, filter, update, fields)
        return next(self.find(collection, filter, fields, limit=1), None)

    def touch_many(
        self,
        collection: str,
        ids: Sequence[object],
        changes: Sequence[tuple[Filter, Update]] = (),
        *,
        lock: Lock,
    ) -> None:
        """Apply the changes; this thread holds the lock already."""
        if lock.unmarked:
            for id_ in ids:
                self._refuse_marked(collection, {"_id": id_}, lock.unmarked)
        for filter, update in changes:
            self.update_many(collection, filter, update)

    def _refuse_marked(self, collection: str, filter: Filter, path: str) -> None:
        with self._driver():
            for _ in select(self._db[collection], {**filter, path: {"$exists": True}}):
                raise Marked()

    def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Store new documents."""

        def write() -> None:
            self._keep_indexes(collection)
            for document in documents:
                if bytes_of(document) > self.most_bytes:
                    raise TooLarge(TOO_LARGE)
                self._insert_one(collection, document)

        self._write(write)

    def _keep_indexes(self, collection: str) -> None:
        """Make the indexes of a collection anew if it was dropped."""
        ensured = self._ensured.get(collection)
        if ensured and len(self._db[collection].index_information()) < 2:  # that on ``_id`` may be there
            for problem in self.aside(lambda: self.ensure(collection, ensured, 0)):
                _LOG.error("%s", problem)

    def _insert_one(self, collection: str, document: Document) -> None:
        # mongomock looks an `_id` up in a dictionary; a search for it beforehand would read every document.
        stored = self._db[collection]
        try:
            stored.insert_one(dict(document))
        except DuplicateKeyError as error:
            known = stored.find_one({"_id": document["_id"]}) is not None
            raise DuplicateKey(["_id"] if known else taken_fields(stored, [document])) from error
        except BaseException:
            if is_storable(stored, document):
                self._remember_absence(collection, document)
            raise
        self._remember_absence(collection, document)
        refuse_shared(stored, [document])

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
        """Read all matches at once: mongomock's cursors are lazy and see later writes.

        mongomock 4.3 does not sort decimals and binary types as MongoDB does.
        """
        with self._driver():
            found: Iterable[Document] = select(self._db[collection], filter)
            if sort:
                found = rank(found, sort)
            return iter([show(one, fields) for one in islice(found, skip, skip + limit if limit else None)])

    def update_one(
        self, collection: str, filter: Filter, update: Update, fields: Sequence[str] | None
    ) -> Document | None:
        """Change one document; positional paths are not supported."""

        def write() -> Document | None:
            stored = self._db[collection]
            before = next(select(stored, filter), None)
            if before is None:
                return None
            same = {"_id": before["_id"]}
            with self._prepare_update(collection, same, [before], update) as [(wanted, plain)]:
                stored.update_one(wanted, plain)
            return show(stored.find_one(same), fields)

        return self._write(write)

    def update_many(self, collection: str, filter: Filter, update: Update, *, most_bytes: int | None = None) -> int:
        """Change all matching documents; mongomock does not know their sizes."""

        def write() -> int:
            before = list(select(self._db[collection], filter))
            wanted = dict(filter)
            if most_bytes is not None:
                before = [one for one in before if bytes_of(one) <= most_bytes]
            if most_bytes is not None or needs_matching(filter):
                wanted = narrow(filter, before)
            with self._prepare_update(collection, wanted, before, update) as statements:
                return sum(
                    self._db[collection].update_many(dict(wanted), plain).matched_count for wanted, plain in statements
                )

        return self._write(write)

    def update_each(self, collection: str, changes: Iterable[tuple[object, Update]]) -> None:
        """Change documents one by one: mongomock 4.3 fails on PyMongo 4.20's bulk updates."""

        def write() -> None:
            for id_, update in changes:
                same = {"_id": id_}
                before = list(select(self._db[collection], same))
                with self._prepare_update(collection, same, before, update) as statements:
                    for wanted, plain in statements:
                        self._db[collection].update_one(wanted, plain)

        self._write(write)

    def delete_many(self, collection: str, filter: Filter) -> int:
        """Delete all matching documents."""

        def write() -> int:
            before = list(select(self._db[collection], filter))
            self._remember(collection, before)
            return int(self._db[collection].delete_many(narrow({}, before)).deleted_count)

        return self._write(write)

    def count(self, collection: str, filter: Filter, limit: int = 0) -> int:
        """Return how many documents match, at most ``limit``."""
        with self._driver():
            if needs_matching(filter):
                return sum(1 for _ in islice(select(self._db[collection], filter), limit or None))
            bound = {"limit": limit} if limit else {}
            return int(self._db[collection].count_documents(dict(filter), **bound))

    def aggregate(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Document]:
        """Yield the results of a pipeline, as far as mongomock knows its stages."""
        with self._driver():
            return iter(list(self._db[collection].aggregate([dict(stage) for stage in pipeline])))

    def close(self) -> None:
        """Do nothing: the database belongs to the caller."""

    def _write(self, fn: Callable[[], T]) -> T:
        def translated() -> T:
            with self._driver():
                return fn()

        return self.transaction(translated)

    def _remember(self, collection: str, before: Iterable[Document]) -> None:
        """Keep the documents before a write."""
        assert self._undo.images is not None
        self._undo.images.extend((collection, found["_id"], found) for found in before)

    def _remember_absence(self, collection: str, document: Document) -> None:
        """Keep that a document was not there before its insert."""
        assert self._undo.images is not None
        self._undo.images.append((collection, document["_id"], None))

    @contextmanager
    def _prepare_update(
        self, collection: str, filter: Filter, before: Sequence[Document], update: Update
    ) -> Iterator[list[Statement]]:
        """Keep the documents before an update, check sizes; return mongomock's updates."""
        self._remember(collection, before)
        try:
            statements = statements_of(update, filter, before)
        except ValidationError as error:
            error.met = collection, [{"_id": one["_id"]} for one in before]
            raise
        try:
            yield statements
        except DuplicateKeyError as error:
            refused = after_update(self._db[collection], before, statements)
            raise DuplicateKey(taken_fields(self._db[collection], refused)) from error
        after = self._db[collection].find({"_id": {"$in": [one["_id"] for one in before]}})
        refuse_shared(self._db[collection], after)
        self._refuse_large(collection, before, update)

    def _refuse_large(self, collection: str, before: Iterable[Document], update: Update) -> None:
        """Refuse an update that made a document too large for MongoDB."""
        most = self.most_bytes - _GROWTH * bytes_of(update)
        for image in before:
            if bytes_of(image) > most:  # Most documents are far smaller and need not be read again.
                after = self._db[collection].find_one({"_id": image["_id"]})
                if bytes_of(after or {}) > self.most_bytes:
                    raise TooLarge(TOO_LARGE)

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        scope = self._scopes.scope
        if scope is not None:
            scope.check()
        if not self._lock.acquire(timeout=scope.remaining() if scope else _PATIENCE):
            raise Timeout()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _driver(self) -> Iterator[None]:
        """Hold the lock and translate mongomock's errors, which fail the transaction."""
        if self._undo.failed is not None:
            raise self._undo.failed
        try:
            with self._hold_lock(), _translate():
                yield
        except BaseException as error:
            if self._undo.images is not None:
                self._undo.failed = error
            raise


@contextmanager
def _translate() -> Iterator[None]:
    try:
        yield
    except DuplicateKeyError as error:
        raise DuplicateKey() from error
    except _REFUSALS as error:
        raise StorageError() from error
