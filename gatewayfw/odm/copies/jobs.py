"""Pending work: more copies than one transaction should write.

A job is written in the transaction of the change itself, so either both happened or neither.
Each change of a job, progress included, gives it a new ``token``, and progress and removal are
compare-and-set on it: a worker that was overtaken changes nothing, not even a later job of the same
key. A change of a source that is still being spread does not start the job over, which a steadily
changing one would never finish: it goes on, and once more around. Leases only keep workers from
doing the same work twice: what is right does not depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TypeVar, cast

from bson import ObjectId

from gatewayfw.errors import DuplicateKey
from gatewayfw.odm.copies.shares import Care
from gatewayfw.odm.ids import ordered
from gatewayfw.schemas import RelatedRelation, Relation
from gatewayfw.storage import Document, Index, Storage

COLLECTION = "_gw_jobs"
INDEXES = (Index((("id", 1),)),)
#: Seconds after which another worker may take a job over.
LEASE = 10.0

JobKind = Literal["copies", "removal", "windows"]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Job:
    """What is left to do for one source and one relation.

    Attributes:
        key: the job's ``_id``; one for copies or removal of a source in a relation, one for its windows.
        kind: ``copies`` brings a changed source to its holders, ``removal`` takes a deleted one out
            of them, ``windows`` sets the reverse relations of ``targets`` right.
        model: the model of the document whose change made the job.
        id: that document's ``_id``.
        relation: ``<holder model>.<relation>``.
        of: the model that the relation holds copies of.
        v: the source's version; of a deleted one, one that no copy of it reaches.
        token: another one after every change of the job.
        after: for ``copies`` and ``removal``, the last holder done; None at the start.
        waited: whether a source as new as ``v`` was waited for in vain.
        again: whether to go around once more at the end, because the source changed on the way.
        targets: for ``windows``, the ids still to be done, in this order.
        since: when the job was made, naive UTC.
        leased: until when a worker holds it, naive UTC; None when nobody does.
    """

    key: str
    kind: JobKind
    model: str
    id: ObjectId
    relation: str
    of: str
    v: int
    token: ObjectId
    after: object
    waited: bool
    again: bool
    targets: tuple[ObjectId, ...]
    since: datetime
    leased: datetime | None


class Jobs:
    """The jobs in one storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    # -- made and asked for inside transactions

    def put(
        self, kind: JobKind, source: tuple[str, ObjectId], relation: Relation, v: int, targets: Iterable[ObjectId] = ()
    ) -> str:
        """Write a job, or add to the one of the same source and relation; return its key."""
        model, id_ = source
        key = _key(model, id_, relation, kind)
        present = next(self._storage.find(COLLECTION, {"_id": key}, ["kind", "after", "targets"]), None)
        before: Document = present if present is not None and present["kind"] == kind else {}
        left = before.get("targets", [])
        told = {
            "kind": kind,
            "v": v,
            "token": ObjectId(),
            "after": before.get("after"),
            "waited": False,
            "again": before.get("after") is not None,
            "targets": [*left, *sorted(set(targets).difference(left))],
        }
        if present is None:
            names = {"model": model, "id": id_, "relation": _named(relation), "of": relation.schema_name}
            try:
                self._storage.insert(COLLECTION, [{"_id": key, **names, "since": now(), **told, "lease": None}])
            except DuplicateKey:
                if self._storage.has_transactions():
                    raise
                return self.put(kind, source, relation, v, targets)
        elif self._storage.update_one(COLLECTION, {"_id": key}, {"$set": told}, ()) is None:
            return self.put(kind, source, relation, v, targets)  # done meanwhile; only without transactions
        return key

    def blocked(self, model: str, ids: Collection[ObjectId]) -> list[ObjectId]:
        """Return those ids of a model with a pending job: no document may take them yet."""
        found = self._storage.find(COLLECTION, {"id": {"$in": list(ids)}, "model": model}, ["id"])
        return ordered({one["id"] for one in found})

    def covers_copy(self, relation: Relation, source_id: object) -> bool:
        """Tell whether a pending job will set a source's copies in a relation right."""
        wanted = {"id": source_id, "model": relation.schema_name, "relation": _named(relation)}
        return self._storage.count(COLLECTION, {**wanted, "kind": {"$ne": "windows"}}, 1) > 0

    def covers_reverse(self, reverse: RelatedRelation, target_id: object) -> bool:
        """Return whether a pending job will set a reverse relation of a target right."""
        wanted = {"kind": "windows", "relation": _named(reverse), "targets": target_id}
        return self._storage.count(COLLECTION, wanted, 1) > 0

    # -- asked for by workers

    def listed(self) -> list[Job]:
        """Return all pending jobs, oldest first."""
        return [_job(one) for one in self._storage.find(COLLECTION, {}, sort=[("since", 1), ("_id", 1)])]

    def claim(self, key: str, worker: str) -> Job | None:
        """Lease a job; None when it is done or another worker holds it."""
        free = [{"lease": None}, {"lease.until": {"$lt": now()}}, {"lease.worker": worker}]
        update = {"$set": {"lease": _lease(worker)}}
        found = self._storage.update_one(COLLECTION, {"_id": key, "$or": free}, update, None)
        return None if found is None else _job(found)

    def advance(self, job: Job, progress: Mapping[str, Any], worker: str) -> Job | None:
        """Note progress and renew the lease; None when the job has changed meanwhile.

        Progress is attributes of the job.
        """
        update = {"$set": {**progress, "token": ObjectId(), "lease": _lease(worker)}}
        found = self._storage.update_one(COLLECTION, _unchanged(job), update, None)
        return None if found is None else _job(found)

    def finish(self, job: Job) -> bool:
        """Remove a job that is done; False when it has changed meanwhile."""
        return self._storage.delete_many(COLLECTION, _unchanged(job)) > 0

    def release(self, key: str, worker: str) -> None:
        """Let other workers have a job at once."""
        self._storage.update_one(COLLECTION, {"_id": key, "lease.worker": worker}, {"$set": {"lease": None}}, ())


