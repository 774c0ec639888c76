"""Find the jobs that will correct what documents embed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, final

from bson import ObjectId

from gatewayfw.odm.copies.rules import has_form, ids_in
from gatewayfw.odm.ids import following, key_of
from gatewayfw.odm.jobs.records import Job, Jobs
from gatewayfw.schemas import RelatedRelation, Relation
from gatewayfw.schemas.models import Link
from gatewayfw.storage import Document, Storage


@final
class Pending:
    """The jobs about a batch of documents, read at the first question about a link.

    They are read after the documents: then a job that has still to come to a document corrects what was read there,
    also outside a transaction.
    """

    def __init__(self, storage: Storage, model: str, documents: Sequence[Document]) -> None:
        self._storage = storage
        self._model = model
        self._documents = documents
        self._jobs: dict[Link, Mapping[ObjectId, Sequence[Job]]] = {}
        self._passed: dict[str, set[Hashable]] = {}

    def of_copy(
        self, relation: Relation, document: Mapping[str, Any], source_id: ObjectId, version: int, is_gone: bool
    ) -> Job | None:
        """Return a job that will renew a copy, or remove it if its source is gone.

        ``version`` is that of the copy, which is older than that of a source that is there.
        """
        if relation not in self._jobs:
            ids = {id_ for one in self._documents for id_ in ids_in(one.get(relation.name))}
            self._jobs[relation] = Jobs(self._storage).of_copies(relation, ids)
        for job in self._jobs[relation].get(source_id, ()):
            if concerns(job, relation, document, version, is_gone) and key_of(document["_id"]) not in self._done(job):
                return job
        return None

    def of_window(self, reverse: RelatedRelation, target_id: object) -> Job | None:
        """Return a job that will recompute a reverse relation of a target."""
        if reverse not in self._jobs:
            ids = [one["_id"] for one in self._documents if isinstance(one["_id"], ObjectId)]
            self._jobs[reverse] = Jobs(self._storage).of_windows(reverse, ids)
        jobs = self._jobs[reverse].get(target_id, ()) if isinstance(target_id, ObjectId) else ()
        return next(iter(jobs), None)

    def _done(self, job: Job) -> set[Hashable]:
        """Return the keys of the documents that a job does not come to again."""
        if job.again or job.after is None:
            return set()
        if job.key not in self._passed:
            ids = [one["_id"] for one in self._documents]
            left = {"_id": {"$in": ids}, "$or": list(following(job.after))}
            coming = {key_of(one["_id"]) for one in self._storage.find(self._model, left, [])}
            self._passed[job.key] = {key_of(id_) for id_ in ids} - coming
        return self._passed[job.key]


def concerns(job: Job, relation: Relation, document: Mapping[str, Any], version: int, is_gone: bool) -> bool:
    """Tell whether a job changes the copy of its source when it comes to a document."""
    if job.kind != ("removal" if is_gone else "copies") or (is_gone and version > job.v):
        return False
    return has_form(job, document.get(relation.name))
