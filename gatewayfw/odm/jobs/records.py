"""Jobs: copies left to write because they are too many for one transaction.

A job is written in the transaction of the change itself, so both happen or neither does.
Each change of a job, progress included, gives it a new ``token``, and progress and removal compare and
set it. So a worker that was overtaken changes nothing, not even a later job with the same key. If a source
changes while its job is running, the job does not start over, because it would never finish for a source
that changes all the time: it continues and then goes around once more. Leases only keep workers from
doing the same work twice; correctness does not depend on them.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from bson import ObjectId

from gatewayfw.errors import DuplicateKey
from gatewayfw.odm.ids import ordered
from gatewayfw.schemas import RelatedRelation, Relation, Schemas
from gatewayfw.schemas.relations import Cardinality
from gatewayfw.storage import Document, Index, Storage

COLLECTION = "_gw_jobs"
#: By source, by what a worker can do now, by age.
INDEXES = (Index((("id", 1),)), Index((("needs", 1), ("lease.until", 1))), Index((("since", 1),)))
#: Seconds after which another worker may take a job over.
LEASE = 10.0
#: Most seconds until a job that failed is tried again; at first it is one second, then twice as many each time.
MOST_REST = 300.0
#: The most jobs that `Jobs.pending` counts: it is told as "at least".
MOST_COUNTED = 1_000
#: Sources whose jobs are looked for at once.
SOURCES = 500
_EPOCH = datetime(1970, 1, 1)

JobKind = Literal["copies", "removal", "windows"]


@dataclass(frozen=True)
class Job:
    """The work left for one source and one relation.

    Attributes:
        key: the job's ``_id``; copies and removal of a source in a relation of one type share one, windows have
            another.
        kind: ``copies`` writes a changed source to its holders, ``removal`` takes a deleted one out
            of them, ``windows`` corrects the reverse relations of ``targets``.
        model: the model of the document whose change made the job.
        id: that document's ``_id``, an ObjectId if others embed it.
        relation: ``<holder model>.<relation>``.
        of: the model that the relation holds copies of.
        type: the type of the relation in the process that made the job, which goes for whoever works on it.
        optional: likewise, whether the relation was optional there.
        v: the source's version; for a deleted source, a version above that of every copy.
        token: a new value after every change of the job.
        after: for ``copies`` and ``removal``, the last finished holder; None at the start.
        waited: whether the job waited in vain for a source as new as ``v``.
        again: whether to go around once more at the end, because the source changed meanwhile.
        targets: for ``windows``, the ids left to do, in this order.
        since: when the job was made, naive UTC.
        failures: how often in a row it has failed.
        leased: until when a worker holds it, naive UTC; None if nobody holds it.
    """

    key: str
    kind: JobKind
    model: str
    id: Any
    relation: str
    of: str
    type: Cardinality
    optional: bool
    v: int
    token: ObjectId
    after: object
    waited: bool
    again: bool
    targets: tuple[ObjectId, ...]
    since: datetime
    failures: int
    leased: datetime | None


class Jobs:
    """The jobs in one storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    # -- made and asked for inside transactions

    def put(
        self, kind: JobKind, source: tuple[str, ObjectId], relation: Relation, v: int, targets: Iterable[ObjectId] = ()
    ) -> str:
        """Write a job or extend the one for this source and relation; return its key."""
        model, id_ = source
        key = _key(model, id_, relation, kind)
        present = next(self._storage.find(COLLECTION, {"_id": key}, ["kind", "after", "targets", "lease"]), None)
        before: Document = present if present is not None and present.get("kind") == kind else {}
        left = before.get("targets", [])
        told = {
            "kind": kind,
            "needs": _needed(kind, _named(relation), relation.schema_name),
            "type": relation.type,
            "optional": relation.optional,
            "v": v,
            "token": ObjectId(),
            "after": before.get("after"),
            "waited": False,
            "again": before.get("after") is not None,
            "targets": [*left, *sorted(set(targets).difference(left))],
            "failures": 0,
        }
        if present is None:
            names = {"model": model, "id": id_, "relation": _named(relation), "of": relation.schema_name}
            try:
                self._storage.insert(COLLECTION, [{"_id": key, **names, "since": now(), **told, "lease": None}])
                return key
            except DuplicateKey:
                if self._storage.has_transactions():
                    raise
        else:
            rested = {} if _worker_of(present) else {"lease": None}  # a job that failed is tried again at once
            if self._storage.update_one(COLLECTION, {"_id": key}, {"$set": {**told, **rested}}, ()) is not None:
                return key
        return self.put(kind, source, relation, v, targets)  # another process was faster; only without transactions

    def blocked(self, model: str, ids: Collection[ObjectId]) -> list[ObjectId]:
        """Return the ids with a pending job, which no new document may take yet."""
        found = self._storage.find(COLLECTION, {"id": {"$in": list(ids)}, "model": model}, ["id"])
        return ordered({one["id"] for one in found if isinstance(one["id"], ObjectId)})

    def of_copies(self, relation: Relation, source_ids: Iterable[ObjectId]) -> Mapping[ObjectId, list[Job]]:
        """Return the jobs about copies of these sources in a relation, by source."""
        found: dict[ObjectId, list[Job]] = {}
        wanted = {"model": relation.schema_name, "relation": _named(relation), "kind": {"$ne": "windows"}}
        ids = sorted(source_ids)
        for start in range(0, len(ids), SOURCES):
            part = {"id": {"$in": ids[start : start + SOURCES]}}
            for job in map(_job, self._storage.find(COLLECTION, {**part, **wanted})):
                if job is not None:
                    found.setdefault(job.id, []).append(job)
        return found

    def of_windows(self, reverse: RelatedRelation, target_ids: Collection[ObjectId]) -> Mapping[ObjectId, list[Job]]:
        """Return the jobs about a reverse relation of these targets, by target."""
        found: dict[ObjectId, list[Job]] = {}
        wanted = {"needs": _needed("windows", _named(reverse), reverse.target), "targets": {"$in": list(target_ids)}}
        for job in map(_job, self._storage.find(COLLECTION, wanted)):
            if job is not None:
                for id_ in set(target_ids).intersection(job.targets):
                    found.setdefault(id_, []).append(job)
        return found

    # -- asked for by workers

    def listed(self) -> list[Job]:
        """Return all pending jobs, oldest first, but the `unreadable` ones."""
        found = self._storage.find(COLLECTION, {}, sort=[("since", 1), ("_id", 1)])
        return [job for one in found if (job := _job(one)) is not None]

    def unreadable(self) -> Iterator[Any]:
        """Yield the ``_id`` of each document here that this version cannot read.

        Another version or another tool wrote it. Nothing else is done with it.
        """
        return (one["_id"] for one in self._storage.find(COLLECTION, {}, sort=[("_id", 1)]) if _job(one) is None)

    def pending(self, before: datetime | None = None) -> tuple[int, datetime | None]:
        """Return how many jobs there are, and when the oldest was made, naive UTC.

        Counting stops at `MOST_COUNTED`. With ``before``, a naive UTC time, only those that were made until then count.
        """
        dated = {"since": {"$gte": _EPOCH, **({} if before is None else {"$lte": before})}}
        oldest = next(self._storage.find(COLLECTION, dated, ["since"], sort=[("since", 1)], limit=1), None)
        return (0, None) if oldest is None else (self._storage.count(COLLECTION, dated, MOST_COUNTED), oldest["since"])

    def count(self) -> int:
        """Return how many jobs there are, whoever can do them."""
        return self._storage.count(COLLECTION, {"since": {"$gte": _EPOCH}})

    def due(self, needs: Sequence[str], most: int) -> list[str]:
        """Return the keys of jobs that may be claimed, at most so many, in any order.

        ``needs`` is what the worker knows, see `needs_of`. Others are not even looked at. The search begins at a random
        one, so that many jobs of one relation do not hold up the others.
        """
        first, keys = random.randrange(len(needs) or 1), list[str]()
        for part in (needs[first:], needs[:first]):
            if part and len(keys) < most:
                free = {"needs": {"$in": list(part)}, "lease.until": {"$not": {"$gt": now()}}}
                keys += [one["_id"] for one in self._storage.find(COLLECTION, free, [], limit=most - len(keys))]
        return keys

    def due_within(self, needs: Sequence[str], seconds: float) -> bool:
        """Tell whether the lease or rest of a job ends so soon."""
        soon = {"$gt": now(), "$lte": now() + timedelta(seconds=seconds)}
        return self._storage.count(COLLECTION, {"needs": {"$in": list(needs)}, "lease.until": soon}, 1) > 0

    def held(self, needs: Sequence[str]) -> dict[str, ObjectId]:
        """Return the tokens of the jobs that workers hold, by key."""
        wanted = {"needs": {"$in": list(needs)}, "lease.until": {"$gt": now()}, "lease.worker": {"$ne": None}}
        return {one["_id"]: one["token"] for one in self._storage.find(COLLECTION, wanted, ["token"])}

    def wake(self, needs: Sequence[str]) -> None:
        """Let jobs that have failed be tried again at once."""
        resting = {"needs": {"$in": list(needs)}, "lease.until": {"$gt": now()}, "lease.worker": None}
        self._storage.update_many(COLLECTION, resting, {"$set": {"lease": None}})

    def claim(self, key: str, worker: str) -> Job | None:
        """Lease a job; return None if it is done or another worker holds it."""
        update = {"$set": {"lease": lease_of(worker, LEASE)}}
        found = self._storage.update_one(COLLECTION, claimable(key, worker), update, None)
        return None if found is None else _job(found)

    def advance(self, job: Job, progress: Mapping[str, Any], worker: str) -> Job | None:
        """Save progress and renew the lease; None if the job has changed meanwhile.

        Progress is given as attributes of the job.
        """
        update = {"$set": {**progress, "token": ObjectId(), "failures": 0, "lease": lease_of(worker, LEASE)}}
        found = self._storage.update_one(COLLECTION, _unchanged(job), update, None)
        return None if found is None else _job(found)

    def finish(self, job: Job) -> bool:
        """Remove a finished job; return False if it has changed meanwhile."""
        return self._storage.delete_many(COLLECTION, _unchanged(job)) > 0

    def release(self, key: str, worker: str, failures: int = 0) -> None:
        """End the lease: others may claim the job at once, or after a rest if it failed.

        Each failure in a row doubles the rest, from one second to `MOST_REST`. A change of the job ends it.
        """
        rest = {"failures": failures, "lease": lease_of(None, min(2.0 ** min(failures - 1, 9), MOST_REST))}
        released: Document = rest if failures else {"lease": None}
        self._storage.update_one(COLLECTION, {"_id": key, "lease.worker": worker}, {"$set": released}, ())


