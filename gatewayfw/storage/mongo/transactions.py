"""Connection, deadlines and transactions of the MongoDB adapter.

On a replica set every `transaction` is a MongoDB transaction with snapshot reads and majority
writes. The loop around it is our own: PyMongo's ``with_transaction`` sends its abort under the
caller's timeout. Once that has expired, the abort is refused and the locks stay for as long
as the server lets a transaction live. Here abort and commit have a deadline of their own.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pymongo
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from gatewayfw.errors import OutcomeUnknown, Timeout, Unavailable
from gatewayfw.settings import Settings
from gatewayfw.storage.base import OpenTransaction, OpenTransactions, Storage, T
from gatewayfw.storage.deadlines import UNLIMITED, Deadline, Scope
from gatewayfw.storage.mongo.connection import MAJORITY, Connection, run_aside
from gatewayfw.storage.mongo.errors import DRIVER_ERRORS, WRITE_CONFLICT, translate_error, without_documents
from gatewayfw.storage.terms import Filter, Trouble, WriteConflict

_LOG = logging.getLogger("gatewayfw.storage")
#: Most seconds of an abort, and least seconds of a commit with its retries; both run outside the caller's deadline.
ENDING = 0.75
#: Seconds to find out whether an unknown commit happened.
LOOK = 0.4
#: Seconds that must be left to start a commit at all.
_COMMIT_RESERVE = 0.25
#: Seconds between two attempts to learn the outcome of a commit.
_PAUSE_IN_COMMIT = 0.02
#: Longest pause between two attempts, in seconds.
_LONGEST_PAUSE = 0.2
#: Most seconds, and largest share of the time left, that a thread queues for hot documents. With 32 threads on one
#: document, 1 s gave 125 inserts/s and no failure; 0.25 s gave 53, and 2 of 480 failed; no queue gave 25, and 34 of
#: 480 failed.
QUEUE, _QUEUE_SHARE = 1.0, 0.25
_STRIPES = 64


class _Conflict(Unavailable):
    """The transaction lost against another one, or its server, and may be retried."""


class _WriteConflict(_Conflict, WriteConflict):
    """It lost against another one."""


class _Interruption(_Conflict):
    """It gave way to a function, and begins again afterwards."""

    def __init__(self, fn: Callable[[], object]) -> None:
        super().__init__()
        self.fn = fn


class _Transaction(OpenTransaction):
    """An open transaction with its session."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session


class _Open(OpenTransactions):
    transaction: _Transaction | None = None


class _Command:
    """Wrap one call of the driver with a deadline, and translate its errors.

    It returns the session of the open transaction, if any. An error inside a transaction fails the whole
    transaction: the server has ended it, and its commit would look like a conflict. This is a class
    because every read and write goes through it, and a generator would cost more.
    """

    __slots__ = ("_commits", "_own", "_storage", "_transaction")

    def __init__(self, storage: MongoTransactions, commits: bool) -> None:
        self._storage = storage
        self._commits = commits
        self._own: AbstractContextManager[Scope] | None = None

    def __enter__(self) -> ClientSession | None:
        storage = self._storage
        self._transaction = transaction = storage._open.transaction
        if transaction is not None:
            transaction.check()
        try:
            scope = storage._scopes.scope
            if scope is not UNLIMITED:
                scope.check()
            else:
                own = storage.deadline(storage._settings.operation_timeout)
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
            if self._commits:
                self._storage.scope.commit()
            return
        transaction = self._transaction
        ours, cause = self._storage._our_error(error)
        if transaction is not None:
            transaction.failed = ours
        if ours is not error:
            raise ours from cause


