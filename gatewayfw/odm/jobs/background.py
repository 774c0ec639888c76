"""Work on jobs: the loop over them, and the thread that does so in the background."""

import logging
import math
import os
import random
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import final

from gatewayfw.errors import GatewayError, NotFound, Unavailable
from gatewayfw.logs import traceback_of
from gatewayfw.odm.jobs.fan_out import Drained, FanOut
from gatewayfw.odm.jobs.records import COLLECTION, Job, Jobs, needs_of
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Storage

_LOG = logging.getLogger("gatewayfw.odm")
#: Seconds between two searches for jobs that another process left behind.
PAUSE = 10.0
#: Seconds until the next search while a job is held or fails that may soon be due, or after a failure of the search.
SHORT_PAUSE = 1.0
#: Jobs that are looked up at once.
AT_ONCE = 100
#: Seconds one batch may take.
_STEP = 30.0
#: Extra seconds for a transaction, which does not start its commit with little time left.
_GRACE = 0.4
#: Seconds that must be left to start a batch at all.
_RESERVE = 0.02
#: Jobs in a row that may fail with `Unavailable` before the others are left, too.
_FAILURES = 3
#: What counts for a job that cannot be read: it rests as long as one that has failed often.
_HOPELESS = 10


@final
class JobWorker:
    """The worker for one storage's jobs; calls on any thread work independently.

    ``free`` gets the keys of bytes kept elsewhere, of documents that a cascade deleted.

    Attributes:
        limit: most copies that one transaction may write; infinity where everything is written at once.
        waits: whether jobs wait until somebody calls `work`.
    """

    def __init__(
        self, schemas: Schemas, storage: Storage, limit: float, free: Callable[[Collection[str]], object] = len
    ) -> None:
        self._schemas = schemas
        self._storage = storage
        self.limit = limit
        self.waits = False
        self.jobs = Jobs(storage)
        self._fan_out = FanOut(schemas, storage, free)

    def drain(self, keys: Iterable[str], seconds: float, on_progress: Callable[[Job], None] | None = None) -> Drained:
        """Work on jobs, and on those they make, for ``seconds``; running out is no error.

        ``on_progress`` gets a job after each of its batches, once progress is saved; an error it raises
        ends the call. Jobs that another worker holds, or whose models are not defined here, are left.
        A job that fails is left for later: the request's change is committed, so its reply must not
        fail because of later work.
        """
        worker, until = uuid.uuid4().hex, time.monotonic() + seconds
        drained, queue, failures = Drained(), deque(keys), 0
        while queue and failures < _FAILURES and until - time.monotonic() > _RESERVE:
            key = queue.popleft()
            batches = self._batches(key, worker, until, drained)
            try:
                for job in batches:
                    failures = 0
                    if on_progress is not None:
                        on_progress(job)
            except Unavailable:
                failures += 1
            finally:
                batches.close()
            queue.extend(sorted(drained.made))
            drained.made.clear()
        drained.left.update(queue)
        return drained

    def attend(self, on_progress: Callable[[Job], None] | None = None) -> float:
        """Work on all jobs due, unless the storage is closed; return the seconds to rest."""
        if self.waits or self._storage.is_closed():
            return PAUSE
        self._work(math.inf, on_progress)
        return SHORT_PAUSE if self.jobs.due_within(self.needs, PAUSE) else PAUSE

    @contextmanager
    def leave(self, beyond: int) -> Iterator[None]:
        """Let all jobs wait inside the block; a transaction writes ``beyond`` copies."""
        before = self.limit, self.waits
        self.limit, self.waits = beyond, True
        try:
            yield
        finally:
            self.limit, self.waits = before

    def work(self, seconds: float = math.inf, on_progress: Callable[[Job], None] | None = None) -> int:
        """Work on all jobs that are due for at most ``seconds``; return how many are left."""
        self._work(seconds, on_progress)
        return self.jobs.count()

    @property
    def needs(self) -> list[str]:
        """What the jobs that this worker can do ``need``."""
        return self._schemas.remembered(needs_of)

    def _work(self, seconds: float, on_progress: Callable[[Job], None] | None) -> None:
        until = time.monotonic() + seconds
        while until - time.monotonic() > _RESERVE and (keys := self.jobs.due(self.needs, AT_ONCE)):
            random.shuffle(keys)  # workers that look at once should not meet at each job
            if self.drain(keys, until - time.monotonic(), on_progress).left.issuperset(keys):
                return  # it goes on after a pause, though none of them can be put off

    def _batches(self, key: str, worker: str, until: float, drained: Drained) -> Generator[Job]:
        """Work on one job until it is done, lost or out of time; yield after each batch.

        Raises:
            Unavailable: the database does not answer in time. Other errors are the job's.
        """
        finished, failures, seconds = False, 0, 0.0
        try:
            while not finished and until - time.monotonic() > _RESERVE:
                job = self.jobs.claim(key, worker)
                relation = None if job is None else _relation_of(self._schemas, job)
                if job is None or relation is None:
                    failures = _HOPELESS
                    return
                while job is not None and not finished and until - time.monotonic() > _RESERVE:
                    failures = job.failures + 1  # unless this batch is a success
                    grace = 0.0 if job.kind == "copies" else _GRACE
                    seconds = min(_STEP, until - time.monotonic() + grace)
                    with self._storage.deadline(seconds):
                        progress = self._fan_out.run(job, relation, self.limit, drained)
                    failures = 0
                    if progress is None:
                        changed, finished = None, self.jobs.finish(job)
                    else:
                        changed = self.jobs.advance(job, progress, worker)
                    yield job
                    job = changed
        except Unavailable as error:
            failures = failures if seconds == _STEP else 0  # the batch had less time than it may need
            _LOG.info("job %s is left for later: %s", key, error.message)
            raise
        except Exception as error:
            _LOG.error("job %s failed\n%s", key, traceback_of(error))
        finally:
            if not finished:
                self._leave(key, worker, failures, drained)

    def _leave(self, key: str, worker: str, failures: int, drained: Drained) -> None:
        """Record that a job is left, unless it is gone, and release its lease."""
        try:
            self.jobs.release(key, worker, failures)
            if self._storage.count(COLLECTION, {"_id": key}, 1):
                drained.left.add(key)
        except GatewayError:
            drained.left.add(key)
            _LOG.debug("the lease of job %s will expire", key)


