"""Run jobs, which write a change to more copies than one transaction should.

Copies are written in plain batches, not in transactions: a transaction over many documents
starves while others write to one of them. This is safe because each holder notes the version of
each copy in ``_gw.at``: a batch skips copies that are as new as its own, so a late or
repeated batch does no harm. Windows are recomputed in small transactions from what is stored then.
"""

from __future__ import annotations

import logging
import math
import random
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar, final

from bson import ObjectId

from gatewayfw.errors import Conflict, GatewayError, NotFound, StorageError, TooLarge, Unavailable, ValidationError
from gatewayfw.logs import traceback_of
from gatewayfw.odm.copies.jobs import COLLECTION, Job, Jobs
from gatewayfw.odm.copies.rules import copy_of, holding, merged, older, pull_copy, unset_relation, version_of
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.ids import START, following
from gatewayfw.odm.reading.projection import copied_fields
from gatewayfw.odm.reading.revisions import RAISED
from gatewayfw.odm.sizes.budgets import Budget, holder_budget, most_bytes_before
from gatewayfw.odm.sizes.window_shares import SizeChecks
from gatewayfw.odm.writing.apply import apply
from gatewayfw.odm.writing.mending import mend_met
from gatewayfw.odm.writing.plan.attempt import Attempt, abilities_of, with_size_checks
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.odm.writing.plan.document import renew_with_room
from gatewayfw.odm.writing.plan.spread import renewal_of
from gatewayfw.odm.writing.plan.windows import refresh
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.terms import Filter, Update

T = TypeVar("T")
_LOG = logging.getLogger("gatewayfw.odm")
#: Rooms in one plain batch.
BATCH = 500
#: Targets in one transaction, and holders deleted between two saves of progress.
SLICE = 20
#: Seconds one batch may take.
_STEP = 30.0
#: Extra seconds for a transaction, which does not start its commit with little time left.
_GRACE = 0.4
#: Seconds that must be left to start a batch at all.
_RESERVE = 0.02
#: Seconds to wait until majority reads see a source.
VISIBLE = 5.0


#: Errors about one document that a retry does not help.
_REFUSALS = (Conflict, StorageError, TooLarge, ValidationError)
#: Jobs in a row that may fail with `Unavailable` before the others are left, too.
_FAILURES = 3


class _Renewal(NamedTuple):
    """One write to the holders of a source that have less than ``most`` bytes."""

    relation: Relation
    filter: Filter
    update: Update
    most: int | None


#: What one batch changed of the attributes of its job; None when nothing is left.
_Progress = Mapping[str, Any] | None


@dataclass
class Drained:
    """The outcome of a run over jobs.

    Attributes:
        left: the keys of the jobs that are left.
        made: the keys of new jobs from cascades, not started yet.
        deleted: how many documents cascades deleted, by model.
    """

    left: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    deleted: Counter[str] = field(default_factory=Counter)