class MongoTransactions(Storage):
    """What the adapter does with the database besides reading and writing documents."""

    def __init__(self, database: Database[Any] | str, *, settings: Settings | None = None) -> None:
        """Take the database; ``settings`` have the times, and are read at each use."""
        super().__init__()
        self._settings = settings or Settings()
        self._connection = Connection(database, self._settings)
        self._collection = self._connection.collection
        self._open: _Open = _Open()
        self._stripes = Stripes()
        self._transactions: bool | None = None

    @property
    def name(self) -> str:
        return self._connection.name

    @property
    def _db(self) -> Database[Any]:
        return self._connection.database

    def has_transactions(self) -> bool:
        """Ask the server once: only replica sets and mongos have transactions."""
        if self._transactions is None:
            with self._command():
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

    def ping(self) -> Trouble | None:
        """Send a command that only a server answers that takes writes and knows the user."""
        with self._limit_time() as scope, self._translate_errors():
            return self._connection.ping(scope.remaining())

    def is_closed(self) -> bool:
        """Return whether the client was closed and none has been made since."""
        return self._connection.is_closed

    def close(self) -> None:
        """Close the client if this adapter made it; the next use connects again."""
        self._connection.close()

    # -- deadlines and errors

    def deadline(self, seconds: float) -> AbstractContextManager[Scope]:
        """Limit the driver's work, too; the nearest of nested deadlines wins."""
        return Deadline(self._scopes, seconds, pymongo.timeout)

    def _limit_time(self) -> AbstractContextManager[Scope]:
        """Give work without a deadline the one for operations outside a request."""
        if self.scope is UNLIMITED:
            return self.deadline(self._settings.operation_timeout)
        self.scope.check()
        return nullcontext(self.scope)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate the driver's errors; in a transaction, mark those that may be retried."""
        try:
            yield
        except DRIVER_ERRORS as error:
            ours, cause = self._our_error(error)
            raise ours from cause

    def _our_error(self, error: BaseException) -> tuple[BaseException, BaseException | None]:
        """Return the error to raise in place of an error, and its cause.

        An error that is not the driver's is returned as it is.
        """
        if not isinstance(error, DRIVER_ERRORS):
            return error, None
        self._connection.note(error)
        if self._open.transaction is not None and _is_transient(error):
            return (_WriteConflict() if getattr(error, "code", None) == WRITE_CONFLICT else _Conflict()), error
        return translate_error(error), without_documents(error)

    def _command(self, *, commits: bool = False) -> AbstractContextManager[ClientSession | None]:
        """Wrap one call of the driver; return the session of the open transaction, if any."""
        return _Command(self, commits)

    def _change(self) -> AbstractContextManager[ClientSession | None]:
        """Wrap one write by the driver; outside a transaction it commits by itself."""
        return self._command(commits=self._open.transaction is None)

    # -- transactions

    def transaction(
        self, fn: Callable[[], T], proof: tuple[str, Filter] | None = None, hot: Iterable[tuple[str, object]] = ()
    ) -> T:
        """Run ``fn`` in a transaction, again after conflicts while the deadline allows."""
        if self._open.transaction is not None:
            with self._open.transaction.joined():
                return fn()
        with self._limit_time() as scope:
            if self.has_transactions():
                with self._stripes.held(hot, min(QUEUE, scope.remaining() * _QUEUE_SHARE)):
                    result = self._retry(fn, proof, scope)
            else:
                result = fn()
            scope.commit()
            return result

    def _retry(self, fn: Callable[[], T], proof: tuple[str, Filter] | None, scope: Scope) -> T:
        attempt = 0
        while True:
            try:
                return self._attempt(fn, proof, scope)
            except _Interruption as interruption:
                interruption.fn()
            except _Conflict as conflict:
                attempt += 1
                pause = random.random() * min(_LONGEST_PAUSE, 0.005 * 1.5**attempt)
                if scope.remaining() < pause + _COMMIT_RESERVE:
                    is_lost = isinstance(conflict, _WriteConflict)
                    what = "conflicts with other writers" if is_lost else "attempts that the server broke off"
                    raise Unavailable(reason=f"{attempt} {what}") from conflict
                time.sleep(pause)

    def outside(self, fn: Callable[[], object]) -> None:
        """End the transaction under way, if there is one, and begin it again after ``fn``."""
        if self._open.transaction is None:
            fn()
            return
        self._open.transaction.failed = interruption = _Interruption(fn)
        raise interruption

    def _attempt(self, fn: Callable[[], T], proof: tuple[str, Filter] | None, scope: Scope) -> T:
        with self._translate_errors():
            self._connection.find_server()
            session = self._db.client.start_session()
        transaction = _Transaction(session)
        try:
            session.start_transaction(ReadConcern("snapshot"), MAJORITY, ReadPreference.PRIMARY)
            self._open.transaction = transaction
            try:
                result = fn()
                transaction.check()
                if scope.remaining() < _COMMIT_RESERVE:
                    raise Timeout()
            except BaseException as error:
                run_aside(session.abort_transaction, ENDING)
                if isinstance(error, Exception) and isinstance(transaction.failed, _Conflict):
                    raise transaction.failed from error  # fn translated the conflict into another error
                raise
            self._commit(session, proof, scope)
            return result
        finally:
            self._open.transaction = None
            if session.in_transaction:  # interrupted before the abort; ending the session sends it
                run_aside(session.end_session, ENDING)
            else:
                session.end_session()

    def _commit(self, session: ClientSession, proof: tuple[str, Filter] | None, scope: Scope) -> None:
        """Commit in the time left; let the proof settle an unknown outcome."""
        until = time.monotonic() + max(ENDING, scope.remaining())
        while True:
            try:
                run_aside(session.commit_transaction, max(_PAUSE_IN_COMMIT, until - time.monotonic()))
            except PyMongoError as error:
                self._connection.note(error)
                if _is_transient(error):
                    raise _Conflict() from error
                if not error.has_error_label("UnknownTransactionCommitResult"):
                    raise translate_error(error) from error
                if time.monotonic() < until:
                    time.sleep(_PAUSE_IN_COMMIT)
                    continue
                if proof is not None and self._is_there(*proof):
                    return
                raise OutcomeUnknown() from error
            return

    def _is_there(self, collection: str, filter: Filter) -> bool:
        try:
            # Reads of this database are majority reads, so what they show is permanent.
            return bool(run_aside(lambda: self._collection(collection).find_one(filter, {"_id": 1}), LOOK))
        except PyMongoError:
            return False


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, PyMongoError) and error.has_error_label("TransientTransactionError")


class Stripes:
    """Locks with which the threads of one process queue for hot documents.

    They are only an optimisation: the database decides who wins, and a thread that waits in vain goes on without the
    lock. The set is fixed, and shared by the hashes of documents. It is made on first use, and again after a fork, so
    that a child never gets a lock that a thread of its parent held.
    """

    def __init__(self) -> None:
        self._locks: tuple[threading.Lock, ...] = ()
        self._pid = 0

    @contextmanager
    def held(self, documents: Iterable[tuple[str, object]], patience: float) -> Iterator[None]:
        """Hold the locks of documents; wait at most ``patience`` seconds in all.

        Each document is (collection, ``_id``). Locks are taken in one fixed order, so threads never
        deadlock.
        """
        until = time.monotonic() + patience
        taken: list[threading.Lock] = []
        try:
            for number in sorted({hash(document) % _STRIPES for document in documents}):
                lock = self._own()[number]
                if not lock.acquire(timeout=max(0.0, until - time.monotonic())):
                    break
                taken.append(lock)
            yield
        finally:
            for lock in taken:
                lock.release()

    def _own(self) -> tuple[threading.Lock, ...]:
        if self._pid != os.getpid():
            self._locks, self._pid = tuple(threading.Lock() for _ in range(_STRIPES)), os.getpid()
        return self._locks