def _relation_of(schemas: Schemas, job: Job) -> Relation | None:
    """Return a job's relation; None if it is not defined here, or to another model.

    Its type, and whether it is optional, are those of the process that made the job.
    """
    model, _, name = job.relation.partition(".")
    try:
        relation = schemas.get_schema(model).relations.get(name)
    except NotFound:
        return None
    if relation is None or relation.schema_name != job.of:
        return None
    return replace(relation, type=job.type, optional=job.optional)


@final
class JobThread:
    """Calls ``work`` now and then, in a daemon thread, once it was started.

    ``work`` is a bound method that works on jobs and returns the seconds to rest. The thread has only a weak
    reference to it, and ends when its owner is collected.
    """

    def __init__(self, work: Callable[[], float]) -> None:
        self._work = weakref.WeakMethod(work, lambda _: self._wake.set())
        self._wake = threading.Event()
        self._pid = 0

    def start(self) -> None:
        """Start the thread unless this process has one: threads do not survive a fork."""
        if self._pid != os.getpid():
            self._pid, self._wake = os.getpid(), threading.Event()
            threading.Thread(target=_run, args=(self._work, self._wake), name="gatewayfw-jobs", daemon=True).start()

    def wake(self) -> None:
        """Make the thread of this process, if there is one, search at once."""
        if self._pid == os.getpid():
            self._wake.set()


def _run(owner: weakref.WeakMethod[Callable[[], float]], wake: threading.Event) -> None:
    pause = 0.0  # another process may have left jobs behind
    waits = False
    while True:
        wake.wait(pause)
        wake.clear()
        work = owner()
        if work is None:
            return
        try:
            pause = work()
            waits = False
        except GatewayError as error:
            if not waits:  # once per outage, not each second
                _LOG.warning("job worker paused: %s", error.message)
            pause, waits = SHORT_PAUSE, True
        except Exception as error:  # a dead thread would leave copies stale until the process ends
            _LOG.error("the work on jobs failed\n%s", traceback_of(error))
            pause = PAUSE
        del work