@final
class Fanout:
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
        self._free = free
        self.waits = False
        self.jobs = Jobs(storage)
        #: Until when to wait for a source, by the key and version of its job; only while it is too old.
        self._waits_until: dict[tuple[str, int], float] = {}

    def drain(self, keys: Iterable[str], seconds: float, on_progress: Callable[[Job], None] | None = None) -> Drained:
        """Work on jobs, and on those they make, for ``seconds``; running out is no error.

        ``on_progress`` gets a job after each of its batches, once progress is saved; an error it raises
        ends the call. Jobs that another worker holds, or whose models are not defined here, are left.
        A job that fails is left for later: the request's change is committed, so its reply must not
        fail because of later work.
        """
        worker, until = uuid.uuid4().hex, time.monotonic() + seconds
        drained, queue, failures = Drained(), deque(keys), 0
        while queue and failures < _FAILURES:
            key = queue.popleft()
            batches = self._batches(key, worker, until, drained)
            try:
                while (job := _tried(batches, key)) is not None:
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

    def attend(self) -> int:
        """Work on all jobs, for a thread; a closed storage stays closed."""
        return 0 if self.waits or self._storage.is_closed() else self.work()

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
        """Work on all jobs for at most ``seconds``; return how many are left."""
        jobs = self.jobs.listed()
        keys = [job.key for job in jobs if self._relation(job) is not None]
        random.shuffle(keys)  # a stuck job must not hold up the same others every time
        return len(jobs) - len(keys) + len(self.drain(keys, seconds, on_progress).left)

    def _batches(self, key: str, worker: str, until: float, drained: Drained) -> Generator[Job]:
        """Work on one job until it is done, lost or out of time; yield after each batch."""
        finished = False
        try:
            while not finished and until - time.monotonic() > _RESERVE:
                job = self.jobs.claim(key, worker)
                relation = None if job is None else self._relation(job)
                if job is None or relation is None:
                    return
                while job is not None and not finished and until - time.monotonic() > _RESERVE:
                    grace = 0.0 if job.kind == "copies" else _GRACE
                    with self._storage.deadline(min(_STEP, until - time.monotonic() + grace)):
                        progress = self._step(job, relation, drained)
                    if progress is None:
                        changed, finished = None, self.jobs.finish(job)
                    else:
                        changed = self.jobs.advance(job, progress, worker)
                    yield job
                    job = changed
        finally:
            if not finished:
                self._leave(key, worker, drained)

    def _leave(self, key: str, worker: str, drained: Drained) -> None:
        """Record that a job is left, unless it is gone, and release its lease."""
        try:
            self.jobs.release(key, worker)
            if self._storage.count(COLLECTION, {"_id": key}, 1):
                drained.left.add(key)
        except GatewayError:
            drained.left.add(key)
            _LOG.debug("the lease of job %s will expire", key)

    def _relation(self, job: Job) -> Relation | None:
        """Return a job's relation; None if it is not defined here, or to another model.

        Its type, and whether it is optional, are those of the process that made the job.
        """
        model, _, name = job.relation.partition(".")
        try:
            relation = self._schemas.get_schema(model).relations.get(name)
        except NotFound:
            return None
        if relation is None or relation.schema_name != job.of:
            return None
        return replace(relation, type=job.type, optional=job.optional)

    def _step(self, job: Job, relation: Relation, drained: Drained) -> _Progress:
        """Run one batch of a job."""
        if job.kind == "windows":
            return self._windows(job, relation)
        if relation.frozen:
            return None  # it became frozen after the job was made
        if job.kind == "copies":
            return self._copies(job, relation)
        return self._removal(job, relation, drained)

    # -- copies

    def _copies(self, job: Job, relation: Relation) -> _Progress:
        source = self._source(job, relation)
        if source is None:
            return None
        ids, progress = self._holders(job, relation, BATCH)
        update, holds = renewal_of(self._schemas, relation, source)
        stale = older(relation, job.id, "$lt", max(job.v, version_of(source)))
        most = most_bytes_before(self._budget(relation.model), copy_of(source, copied_fields(self._schemas, relation)))
        renewal = _Renewal(relation, {**holds, **stale}, update, most)
        refused = self._each(relation.model, ids, lambda part: self._renew(renewal, part))
        for id_ in self._passed_over(renewal, ids) if most is not None else ():
            if id_ not in refused:
                self._each(relation.model, [id_], lambda part: self._make_room(renewal, part[0]))
        # Another tool put an older document in its place, so the next batch need not wait for a newer one.
        return progress and {**progress, "waited": version_of(source) < job.v}

    def _source(self, job: Job, relation: Relation) -> Document | None:
        """Read the current source, at least as new as the job; None if it is gone.

        If the primary has changed meanwhile, this waits a moment until the source is new enough. A wait that the
        deadline ends goes on in the next call.
        """
        key = (job.key, job.v)
        until = self._waits_until.setdefault(key, time.monotonic() + VISIBLE)
        fields = [*copied_fields(self._schemas, relation), f"{HIDDEN}.v"]
        while True:
            source = next(self._storage.find(job.model, {"_id": job.id}, fields, limit=1), None)
            if source is None or job.waited or version_of(source) >= job.v or time.monotonic() > until:
                self._waits_until.pop(key, None)
                return source
            time.sleep(0.01)

    def _holders(self, job: Job, relation: Relation, limit: int) -> tuple[list[object], _Progress]:
        """Return the next holders' ids, in MongoDB's order, and the progress after them."""
        ids: list[object] = []
        for filter in following(START if job.after is None else job.after):
            wanted = {f"{relation.name}._id": job.id, **filter}
            found = self._storage.find(relation.model, wanted, [], sort=[("_id", 1)], limit=limit - len(ids))
            ids += [holder["_id"] for holder in found]
            if len(ids) == limit:
                return ids, {"after": ids[-1]}
        return ids, {"after": None, "again": False} if job.again else None

    def _each(self, collection: str, ids: Sequence[T], change: Callable[[Sequence[T]], object]) -> list[T]:
        """Change documents together; skip and return those that the database refuses."""
        try:
            change(ids)
        except _REFUSALS as error:
            if mend_met(self._storage, error):
                return self._each(collection, ids, change)
            if len(ids) > 1:
                return [refused for id_ in ids for refused in self._each(collection, [id_], change)]
            _LOG.error("%s %s could not be updated and is stale: %s", collection, ids[0], error.message)
            return list(ids)
        return []

    def _update(
        self, relation: Relation, ids: Sequence[object], filter: Mapping[str, Any], update: dict[str, dict[str, Any]]
    ) -> None:
        if ids:
            self._storage.update_many(relation.model, {"_id": {"$in": list(ids)}, **filter}, update)

    def _passed_over(self, renewal: _Renewal, ids: Sequence[object]) -> list[object]:
        """Return the holders among these that were not renewed."""
        listed = {"_id": {"$in": list(ids)}, **renewal.filter}
        return [holder["_id"] for holder in self._storage.find(renewal.relation.model, listed, [])]

    def _renew(self, renewal: _Renewal, ids: Sequence[object]) -> None:
        """Renew copies in holders.

        If there is only one holder and it would be too large, its windows give way.
        """
        if not ids:
            return
        filter = {"_id": {"$in": list(ids)}, **renewal.filter}
        try:
            self._storage.update_many(renewal.relation.model, filter, renewal.update, most_bytes=renewal.most)
        except TooLarge:
            if len(ids) > 1:
                raise
            self._make_room(renewal, ids[0])

    def _make_room(self, renewal: _Renewal, id_: object) -> None:
        """Renew the copy in one holder, whose windows give way to it.

        Raises:
            TooLarge: even then the holder has no room for it.
        """
        filter = {"_id": id_, **renewal.filter}
        attempt = self._attempt(SizeChecks.WINDOWS)
        self._storage.transaction(
            lambda: apply(self._storage, renew_with_room(attempt, renewal.relation.model, filter, renewal.update))
        )

    def _attempt(self, checks: SizeChecks) -> Attempt:
        return Attempt(self._schemas, abilities_of(self._storage), self.limit, checks)

    def _budget(self, model: str) -> Budget | None:
        return holder_budget(self._schemas, model, self._storage.most_bytes)

    # -- removal

    def _removal(self, job: Job, relation: Relation, drained: Drained) -> _Progress:
        ids, progress = self._holders(job, relation, BATCH if relation.optional else SLICE)
        mine = older(relation, job.id, "$lte", job.v)
        held = {**holding(relation, job.id), **mine}
        listed = {**holding(replace(relation, type="multiple"), job.id), **mine}
        last = {f"{relation.name}.1": {"$exists": False}} if relation.type == "multiple" else {}
        others = {f"{relation.name}.1": {"$exists": True}}

        def emptied(part: Sequence[object]) -> None:
            self._update(relation, part, {**held, **last}, merged(unset_relation(relation), RAISED))

        def pulled(part: Sequence[object]) -> None:
            self._update(relation, part, {**listed, **others}, merged(pull_copy(relation, job.id), RAISED))

        def deleted(part: Sequence[object]) -> None:
            for id_ in part:
                self._delete(relation, {"_id": id_, **held, **last}, drained)

        changes = [emptied] if relation.optional else []
        changes += [pulled] if relation.type == "multiple" else []
        changes += [deleted] if not relation.optional else []
        refused = {repr(id_) for change in changes for id_ in self._each(relation.model, ids, change)}
        rest = [id_ for id_ in ids if repr(id_) not in refused]
        if not self._has(relation, rest, {f"{relation.name}._id": job.id, **mine}):
            return progress
        # Lists where a single copy is declared lose one of several. The rest of the other form is passed over.
        self._each(relation.model, rest if relation.type == "single" else (), pulled)
        # Updates may have skipped a list that grew or shrank meanwhile: then the same holders again.
        return {} if self._has(relation, rest, held) else progress

    def _has(self, relation: Relation, ids: Sequence[object], filter: Mapping[str, Any]) -> bool:
        """Tell whether one of these holders matches."""
        return bool(ids) and self._storage.count(relation.model, {"_id": {"$in": ids}, **filter}, 1) > 0

    def _delete(self, relation: Relation, filter: dict[str, Any], drained: Drained) -> None:
        """Delete a holder that requires its source, with the same procedure."""
        schema = self._schemas.get_schema(relation.model)

        def write(checks: SizeChecks) -> tuple[dict[str, int] | None, Attempt]:
            attempt = self._attempt(checks)
            return apply(self._storage, delete(attempt, schema, filter, True)), attempt

        counts, attempt = with_size_checks(
            self._storage, lambda checks: self._storage.transaction(lambda: write(checks))
        )
        if counts is not None:
            if attempt.freed:
                self._free(attempt.freed)
            drained.deleted.update({relation.model: 1})
            drained.deleted.update(counts)
            drained.made.update(attempt.jobs)

    # -- windows

    def _windows(self, job: Job, relation: Relation) -> _Progress:
        ids, rest = job.targets[:SLICE], job.targets[SLICE:]

        def refreshed(part: Sequence[ObjectId]) -> None:
            attempt = self._attempt(SizeChecks.WINDOWS)
            self._storage.transaction(lambda: apply(self._storage, refresh(attempt, relation, part)))

        self._each(relation.schema_name, ids, refreshed)
        return {"targets": list(rest)} if rest else None


def _tried(batches: Iterator[Job], key: str) -> Job | None:
    """Return a job after its next batch.

    Returns None if it ended, or failed in a way that does not concern other jobs.

    Raises:
        Unavailable: the database does not answer in time.
    """
    try:
        return next(batches, None)
    except Unavailable as error:
        _LOG.info("job %s is left for later: %s", key, error.message)
        raise
    except Exception as error:
        _LOG.error("job %s failed\n%s", key, traceback_of(error))
        return None
