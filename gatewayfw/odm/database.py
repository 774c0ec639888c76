"""The database of one gateway: its adapter, indexes and jobs."""

import logging
import math
import multiprocessing
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, final

from pymongo.database import Database as PyMongoDatabase

from gatewayfw.context_variables import calling_anew
from gatewayfw.environment import environment, judge_memory, multi_worker_server, refuse_greenlets, runs_tests
from gatewayfw.errors import DefinitionError, GatewayError
from gatewayfw.odm.jobs.background import SHORT_PAUSE, JobThread, JobWorker
from gatewayfw.odm.jobs.fan_out import Drained
from gatewayfw.odm.preparation import Preparation
from gatewayfw.odm.sizes.budgets import SizeChecks
from gatewayfw.odm.writing.plan.attempt import Attempt, CopyCounts, abilities_of, with_size_checks
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, MongoStorage, Scope, Storage
from gatewayfw.storage.deadlines import UNLIMITED, Deadline, Scopes
from gatewayfw.storage.terms import Filter

_LOG = logging.getLogger("gatewayfw.odm")
T = TypeVar("T")
#: Conflicts after which an operation leaves all fan-out to jobs.
CONFLICTS = 3
#: A plain name, because Python 3.11 takes ten times as long to look up a member of an enumeration.
_NO_CHECKS = SizeChecks.NONE
#: The lock of operations that check sizes: each of them writes much, so one process runs them one by one.
_CHECKING = ("", "sizes")
#: Most seconds, and largest share of the time left, that a process prepares models before a transaction.
PREPARING, PREPARING_SHARE = 1.0, 0.25
#: Seconds that the thread of the jobs prepares models before it looks at jobs again.
SLICE = 2.0
_UNSET = "no database: call odm.set_db(...) first"
#: Most seconds, and largest share of the time left, that a process spends on its own jobs at once.
DRAIN, DRAIN_SHARE = 0.2, 0.25


@dataclass(frozen=True)
class Done(Generic[T]):
    """A committed operation: its result, pending jobs, and deletions so far by model."""

    result: T
    pending: frozenset[str] = frozenset()
    deleted: Counter[str] = field(default_factory=Counter)


class _Local(threading.local):
    """One thread's open transaction: its outermost attempt, and what stopped it.

    That is the error of the first operation in it that failed.
    """

    attempt: Attempt | None = None
    stopped: GatewayError | None = None


