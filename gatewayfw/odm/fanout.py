"""Working jobs off: bringing a change to more copies than one transaction should write.

Copies are written in plain batches, not in transactions: a transaction over many documents
starves while others write to one of them. What makes that safe is the version each holder notes
of each copy, ``_gw.at``: a batch passes over copies that are as new as its own, so a late or
repeated one does no harm. Windows are recomputed in small transactions from what is stored then.
"""

from __future__ import annotations

import enum
import logging
import math
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, final

from bson import ObjectId

from gatewayfw.errors import GatewayError, NotFound, TooLarge, Unavailable
from gatewayfw.odm.deletes import Deletes
from gatewayfw.odm.jobs import COLLECTION, Backlog, Job, Jobs
from gatewayfw.odm.snapshots import HIDDEN, Hidden, older, out_path, place, renewal, version_path
from gatewayfw.odm.targets import Targets
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Document, Storage

_LOG = logging.getLogger("gatewayfw.odm")
#: Holders in one plain batch.
BATCH = 500
#: Targets in one transaction, and holders deleted between two notes of progress.
SLICE = 20
#: Seconds one batch may take.
_STEP = 30.0
#: Seconds a transaction may take longer: it is not begun to commit with little time left.
_GRACE = 0.4
#: Seconds that must be left for a batch to be started at all.
_RESERVE = 0.02
#: Seconds to wait for a source to be visible to majority reads.
_VISIBLE = 5.0


class _Done(enum.Enum):
    DONE = enum.auto()


_DONE = _Done.DONE
#: What one batch says: the last id done (None: none yet), or that nothing is left.
_Step = ObjectId | None | Literal[_Done.DONE]


@dataclass
class Drained:
    """What became of jobs: the keys of those left, and how many documents cascades deleted, by model."""

    left: set[str] = field(default_factory=set)
    deleted: Counter[str] = field(default_factory=Counter)


