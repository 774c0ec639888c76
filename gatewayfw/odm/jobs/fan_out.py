"""Write a change to more copies than one transaction should, in batches.

Copies are written in plain batches, not in transactions: a transaction over many documents
starves while others write to one of them. This is safe because each holder notes the version of
each copy in ``_gw.at``: a batch skips copies that are as new as its own, so a late or
repeated batch does no harm. Windows are recomputed in small transactions from what is stored then.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, final

from bson import ObjectId

from gatewayfw.errors import Conflict, StorageError, TooLarge, ValidationError
from gatewayfw.odm.copies.rules import (
    copy_of,
    holding,
    merged,
    older,
    pull_copy,
    renewal_of,
    unset_relation,
    version_of,
)
from gatewayfw.odm.hidden import HIDDEN, RAISED, mend_met
from gatewayfw.odm.ids import START, following
from gatewayfw.odm.jobs.records import Job
from gatewayfw.odm.reading.projection import copied_fields
from gatewayfw.odm.sizes.budgets import SizeChecks, holder_budget, most_bytes_before
from gatewayfw.odm.writing.plan.attempt import Attempt, abilities_of, with_size_checks
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.odm.writing.plan.steps import Plan, apply
from gatewayfw.odm.writing.plan.windows import refresh, renew_with_room
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.terms import Filter, Update

T = TypeVar("T")
_LOG = logging.getLogger("gatewayfw.odm")
#: Holders in one plain batch.
BATCH = 500
#: Targets in one transaction, and holders deleted between two saves of progress.
SLICE = 20
#: Seconds to wait until majority reads see a source.
VISIBLE = 5.0
#: Errors about one document that a retry does not help.
_REFUSALS = (Conflict, StorageError, TooLarge, ValidationError)
#: What one batch changed of the attributes of its job; None when nothing is left.
Progress = Mapping[str, Any] | None


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
class FanOut:
    """Carries out the batches of one storage's jobs, on any thread.

    ``free`` gets the keys of bytes kept elsewhere, of documents that a cascade deleted.
    """

    def __init__(self, schemas: Schemas, storage: Storage, free: Callable[[Collection[str]], object]) -> None:
        self._schemas = schemas
        self._storage = storage
        self._free = free
        #: Until when to wait for a source, by the key and version of its job; only while it is too old.
        self._waits_until: dict[tuple[str, int], float] = {}

    def run(self, job: Job, relation: Relation, limit: float, drained: Drained) -> Progress:
        """Run one batch of a job; ``limit`` bounds the copies that a transaction writes.

        What a cascade deletes, and the jobs that it makes, are added to ``drained``.
        """
        if job.kind == "windows":
            return self._windows(job, relation)
        if relation.frozen:
            return None  # it became frozen after the job was made
        if job.kind == "copies":
            return self._copies(job, relation)
        return self._removal(job, relation, limit, drained)

    # -- copies

    def _copies(self, job: Job, relation: Relation) -> Progress:
        source = self._source(job, relation)
        if source is None:
            return None
        ids, progress = self._holders(job, relation, BATCH)
        update, holds = renewal_of(self._schemas, relation, source)
        stale = older(relation, job.id, "$lt", max(job.v, version_of(source)))
        budget = self._schemas.remembered(holder_budget, relation.model, self._storage.most_bytes)
        most = most_bytes_before(budget, copy_of(source, copied_fields(self._schemas, relation)))

        def wanted(part: Sequence[object]) -> Filter:
            return {"_id": {"$in": list(part)}, **holds, **stale}

        def make_room(part: Sequence[object]) -> None:  # the windows of this single holder give way
            self._apply(
                lambda attempt: renew_with_room(attempt, relation.model, {**wanted(part), "_id": part[0]}, update)
            )

        def renew(part: Sequence[object]) -> None:
            try:
                self._storage.update_many(relation.model, wanted(part), update, most_bytes=most)
            except TooLarge:
                if len(part) > 1:
                    raise
                make_room(part)

        refused = self._each(relation.model, ids, renew)
        passed_over = [] if most is None else list(self._storage.find(relation.model, wanted(ids), []))
        for holder in passed_over:
            if holder["_id"] not in refused:
                self._each(relation.model, [holder["_id"]], make_room)
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

    def _holders(self, job: Job, relation: Relation, limit: int) -> tuple[list[object], Progress]:
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
            if ids:
                change(ids)
        except _REFUSALS as error:
            if mend_met(self._storage, error):
                return self._each(collection, ids, change)
            if len(ids) > 1:
                return [refused for id_ in ids for refused in self._each(collection, [id_], change)]
            _LOG.error("%s %s could not be updated and is stale: %s", collection, ids[0], error.message)
            return list(ids)
        return []

    def _apply(self, plan: Callable[[Attempt], Plan[object]]) -> None:
        """Apply a plan that measures windows, in a transaction."""
        attempt = Attempt(self._schemas, abilities_of(self._storage), size_checks=SizeChecks.WINDOWS)
        self._storage.transaction(lambda: apply(self._storage, plan(attempt)))

    # -- removal

    def _removal(self, job: Job, relation: Relation, limit: float, drained: Drained) -> Progress:
        ids, progress = self._holders(job, relation, BATCH if relation.optional else SLICE)
        mine = older(relation, job.id, "$lte", job.v)
        held = {**holding(relation, job.id), **mine}
        listed = {**holding(replace(relation, type="multiple"), job.id), **mine}
        last = {f"{relation.name}.1": {"$exists": False}} if relation.type == "multiple" else {}
        others = {f"{relation.name}.1": {"$exists": True}}

        def update(part: Sequence[object], filter: Filter, change: Update) -> None:
            self._storage.update_many(relation.model, {"_id": {"$in": list(part)}, **filter}, merged(change, RAISED))

        def emptied(part: Sequence[object]) -> None:
            update(part, {**held, **last}, unset_relation(relation))

        def pulled(part: Sequence[object]) -> None:
            update(part, {**listed, **others}, pull_copy(relation, job.id))

        def deleted(part: Sequence[object]) -> None:
            for id_ in part:
                self._delete(relation, {"_id": id_, **held, **last}, limit, drained)

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
        return bool(ids) and self._storage.count(relation.model, {"_id": {"$in": ids}, **filter}, 1) > 0

    def _delete(self, relation: Relation, filter: Filter, limit: float, drained: Drained) -> None:
        schema = self._schemas.get_schema(relation.model)

        def write(checks: SizeChecks) -> tuple[dict[str, int] | None, Attempt]:
            attempt = Attempt(self._schemas, abilities_of(self._storage), limit, checks)
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

    def _windows(self, job: Job, relation: Relation) -> Progress:
        ids, rest = job.targets[:SLICE], job.targets[SLICE:]

        def refreshed(part: Sequence[ObjectId]) -> None:
            self._apply(lambda attempt: refresh(attempt, relation, part))

        self._each(relation.schema_name, ids, refreshed)
        return {"targets": list(rest)} if rest else None