class Backlog:
    """How much one attempt of an operation may write itself, and the jobs it leaves.

    Attributes:
        limit: copies it may write itself; infinity where everything is written at once.
        keys: the jobs left; those of an attempt that failed do not exist.
        care: how much it does so that no document becomes too large.
        met: how many copies in a relation a change of a source met; true once it is committed.
    """

    def __init__(self, jobs: Jobs, limit: float = math.inf, care: Care = Care.NONE) -> None:
        self.jobs = jobs
        self.limit = limit
        self.care = care
        self.keys: set[str] = set()
        self.met: list[tuple[Relation, Document, int]] = []

    @property
    def bounded(self) -> bool:
        """Whether there is a limit at all."""
        return self.limit < math.inf

    def beyond(self, sizes: Mapping[K, int], already: int = 0) -> set[K]:
        """Return what must be left to jobs: the largest, until the rest keep the limit."""
        left, beyond = self.limit - already, set()
        for name in sorted(sizes, key=lambda one: sizes[one]):
            left -= sizes[name]
            if sizes[name] and left < 0:
                beyond.add(name)
        return beyond

    def leave(
        self, kind: JobKind, source: tuple[str, ObjectId], relation: Relation, v: int, targets: Iterable[ObjectId] = ()
    ) -> None:
        """Leave the work on one source and relation to a job."""
        self.keys.add(self.jobs.put(kind, source, relation, v, targets))


def _key(model: str, id_: ObjectId, relation: Relation, kind: JobKind) -> str:
    key = f"{model}:{id_}:{_named(relation)}"
    return f"{key}:windows" if kind == "windows" else key


def _named(link: Relation | RelatedRelation) -> str:
    """Return the name by which `Job.relation` knows a relation or its reverse."""
    return f"{link.model}.{link.name}" if isinstance(link, Relation) else f"{link.member}.{link.relation}"


def _unchanged(job: Job) -> dict[str, Any]:
    return {"_id": job.key, "token": job.token}


def now() -> datetime:
    """Return the time as jobs note it: naive UTC."""
    return datetime.now(timezone.utc).replace(tzinfo=None)


def _lease(worker: str) -> dict[str, Any]:
    return {"worker": worker, "until": now() + timedelta(seconds=LEASE)}


def _job(stored: Document) -> Job:
    lease = stored.get("lease")
    until = lease.get("until") if isinstance(lease, Mapping) else None
    return Job(
        key=stored["_id"],
        kind=cast(JobKind, stored["kind"]),
        model=stored["model"],
        id=stored["id"],
        relation=stored["relation"],
        of=stored["of"],
        v=stored["v"],
        token=stored["token"],
        after=stored["after"],
        waited=stored["waited"],
        again=stored["again"],
        targets=tuple(stored["targets"]),
        since=stored["since"],
        leased=until if until is not None and until > now() else None,
    )
