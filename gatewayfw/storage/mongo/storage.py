"""Storage on MongoDB through PyMongo.

On a replica set every `transaction` is a MongoDB transaction with snapshot reads and majority
writes. The loop around it is our own: PyMongo's ``with_transaction`` sends its abort under the
caller's timeout, and once that has expired the abort is refused and the locks stay for as long
as the server lets a transaction live. Here abort and commit run in a context of their own.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context
from typing import Any

import pymongo
from bson.raw_bson import RawBSONDocument
from pymongo import ReturnDocument, UpdateMany, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from gatewayfw.batches import Found
from gatewayfw.errors import OutcomeUnknown, StorageError, Timeout, Unavailable
from gatewayfw.storage.base import (
    NOTHING,
    Deadline,
    Document,
    Filter,
    Index,
    Marked,
    Scope,
    Sorting,
    Storage,
    T,
    Trouble,
    Update,
)
from gatewayfw.storage.mongo.commands import PlainWrites
from gatewayfw.storage.mongo.connection import MAJORITY, Connection
from gatewayfw.storage.mongo.errors import DRIVER_ERRORS, refused_increment, translation, without_documents
from gatewayfw.storage.mongo.indexes import built, compared, index_of
from gatewayfw.storage.mongo.reads import MOST_LISTED, REPLY_DOCUMENTS, Arriving, Listed, Query, counted
from gatewayfw.storage.mongo.stripes import Stripes

_LOG = logging.getLogger("gatewayfw.storage")
#: Seconds an abort may take, and a commit with its repetitions at least; they run outside the caller's deadline.
_ENDING = 0.75
#: Seconds to look whether an unknown commit happened.
_LOOK = 0.4
#: Seconds that must be left for a commit to be started at all.
_COMMIT_RESERVE = 0.25
#: Seconds between two attempts to learn the outcome of a commit.
_PAUSE_IN_COMMIT = 0.02
#: Longest pause between two attempts, seconds.
_LONGEST_PAUSE = 0.2
#: Most seconds, and most of what is left, that a thread queues for hot documents. With 32 threads on one
#: document 1 s gave 125 inserts/s and no failure, 0.25 s 53 and 2 of 480, no queue 25 and 34 of 480.
_QUEUE, _QUEUE_SHARE = 1.0, 0.25
#: Documents taken from a cursor at once; the server's first batch has as many.
_BATCH = 101
#: The server's error code of an operator that does not fit the value it meets.
_TYPE_MISMATCH = 14


class _Conflict(Unavailable):
    """The transaction lost against another one and may be tried again."""


class _Transaction:
    """An open transaction of one thread."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        self.failed: BaseException | None = None


class _Open(threading.local):
    transaction: _Transaction | None = None


class _Deadline(Deadline):
    """A `Deadline` that bounds the driver's work too; the nearer of nested ones wins."""

    def __enter__(self) -> Scope:
        scope = super().__enter__()
        self._timeout = pymongo.timeout(scope.remaining())
        self._timeout.__enter__()
        return scope

    def __exit__(self, *error: object) -> None:
        self._timeout.__exit__(None, None, None)
        super().__exit__(*error)


class _Translated(AbstractContextManager[None]):
    """The driver's errors as ours."""

    __slots__ = ("_storage",)

    def __init__(self, storage: MongoStorage) -> None:
        self._storage = storage

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DRIVER_ERRORS):
            ours, cause = self._storage._ours(error)
            raise ours from cause


class _Command:
    """One call of the driver: under a deadline, its errors as ours; gives the session of the open transaction, if any.

    What fails inside a transaction dooms it: the server has ended it, and its commit would look like
    a conflict. A class, because every read and write goes through it and a generator costs more.
    """

    __slots__ = ("_own", "_storage", "_transaction")

    def __init__(self, storage: MongoStorage) -> None:
        self._storage = storage
        self._own: AbstractContextManager[Scope] | None = None

    def __enter__(self) -> ClientSession | None:
        storage = self._storage
        self._transaction = transaction = storage._open.transaction
        if transaction is not None and transaction.failed is not None:
            raise transaction.failed
        try:
            scope = storage._scopes.scope
            if scope is not None:
                scope.check()
            else:
                own = storage.deadline(storage._operation_timeout)
                own.__enter__()
                self._own = own
            if transaction is not None:
                return transaction.session
            storage._connection.find_server()
            return None
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._own is not None:
            self._own.__exit__(None, None, None)
        if error is None:
            return
        transaction = self._transaction
        ours, cause = self._storage._ours(error)
        if transaction is not None:
            transaction.failed = ours
        if ours is not error:
            raise ours from cause