@final
class Database:
    """The storage of the models, prepared for each model on its first use."""

    def __init__(self, schemas: Schemas, settings: Settings) -> None:
        self.schemas = schemas
        self._settings = settings
        self._storage: Storage | None = None
        self.memory_is_meant = False
        self._worker: JobWorker | None = None
        self._thread: JobThread | None = None
        #: The processes in which the models were used and requests answered; a forked one has another id.
        self._used_in = self._serves_in = 0
        self.counts = CopyCounts()
        self._local = _Local()
        self._free: Callable[[Collection[str]], None] = _do_nothing
        self._attend_bytes: Callable[[], None] = _do_nothing
        self._scopes = Scopes()
        #: Whether this thread answers a request, of whatever kind; the gateway says.
        self.in_request: Callable[[], bool] = bool
        self._preparation: Preparation | None = None

    def use(self, db: Any, *, memory: bool) -> None:
        """Use a URI, a PyMongo, mongomock or mongomock-ng database, or a `Storage`.

        ``memory`` allows data in memory in every environment.

        Raises:
            DefinitionError: ``db`` is none of these, or a URI that names no database, or in memory
                where that is refused.
        """
        storage = self._adapter(db)
        if not storage.multi_process and not memory:
            _check_memory()
        self._storage, self.memory_is_meant = storage, memory
        self._worker = None
        self._thread = JobThread(self.attend) if storage.multi_process else None
        self.counts = CopyCounts()
        self._preparation = Preparation(self.schemas, storage, self._settings)
        self._serves_in = 0

    def serve(self) -> None:
        """Do what a process does before its first request; later calls cost nothing.

        In a process that runs tests no thread is started: `init_worker` does that.

        Raises:
            DefinitionError: greenlets have replaced its threads.
        """
        if self._serves_in == os.getpid():
            return
        if not runs_tests(os.environ, sys.modules):
            self.init_worker()
        refuse_greenlets()
        self._serves_in = os.getpid()

    def init_worker(self) -> None:
        """Do the same before there is a request, also in a process that runs tests.

        Raises:
            DefinitionError: greenlets have replaced its threads.
        """
        refuse_greenlets()
        if self._thread is not None and self._settings.fan_out_thread:
            self._thread.start()
        self._serves_in = os.getpid()

    def _adapter(self, db: Any) -> Storage:
        if isinstance(db, Storage):
            return db
        if db is None or (isinstance(db, str) and not db.strip()):
            raise DefinitionError("set_db: no database is given; is the environment variable with its URI set?")
        if isinstance(db, (str, PyMongoDatabase)):
            return MongoStorage(db, settings=self._settings)
        # mongomock is recognised by its module, so that it need not be imported in production.
        if type(db).__module__ in ("mongomock.database", "mongomock_ng.database"):
            return MockStorage(db)
        raise DefinitionError(
            f"set_db takes a MongoDB URI, a PyMongo or mongomock database or a Storage, not {type(db).__name__}"
        )

    @property
    def storage(self) -> Storage:
        """The adapter in use; DefinitionError before `set_db`."""
        if self._storage is None:
            raise DefinitionError(_UNSET)
        return self._storage

    @property
    def preparation(self) -> Preparation:
        """What is prepared in the database; DefinitionError before `set_db`."""
        if self._preparation is None:
            raise DefinitionError(_UNSET)
        return self._preparation

    @property
    def is_set(self) -> bool:
        """Whether there is an adapter."""
        return self._storage is not None

    @property
    def has_deadline(self) -> bool:
        """Whether this thread works under a deadline, such as that of a request."""
        return (self._scopes if self._storage is None else self._storage).scope is not UNLIMITED

    @property
    def is_nested(self) -> bool:
        """Whether this thread is in a transaction on this storage, of whichever gateway."""
        return self._local.attempt is not None or self.storage.in_transaction()

    def request_deadline(self) -> AbstractContextManager[Scope]:
        """Limit this thread's work in the block to the setting ``deadline``.

        Without a database it limits only time.
        """
        seconds = self._settings.deadline
        return Deadline(self._scopes, seconds) if self._storage is None else self._storage.deadline(seconds)

    @property
    def worker(self) -> JobWorker:
        """The worker for this database's jobs; DefinitionError before `set_db`."""
        if self._worker is None:  # Made at its first use: an app may still change settings.
            storage = self.storage
            # If one process has all data, there is no limit.
            limit = self._settings.inline_limit if storage.multi_process else math.inf
            self._worker = JobWorker(self.schemas, storage, limit, lambda keys: self._free(keys))
        return self._worker

    def run(
        self,
        operation: Callable[[Attempt], T],
        proof: tuple[str, Filter] | None = None,
        hot: Iterable[tuple[str, object]] = (),
    ) -> Done[T]:
        """Run an operation in a transaction, then work on its jobs.

        Jobs run after the outermost commit. ``operation`` may run several times; after three conflicts
        it leaves all fan-out to jobs, unless it is part of a larger transaction. If a document would be
        too large, the operation or the whole larger transaction runs again and checks sizes. ``proof`` and
        ``hot`` are those of `Storage.transaction`.
        """
        storage, limit, can, local = self.storage, self.worker.limit, abilities_of(self.storage), self._local
        attempts: list[Attempt] = []

        if (outer := local.attempt) is not None:

            def join() -> T:
                attempts.append(Attempt(self.schemas, can, limit, outer.size_checks, self.counts))
                result = operation(attempts[-1])
                outer.jobs |= attempts[-1].jobs
                outer.freed |= attempts[-1].freed
                return result

            try:
                return Done(storage.transaction(join, proof, hot), frozenset(attempts[-1].jobs))
            except GatewayError as error:
                local.stopped = local.stopped or error
                raise

        def begin(checks: SizeChecks) -> T:
            def run_once() -> T:
                crowded = len(attempts) >= CONFLICTS and limit < math.inf
                local.attempt = Attempt(self.schemas, can, 0 if crowded else limit, checks, self.counts)
                local.stopped = None  # a conflict of the attempt before says nothing about this one
                attempts.append(local.attempt)
                return operation(local.attempt)

            return storage.transaction(run_once, proof, (*hot, _CHECKING) if checks else hot)

        try:
            # Another gateway's transaction does not start over for us, so windows are measured at once there.
            first = SizeChecks.WINDOWS if storage.in_transaction() else _NO_CHECKS
            result = with_size_checks(storage, begin, first, lambda: local.stopped)
        finally:
            local.attempt = local.stopped = None  # they would keep all that the traceback names
        committed = attempts[-1]
        if not storage.in_transaction():  # one of another gateway may still fail
            if committed.freed:
                self._free(committed.freed)
            for relation, source, met in committed.renewed:
                self.counts.note(relation, source, met)
        drained = self._drained(committed.jobs)
        return Done(result, frozenset(drained.left), drained.deleted)

    def transact(self, fn: Callable[[], T], proof: tuple[str, Filter] | None = None) -> T:
        """Run operations as one; afterwards call what `after_commit` has noted.

        ``fn`` may run several times; ``proof`` is that of `Storage.transaction`.
        """
        if self.storage.in_transaction() or self.storage.commits.collects:
            return self.run(lambda _: fn()).result
        # A model first used in the transaction would make it begin again.
        self.preparation.prepare_soon(lambda: min(PREPARING, self.storage.scope.remaining() * PREPARING_SHARE))
        with self.storage.commits.collect() as begin_again:

            def attempt(_: Attempt) -> T:
                begin_again()
                with calling_anew():
                    return fn()

            return self.run(attempt, proof).result

    def _drained(self, keys: set[str]) -> Drained:
        """Work on jobs for a moment, or to the end where one process has all data."""
        if not keys:
            return Drained()
        if self.worker.waits:
            return Drained(left=keys)
        if not self.storage.multi_process:
            return self.worker.drain(sorted(keys), math.inf)
        if self.storage.in_transaction():  # another gateway's transaction on the same storage is not committed yet
            return Drained(left=keys)
        drained = self.worker.drain(sorted(keys), min(DRAIN, self.storage.scope.remaining() * DRAIN_SHARE))
        if drained.left and self._thread is not None:
            self._thread.wake()
        return drained

    def keep_bytes(
        self, model: str, field: str, free: Callable[[Collection[str]], None], attend: Callable[[], None]
    ) -> None:
        """Say that a text field of a model holds the key of bytes kept elsewhere.

        ``free`` gets the keys of deleted documents after the commit, unless the process dies before. The thread of the
        jobs calls ``attend`` now and then. Neither may raise. See `gatewayfw.files`.
        """
        self.schemas.bytes_keys[model] = field
        self._free, self._attend_bytes = free, attend

    def attend(self) -> float:
        """Do one round of the jobs' thread; return the seconds to rest until the next."""
        is_open = not self.storage.is_closed()
        if is_open:
            self.preparation.notice_drops()
        rest = self.worker.attend()
        self._attend_bytes()
        return min(rest, SHORT_PAUSE) if is_open and self.preparation.attend(SLICE) else rest

    def ready(self, name: str) -> Storage:
        """Return the storage, prepared for a model: definitions checked, indexes ensured.

        Raises:
            DefinitionError: a definition that the model depends on is wrong, no database is set, or greenlets have
                replaced the threads of this process.
        """
        if self._used_in != (pid := os.getpid()):  # a fork of a process that used it may have been patched since
            refuse_greenlets()
            self._used_in = pid
        storage, preparation = self.storage, self._preparation
        assert preparation is not None  # there is a storage; the property would cost each request more
        if not storage.multi_process:
            preparation.notice_drops()
        if preparation.done.get(name) != self.schemas.version:
            preparation.prepare([name])
        return storage


def _do_nothing(*_: object) -> None:
    """Do nothing, where no model has files."""


def _check_memory() -> None:
    """Refuse data in memory, or warn about it, where it would be lost."""
    server = multi_worker_server(os.environ, sys.modules, multiprocessing.current_process().name)
    verdict = judge_memory(os.environ, sys.modules, server)
    if verdict == "allow":
        return
    what = "it is lost when its process ends, and no other process, such as another worker, sees it"
    remedy = "give set_db a MongoDB URI, or memory=True if you want this"
    if verdict == "refuse":
        name = environment(os.environ)
        where = f"in the environment {name!r}" if name else f"under {server}"
        raise DefinitionError(f"set_db: data in memory is refused {where}: {what}; {remedy}")
    _LOG.warning("the data is in memory: %s; %s", what, remedy)