def needs_of(schemas: Schemas) -> list[str]:
    """Return the ``needs`` of all jobs that a process with these definitions can do.

    What they say begins with the kind: a version that writes jobs differently names their kind differently.
    """
    relations = [relation for schema in schemas.get_schemas().values() for relation in schema.relations.values()]
    return [_needed(kind, _named(one), one.schema_name) for one in relations for kind in get_args(JobKind)]


def _needed(kind: str, relation: str, of: str) -> str:
    """Return what a process must know to do a job; one index field says it all."""
    return f"{kind} {relation} {of}"


def _key(model: str, id_: ObjectId, relation: Relation, kind: JobKind) -> str:
    named = id_ if isinstance(id_, ObjectId) else repr(id_)
    return f"{model}:{named}:{_named(relation)}:{'windows' if kind == 'windows' else relation.type}"


def _named(link: Relation | RelatedRelation) -> str:
    """Return the name of a relation, or of a reverse's relation, in `Job.relation`."""
    return f"{link.model}.{link.name}" if isinstance(link, Relation) else f"{link.member}.{link.relation}"


def _unchanged(job: Job) -> dict[str, Any]:
    return {"_id": job.key, "token": job.token}


def now() -> datetime:
    """Return the current time as jobs store it: naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def lease_of(worker: str | None, seconds: float) -> dict[str, Any]:
    """Return what keeps workers off a job: another one, or nobody where it has failed."""
    return {"worker": worker, "until": now() + timedelta(seconds=seconds)}


def claimable(key: str, worker: str) -> dict[str, Any]:
    """Return the filter of what a worker may lease: nobody else has a lease of it."""
    return {"_id": key, "$or": [{"lease.until": {"$not": {"$gt": now()}}}, {"lease.worker": worker}]}


def _worker_of(stored: Document) -> object:
    lease = stored.get("lease")
    return lease.get("worker") if isinstance(lease, Mapping) else None


#: The parts of a stored job that are attributes of `Job` as they are, and their types.
_PARTS: Mapping[str, type] = {
    "kind": str,
    "model": str,
    "id": object,
    "relation": str,
    "of": str,
    "type": str,
    "optional": bool,
    "v": int,
    "token": ObjectId,
    "after": object,
    "waited": bool,
    "again": bool,
    "since": datetime,
    "failures": int,
}


def _job(stored: Document) -> Job | None:
    """Parse a stored job; return None if a part is missing."""
    named = {name: stored[name] for name in _PARTS if name in stored}
    parts: dict[str, Any] = {name: part for name, part in named.items() if isinstance(part, _PARTS[name])}
    key, targets = stored["_id"], stored.get("targets")
    if not (parts.keys() == _PARTS.keys() and isinstance(key, str) and isinstance(targets, list)):
        return None
    if parts["kind"] not in get_args(JobKind) or parts["type"] not in get_args(Cardinality):
        return None
    if stored.get("needs") != _needed(parts["kind"], parts["relation"], parts["of"]):
        return None
    if parts["kind"] != "windows" and not isinstance(parts["id"], ObjectId):
        return None
    until = stored["lease"].get("until") if _worker_of(stored) is not None else None
    leased = until if isinstance(until, datetime) and until > now() else None
    return Job(key=key, targets=tuple(targets), leased=leased, **parts)