@final
class Fanout:
    """A worker on the jobs of one storage. Each call is a worker of its own, on any thread."""

    def __init__(self, schemas: Schemas, storage: Storage, limit: float) -> None:
        self._schemas = schemas
        self._storage = storage
        self._limit = limit
        self._targets = Targets(schemas, storage)
        self.jobs = Jobs(storage)

    def drain(self, keys: Iterable[str], seconds: float, on_progress: Callable[[Job], None] | None = None) -> Drained:
        """Work on jobs, and on those they make, for at most ``seconds``; running out is no error.

        Jobs that another worker holds, or whose models are not defined here, are left.
        """
        worker, until = uuid.uuid4().hex, time.monotonic() + seconds
        drained, queue = Drained(), list(keys)
        while queue:
            key = queue.pop(0)
            try:
                made = self._work(key, worker, until, drained, on_progress)
            except Unavailable as error:
                _LOG.info("job %s is left for later: %s", key, error.message)
                drained.left.update(queue)
                self._leave(key, worker, drained)
                break
            except Exception:
                # What a request changed is committed: its reply must not fail for what comes after it.
                _LOG.exception("job %s failed", key)
                self._leave(key, worker, drained)
                continue
            queue.extend(sorted(made))
        return drained

    def work(self, seconds: float = math.inf, on_progress: Callable[[Job], None] | None = None) -> int:
        """Work on all jobs there are, for at most ``seconds``; return how many are left."""
        return len(self.drain([job.key for job in self.jobs.listed()], seconds, on_progress).left)

    def _leave(self, key: str, worker: str, drained: Drained) -> None:
        """Note that a job is left, and let other workers have it."""
        drained.left.add(key)
        try:
            self.jobs.release(key, worker)
        except GatewayError:
            _LOG.debug("the lease of job %s will expire", key)

    def _work(
        self,
        key: str,
        worker: str,
        until: float,
        drained: Drained,
        on_progress: Callable[[Job], None] | None,
    ) -> set[str]:
        """Work on one job until it is done, lost or out of time; return the keys of jobs it made."""
        made: set[str] = set()
        while until - time.monotonic() > _RESERVE:
            job = self.jobs.claim(key, worker)
            relation = None if job is None else self._relation(job)
            if job is None or relation is None:
                break
            while job is not None:
                if until - time.monotonic() < _RESERVE:
                    self._leave(key, worker, drained)
                    return made
                grace = 0.0 if job.kind == "copies" else _GRACE
                with self._storage.deadline(min(_STEP, until - time.monotonic() + grace)):
                    step = self._step(job, relation, made, drained.deleted)
                if on_progress is not None:
                    on_progress(job)
                if step is not _DONE:
                    job = self.jobs.advance(job, step, worker)
                elif self.jobs.finish(job):
                    return made
                else:
                    job = None
        if self._storage.count(COLLECTION, {"_id": key}, 1):
            self._leave(key, worker, drained)
        return made

    def _relation(self, job: Job) -> Relation | None:
        """Return the relation a job is about; None when this process does not define it."""
        model, _, name = job.relation.partition(".")
        try:
            return self._schemas.get_schema(model).relations.get(name)
        except NotFound:
            return None

    def _step(self, job: Job, relation: Relation, made: set[str], deleted: Counter[str]) -> _Step:
        """Do one batch of a job; return the last id done, or that nothing is left."""
        if job.kind == "windows":
            return self._windows(job, relation)
        if job.kind == "copies":
            return self._copies(job, relation)
        return self._removal(job, relation, made, deleted)

    # -- copies

    def _copies(self, job: Job, relation: Relation) -> _Step:
        source = self._source(job, relation)
        ids = self._holders(job, relation, BATCH) if source is not None else []
        if source is None or not ids:
            return _DONE
        update, holds = renewal(relation, source, self._targets.source_fields(relation))
        stale = older(relation, job.id, "$lt", Hidden(source).v)
        self._update(relation, ids, {**holds, **stale}, update)
        return ids[-1]

    def _source(self, job: Job, relation: Relation) -> Document | None:
        """Read the source as it is now, at least as new as the job; None when it is gone."""
        until = time.monotonic() + _VISIBLE
        fields = [*self._targets.source_fields(relation), f"{HIDDEN}.v"]
        while True:
            source = next(self._storage.find(job.model, {"_id": job.id}, fields, limit=1), None)
            if source is None or Hidden(source).v >= job.v:
                return source
            if time.monotonic() > until:
                raise Unavailable()
            time.sleep(0.01)

    def _holders(self, job: Job, relation: Relation, limit: int) -> list[ObjectId]:
        """Return the ids of the next holders, ascending."""
        wanted: dict[str, Any] = {f"{relation.name}._id": job.id}
        if job.after is not None:
            wanted["_id"] = {"$gt": job.after}
        found = self._storage.find(relation.model, wanted, [], sort=[("_id", 1)], limit=limit)
        return [holder["_id"] for holder in found]

    def _update(
        self, relation: Relation, ids: Sequence[ObjectId], filter: dict[str, Any], update: dict[str, dict[str, Any]]
    ) -> None:
        """Change holders in one command; one that would grow beyond the database's limit keeps its copy."""
        try:
            self._storage.update_many(relation.model, {"_id": {"$in": list(ids)}, **filter}, update)
        except TooLarge:
            if len(ids) > 1:
                for id_ in ids:
                    self._update(relation, [id_], filter, update)
            else:
                _LOG.error("%s %s would become too large: its copy stays stale", relation.model, ids[0])

    # -- removal

    def _removal(self, job: Job, relation: Relation, made: set[str], deleted: Counter[str]) -> _Step:
        ids = self._holders(job, relation, BATCH if relation.optional else SLICE)
        if not ids:
            return _DONE
        mine = older(relation, job.id, "$lte", job.v)
        _path, holds = place(relation.name, relation.type == "multiple", job.id)
        holding = {**holds, **mine}
        last = {f"{relation.name}.1": {"$exists": False}} if relation.type == "multiple" else {}
        if relation.optional:
            self._update(relation, ids, {**holding, **last}, _emptied(relation))
        if relation.type == "multiple":
            self._update(relation, ids, {**holding, f"{relation.name}.1": {"$exists": True}}, _pulled(relation, job.id))
        if not relation.optional:
            for id_ in ids:
                self._delete(relation, {"_id": id_, **holding, **last}, made, deleted)
        # A list that was growing or shrinking meanwhile may have been passed over by both.
        missed = self._storage.count(relation.model, {"_id": {"$in": ids}, **holding}, 1)
        if missed:
            return job.after
        return ids[-1]

    def _delete(self, relation: Relation, filter: dict[str, Any], made: set[str], deleted: Counter[str]) -> None:
        """Delete a holder that cannot be without its source, by the same procedure."""
        schema = self._schemas.get_schema(relation.model)

        def attempt() -> tuple[dict[str, int] | None, Backlog]:
            backlog = Backlog(self.jobs, self._limit)
            return Deletes(self._schemas, self._storage, backlog).delete(schema, filter, True), backlog

        counts, backlog = self._storage.transaction(attempt)
        if counts is not None:
            deleted.update({relation.model: 1})
            deleted.update(counts)
            made.update(backlog.keys)

    # -- windows

    def _windows(self, job: Job, relation: Relation) -> _Step:
        ids = job.targets[job.done : job.done + SLICE]
        if not ids:
            return _DONE
        self._storage.transaction(lambda: self._targets.refresh(relation, ids))
        return ids[-1]


def _emptied(relation: Relation) -> dict[str, dict[str, Any]]:
    """Return the update that takes a relation out of a holder, with all that is noted of it."""
    noted = (relation.name, f"{HIDDEN}.at.{relation.name}", f"{HIDDEN}.out.{relation.name}")
    return {"$unset": dict.fromkeys(noted, "")}


def _pulled(relation: Relation, source_id: ObjectId) -> dict[str, dict[str, Any]]:
    """Return the update that takes one of several copies out of a holder, with what is noted of it."""
    outs = [out_path(reverse) for reverse in relation.related_relations.values() if reverse.type == "multiple"]
    return {
        "$pull": {relation.name: {"_id": source_id}, **dict.fromkeys(outs, source_id)},
        "$unset": {version_path(relation, source_id): ""},
    }