class MongoStorage(Storage):
    """A `Storage` over a MongoDB database, given as a PyMongo `Database` or as a URI.

    With a URI the client is made at first use, once per process, so that it is safe to make the
    adapter before a fork (gunicorn ``--preload``).

    Raises:
        DefinitionError: the URI is malformed or names no database.
    """

    def __init__(
        self,
        database: Database[Any] | str,
        *,
        server_selection_timeout: float = 2.0,
        operation_timeout: float = 30.0,
    ) -> None:
        super().__init__()
        self._connection = Connection(database, server_selection_timeout)
        self._collection = self._connection.collection
        self._operation_timeout = operation_timeout
        self._open = _Open()
        self._stripes = Stripes()
        self._transactions: bool | None = None

    # -- connection

    @property
    def name(self) -> str:
        """The name of the database."""
        return self._connection.name

    @property
    def _db(self) -> Database[Any]:
        return self._connection.database

    def has_transactions(self) -> bool:
        """Ask the server once: a replica set or a mongos has them, a standalone server has not."""
        if self._transactions is None:
            with self._bounded(), self._translated():
                self._connection.find_server()
                hello = self._db.client.admin.command("hello")
            self._transactions = "setName" in hello or hello.get("msg") == "isdbgrid"
            if not self._transactions:
                _LOG.warning(
                    "this MongoDB server is standalone and has no transactions: concurrent writes and crashes "
                    "can leave stale copies. Run it as a replica set; one node is enough."
                )
        return self._transactions

    def trouble(self) -> Trouble | None:
        """Return why this process did not reach the database when it last tried."""
        return self._connection.outages.trouble

    def is_closed(self) -> bool:
        """Return whether the client was closed and none has been made since."""
        return self._connection.is_closed

    def close(self) -> None:
        """Close the client if this adapter made it; the next use connects again."""
        self._connection.close()

    # -- deadlines and errors

    def deadline(self, seconds: float) -> AbstractContextManager[Scope]:
        """Bound the driver's work too; the nearer of nested deadlines wins."""
        return _Deadline(self._scopes, seconds)

    def _bounded(self) -> AbstractContextManager[Scope]:
        """Give work that has no deadline the one of operations outside a request."""
        scope = self._scopes.scope
        if scope is None:
            return self.deadline(self._operation_timeout)
        scope.check()
        return nullcontext(scope)

    def _translated(self) -> AbstractContextManager[None]:
        """Turn the driver's errors into ours; inside a transaction tell which may be tried again."""
        return _Translated(self)

    def _ours(self, error: BaseException) -> tuple[BaseException, BaseException | None]:
        """Return what is raised for an error and the cause shown with it; itself if it is none of the driver's."""
        if not isinstance(error, DRIVER_ERRORS):
            return error, None
        self._connection.note(error)
        if self._open.transaction is not None and _is_transient(error):
            return _Conflict(), error
        return translation(error), without_documents(error)

    def _command(self) -> AbstractContextManager[ClientSession | None]:
        """Wrap one call of the driver; gives the session of the open transaction, if any."""
        return _Command(self)

    def _change(self) -> AbstractContextManager[ClientSession | None]:
        """Wrap one call of the driver that writes; outside a transaction it commits by itself."""
        return self._committed() if self._open.transaction is None else self._command()

    @contextmanager
    def _committed(self) -> Iterator[ClientSession | None]:
        with self._command() as session:
            yield session
        if self._scopes.scope is not None:
            self._scopes.scope.commit()

    # -- transactions

    def transaction(
        self,
        fn: Callable[[], T],
        proof: tuple[str, Filter] | None = None,
        hot: Iterable[tuple[str, object]] = (),
    ) -> T:
        """Run ``fn`` in a transaction, again after conflicts while the deadline allows."""
        if self._open.transaction is not None:
            return self._join(self._open.transaction, fn)
        with self._bounded() as scope:
            if self.has_transactions():
                with self._stripes.held(hot, min(_QUEUE, scope.remaining() * _QUEUE_SHARE)):
                    result = self._retried(fn, proof, scope)
            else:
                result = fn()
            scope.commit()
            return result

    def in_transaction(self) -> bool:
        """Return whether this thread has a session with an open transaction."""
        return self._open.transaction is not None

    def _join(self, transaction: _Transaction, fn: Callable[[], T]) -> T:
        if transaction.failed is not None:
            raise transaction.failed
        try:
            return fn()
        except BaseException as error:
            transaction.failed = error
            raise

    def _retried(self, fn: Callable[[], T], proof: tuple[str, Filter] | None, scope: Scope) -> T:
        attempt = 0
        while True:
            try:
                return self._attempt(fn, proof, scope)
            except _Conflict as conflict:
                attempt += 1
                pause = random.random() * min(_LONGEST_PAUSE, 0.005 * 1.5**attempt)
                if scope.remaining() < pause + _COMMIT_RESERVE:
                    raise Unavailable() from conflict
                time.sleep(pause)

    def _attempt(self, fn: Callable[[], T], proof: tuple[str, Filter] | None, scope: Scope) -> T:
        with self._translated():
            self._connection.find_server()
            session = self._db.client.start_session()
        transaction = _Transaction(session)
        try:
            session.start_transaction(ReadConcern("snapshot"), MAJORITY, ReadPreference.PRIMARY)
            self._open.transaction = transaction
            try:
                result = fn()
                if transaction.failed is not None:
                    raise transaction.failed
                if scope.remaining() < _COMMIT_RESERVE:
                    raise Timeout()
            except BaseException as error:
                _aside(session.abort_transaction)
                if isinstance(error, Exception) and isinstance(transaction.failed, _Conflict):
                    raise transaction.failed from error  # fn gave the conflict another name
                raise
            self._commit(session, proof, scope)
            return result
        finally:
            self._open.transaction = None
            if session.in_transaction:  # interrupted before the abort, which ending it then sends
                _aside(session.end_session)
            else:
                session.end_session()

    def _commit(self, session: ClientSession, proof: tuple[str, Filter] | None, scope: Scope) -> None:
        """Commit in what is left of the deadline, and settle an unknown outcome by the proof if there is one."""
        until = time.monotonic() + max(_ENDING, scope.remaining())
        while True:
            try:
                _aside(session.commit_transaction, max(_PAUSE_IN_COMMIT, until - time.monotonic()))
            except PyMongoError as error:
                self._connection.note(error)
                if _is_transient(error):
                    raise _Conflict() from error
                if not error.has_error_label("UnknownTransactionCommitResult"):
                    raise translation(error) from error
                if time.monotonic() < until:
                    time.sleep(_PAUSE_IN_COMMIT)
                    continue
                if proof is not None and self._is_there(*proof):
                    return
                raise OutcomeUnknown() from error
            return

    def _is_there(self, collection: str, filter: Filter) -> bool:
        try:
            # Reads of this database are majority reads: what they show stays.
            return bool(_aside(lambda: self._collection(collection).find_one(filter, {"_id": 1}), _LOOK))
        except PyMongoError:
            return False

    # -- documents

    def ensure(self, collection: str, indexes: Sequence[Index], build_limit: int) -> list[str]:
        """Look under the caller's deadline, build outside it; both outside its transaction."""
        scope = self._scopes.scope
        if scope is not None:
            scope.check()
        looking = self._operation_timeout if scope is None else scope.remaining()
        return Context().run(self._ensure, collection, indexes, build_limit, looking)

    def _ensure(self, collection: str, indexes: Sequence[Index], build_limit: int, looking: float) -> list[str]:
        with self._translated():
            with pymongo.timeout(looking):
                self._connection.find_server()
                missing, problems = compared(self._db, collection, indexes, build_limit)
            with pymongo.timeout(max(self._operation_timeout, looking)):
                return problems + built(self._collection(collection), missing)

    def indexes(self, collection: str) -> list[Index]:
        """Return the indexes there are, with the options that the server names."""
        with self._command():
            known = self._collection(collection).list_indexes().to_list()
        return [index_of(one) for one in known if one["name"] != "_id_"]

    def is_sharded(self, collection: str) -> bool:
        """Ask for the collection's statistics: only a mongos calls one sharded."""
        with self._command():
            return bool(self._db.command("collStats", collection).get("sharded"))

    def transaction_lifetime(self) -> float | None:
        """Ask the server, which may refuse to tell."""
        name = "transactionLifetimeLimitSeconds"
        try:
            with self._command():
                return float(self._db.client.admin.command({"getParameter": 1, name: 1})[name])
        except StorageError:
            return None

    def sorts_pushes(self) -> bool:
        """Return whether there are transactions: without them a crash would leave lists of what was never inserted."""
        return self.has_transactions()

    def counts_copies(self) -> bool:
        """Return whether there are transactions, in which alone a document must be written to be locked."""
        return self.has_transactions()

    def touch(
        self,
        collection: str,
        filter: Filter,
        fields: Sequence[str] | None,
        update: Update = NOTHING,
        *,
        copies: int = 1,
        unmarked: str = "",
    ) -> Document | None:
        """Increment the hidden counter: only a real write locks the document."""
        if self.has_transactions():
            try:
                return self.update_one(collection, filter, {**update, **_lock(copies, unmarked)}, fields)
            except StorageError as error:
                raise _marked(error, unmarked) from error
        if update:
            return self.update_one(collection, filter, update, fields)
        return next(self.find(collection, filter, fields, limit=1), None)

    def touch_many(
        self,
        collection: str,
        ids: Sequence[object],
        changes: Sequence[tuple[Filter, Update]] = (),
        *,
        copies: int = 1,
        unmarked: str = "",
    ) -> None:
        """Increment the hidden counter of each document; all in one command."""
        locks = [({"_id": {"$in": list(ids)}}, _lock(copies, unmarked))] if ids and self.has_transactions() else []
        if locks or changes:
            try:
                self._update(collection, changes, locks)
            except StorageError as error:
                raise _marked(error, unmarked) from error

    def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Store new documents in one command; several ones in a transaction."""

        def write() -> None:
            with self._change() as session:
                if plain := len(documents) == 1 and self._plain(collection, session):
                    plain.insert(documents[0])
                else:
                    copies = [dict(document) for document in documents]  # the driver may change them
                    self._collection(collection).insert_many(copies, session=session)

        if len(documents) > 1:
            self.transaction(write)
        elif documents:
            write()

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
        """Yield documents as the driver's cursor delivers them; those of a limited query by a plain command."""
        query = Query(dict(filter), _projection(fields), sort, skip, limit)
        transaction = self._open.transaction
        session = None if transaction is None else transaction.session
        with self._translated():  # it may have to connect
            source = self._connection.readable(collection)
        if 0 < limit <= MOST_LISTED:
            return self._drained(Listed(source, query, session))
        return self._drained(Arriving(query.cursor(source, session)))

    def find_stored(
        self,
        collection: str,
        filter: Filter,
        fields: Sequence[str] | None = None,
        *,
        sort: Sorting = (),
        limit: int = 0,
    ) -> Iterator[Mapping[str, Any]]:
        """Yield documents in which objects are left as their bytes until they are looked into."""
        query = Query(dict(filter), _projection(fields), sort, 0, limit)
        transaction = self._open.transaction
        with self._translated():
            plain = self._collection(collection)
            source = plain.with_options(plain.codec_options.with_options(document_class=RawBSONDocument))
        return self._drained(Arriving(query.cursor(source, None if transaction is None else transaction.session)))

    def update_one(
        self, collection: str, filter: Filter, update: Update, fields: Sequence[str] | None
    ) -> Document | None:
        """Change one document in one trip."""
        projection = _projection(fields)
        with self._change() as session:
            try:
                if plain := self._plain(collection, session):
                    return plain.update_one(filter, update, projection)
                result: Document | None = self._collection(collection).find_one_and_update(
                    dict(filter),
                    update,
                    projection,
                    return_document=ReturnDocument.AFTER,
                    session=session,
                )
            except OperationFailure as error:
                raise refused_increment(error, update) or error from None
            return result

    def update_many(self, collection: str, filter: Filter, update: Update, *, most_bytes: int | None = None) -> int:
        """Change all matching documents in one command; the server measures them."""
        if most_bytes is not None:
            filter = {**filter, "$expr": {"$lte": [{"$bsonSize": "$$ROOT"}, most_bytes]}}
        return self._update(collection, [(filter, update)])

    def _update(
        self,
        collection: str,
        changes: Sequence[tuple[Filter, Update]],
        locks: Sequence[tuple[Filter, Update]] = (),
    ) -> int:
        """Change all documents that match each filter, locks first, by one command; return how many matched."""
        statements = [*locks, *changes]
        with self._change() as session:
            if plain := len(changes) < 2 and self._plain(collection, session):  # two might not fit into one command
                return plain.update(statements)
            requests = [UpdateMany(dict(filter), update) for filter, update in statements]
            return self._collection(collection).bulk_write(requests, session=session).matched_count

    def update_each(self, collection: str, changes: Iterable[tuple[object, Update]]) -> None:
        """Change documents by one bulk command."""
        listed = list(changes)
        if not listed:
            return
        with self._change() as session:
            if plain := len(listed) == 1 and self._plain(collection, session):
                plain.update([({"_id": id_}, update) for id_, update in listed])
            else:
                requests = [UpdateOne({"_id": id_}, update) for id_, update in listed]
                self._collection(collection).bulk_write(requests, session=session)

    def delete_many(self, collection: str, filter: Filter) -> int:
        """Delete all matching documents in one command."""
        with self._change() as session:
            return self._collection(collection).delete_many(dict(filter), session=session).deleted_count

    def count(self, collection: str, filter: Filter, limit: int = 0) -> int:
        """Return how many documents match, at most ``limit``."""
        with self._command() as session:
            source = self._collection(collection)
            if session is not None:
                return counted(source, filter, limit, session)
            bound: dict[str, Any] = {"limit": limit} if limit else {}
            return source.count_documents(dict(filter), **bound)

    def aggregate(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Document]:
        """Yield the results of a pipeline as the driver's cursor delivers them."""
        with self._command() as session:
            source = self._connection.readable(collection)
            cursor = source.aggregate(list(pipeline), session=session, batchSize=REPLY_DOCUMENTS)
        return self._drained(Arriving(cursor))

    def _plain(self, collection: str, session: ClientSession | None) -> PlainWrites | None:
        """Return the short way to write, where it does what the driver's does."""
        if session is None or not self._connection.is_plain:
            return None
        return PlainWrites(self._collection(collection), session)

    def _drained(self, cursor: Arriving | Listed) -> Iterator[Document]:
        """Return an iterator over a cursor's documents; no deadline of ours is in force while the caller runs."""
        return Found(self._batches(cursor))

    def _batches(self, cursor: Arriving | Listed) -> Iterator[Sequence[Document]]:
        alive = True
        try:
            while alive:
                with self._command():
                    batch = cursor.to_list(_BATCH)
                alive = cursor.alive
                yield batch
        finally:
            if alive:
                cursor.close()


def _is_transient(error: BaseException) -> bool:
    """Tell whether a transaction that failed so may be tried again."""
    return isinstance(error, PyMongoError) and error.has_error_label("TransientTransactionError")


def _lock(copies: int, unmarked: str) -> Update:
    """Return the update that locks a document, and fails on one that has a mark.

    ``$pop`` does nothing where there is nothing, and refuses what is no list.
    """
    lock = {"$inc": {"_gw.rev": copies}}
    return {**lock, "$pop": {unmarked: 1}} if unmarked else lock


def _marked(error: StorageError, unmarked: str) -> StorageError:
    """Return what a lock that failed says: the mark was there, if the error may mean that."""
    return Marked() if unmarked and getattr(error.__cause__, "code", None) == _TYPE_MISMATCH else error


def _projection(fields: Sequence[str] | None) -> dict[str, int] | None:
    return None if fields is None else {"_id": 1, **dict.fromkeys(fields, 1)}


def _aside(fn: Callable[[], T], seconds: float = _ENDING) -> T:
    """Run what ends a transaction outside the caller's deadline, under its own."""

    def bounded() -> T:
        with pymongo.timeout(seconds):
            return fn()

    return Context().run(bounded)
