"""Read documents and everything that decides what they embed, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from bson import ObjectId, json_util

from gatewayfw.errors import UsageError
from gatewayfw.odm.copies.rules import copy_of, has_form, ids_in, single_reverse, window_query
from gatewayfw.odm.hidden import HIDDEN, cuts_of, examine
from gatewayfw.odm.ids import START, following, key_of, pages
from gatewayfw.odm.jobs.records import Job, Jobs
from gatewayfw.odm.reading.projection import copied_fields, source_of
from gatewayfw.odm.sizes.budgets import fills
from gatewayfw.odm.upkeep.judgement import DIFFERS_FROM_MEMBERS, IS_DAMAGED, Fault, Judge, Verdict, same, same_copies
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.schemas.models import Link
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.documents import encode

#: Documents asked for at once.
BATCH = 500
#: Copies after which a batch ends, however few its documents are.
MOST_COPIES = 20_000
#: Bytes of documents after which a batch ends.
MOST_BYTES = 32 * 1024 * 1024

_JSON = json_util.JSONOptions(json_mode=json_util.JSONMode.CANONICAL, tz_aware=False)

#: Documents by model and ``_id``.
_Around = Mapping[str, Mapping[Any, Document]]


@dataclass
class Report:
    """The faults of one document, and the right values of its links."""

    faults: list[Fault] = field(default_factory=list)
    verdicts: dict[Relation, Verdict] = field(default_factory=dict)
    reverses: dict[RelatedRelation, Any] = field(default_factory=dict)


class Inspector:
    """Reads the documents of one storage and judges what they embed."""

    def __init__(self, schemas: Schemas, storage: Storage) -> None:
        self._schemas = schemas
        self._storage = storage

    def paths(self, schema: ModelSchema) -> list[str]:
        """Return the fields of a model that hold copies, and the hidden one."""
        return [*self._schemas.links(schema.name), HIDDEN]

    def batches(
        self, schema: ModelSchema, last: object = START, paths: Sequence[str] | None = None
    ) -> Iterator[Sequence[Document]]:
        """Yield a model's documents after an ``_id``, in order, with `paths` or others."""
        fields = self.paths(schema) if paths is None else paths
        return pages(lambda filter: self._batch(schema, filter, fields), lambda document: document["_id"], last)

    def _batch(self, schema: ModelSchema, filter: Mapping[str, Any], fields: Sequence[str]) -> list[Document]:
        batch, copies, size = [], 0, 0
        for document in self._storage.find(schema.name, filter, fields, sort=[("_id", 1)], limit=BATCH):
            batch.append(document)
            copies += sum(len(value) for value in document.values() if isinstance(value, list))
            size += len(encode(document))
            if copies > MOST_COPIES or size > MOST_BYTES:
                break
        return batch

    def suspects(self, schema: ModelSchema, batch: Sequence[Document]) -> tuple[list[object], list[Job]]:
        """Return the ids of a batch's documents that look wrong, as unfinished writes do.

        Documents of which jobs will correct all are not among them; these jobs are the second result.
        """
        around = self._around(schema, batch)
        windows = [one for one in self._schemas.get_related_relations(schema.name).values() if one.type == "multiple"]
        idle = {reverse: self._without_members(reverse, batch) for reverse in windows}
        pending = Pending(self._storage, schema.name, batch)
        suspects: list[object] = []
        jobs: dict[str, Job] = {}
        for document in batch:
            found = [fault.job for fault in self._report(schema, document, around, idle, pending).faults]
            if None in found:
                suspects.append(document["_id"])
            else:
                jobs.update((job.key, job) for job in found if job is not None)
        return suspects, list(jobs.values())

    def report(self, schema: ModelSchema, document: Document, drops: bool = False) -> Report:
        """Judge one document, read with `paths`; for a certain answer, in a transaction.

        With ``drops`` dangling copies may be dropped from required relations, too.
        """
        pending = Pending(self._storage, schema.name, [document])
        return self._report(schema, document, self._around(schema, [document]), {}, pending, drops)

    # -- judging

    def _report(
        self,
        schema: ModelSchema,
        document: Document,
        around: _Around,
        idle: Mapping[RelatedRelation, set[ObjectId]],
        pending: Pending,
        drops: bool = False,
    ) -> Report:
        report = Report([Fault(path, IS_DAMAGED) for path in examine(document)[1]])
        for relation in schema.relations.values():
            sources = around.get(relation.schema_name, {})
            fields, pure = copied_fields(self._schemas, relation), source_of(self._schemas, relation).pure
            judge = Judge(relation, fields, pure, sources, pending.of_copy, drops or relation.optional)
            report.verdicts[relation] = judge.verdict(document)
            report.faults += report.verdicts[relation].faults
        for reverse, value in self._wrong_reverses(schema, document, around, idle).items():
            job = pending.of_window(reverse, document["_id"])
            report.faults.append(Fault(reverse.name, DIFFERS_FROM_MEMBERS, True, job))
            if job is None:
                report.reverses[reverse] = value
        return report

    def _wrong_reverses(
        self, schema: ModelSchema, document: Document, around: _Around, idle: Mapping[RelatedRelation, set[ObjectId]]
    ) -> dict[RelatedRelation, Any]:
        """Return a document's wrong reverses; those in ``idle`` have no members."""
        wrong: dict[RelatedRelation, Any] = {}
        for reverse in self._schemas.get_related_relations(schema.name).values():
            found, id_ = document.get(reverse.name), document["_id"]
            if reverse.type == "single":
                member = next((around[reverse.member].get(one) for one in ids_in(found)), None)
                copy = single_reverse(reverse, copied_fields(self._schemas, reverse), id_, member)
                if found is not None and (copy is None or not same(found, copy)):
                    wrong[reverse] = copy
            elif document.get(reverse.name, []) == [] and key_of(id_) in idle.get(reverse, ()):
                continue
            elif not self._is_window(reverse, document):
                wrong[reverse] = None
        return wrong

    def _is_window(self, reverse: RelatedRelation, document: Document) -> bool:
        """Tell whether a document holds the complete window, or the prefix in its share."""
        found, id_ = document.get(reverse.name, []), document["_id"]
        if not isinstance(found, list):
            return False
        there = self._members(reverse, id_, len(found) + 1) if isinstance(id_, ObjectId) else []
        if len(there) <= len(found):
            return same_copies(found, there)
        share = cuts_of(document).get(reverse.name)
        return share is not None and same_copies(found, there[:-1]) and fills(found, there[-1], share)

    # -- reading

    def _members(self, reverse: RelatedRelation, target_id: ObjectId, most: int) -> list[Document]:
        query = window_query(reverse, copied_fields(self._schemas, reverse), target_id, most)
        if query is None:
            return []
        found = self._storage.find(query.collection, query.filter, query.fields, sort=query.sort, limit=query.limit)
        return [copy_of(member, query.fields) for member in found]

    def _around(self, schema: ModelSchema, documents: Iterable[Document]) -> _Around:
        """Read sources, not those of frozen copies, and members of `single` reverses."""
        ids: dict[str, set[ObjectId]] = {}
        fields: dict[str, set[str]] = {}
        for link in self._schemas.links(schema.name).values():
            if link.type == "multiple" if isinstance(link, RelatedRelation) else link.frozen:
                continue
            model = source_of(self._schemas, link).name
            extra = f"{HIDDEN}.v" if isinstance(link, Relation) else f"{link.relation}._id"
            fields.setdefault(model, set()).update(copied_fields(self._schemas, link), [extra])
            for document in documents:
                ids.setdefault(model, set()).update(ids_in(document.get(link.name)))
        return {model: self._found(model, sorted(ids[model]), sorted(fields[model])) for model in ids}

    def _found(self, model: str, ids: list[ObjectId], fields: list[str]) -> dict[Any, Document]:
        found: dict[Any, Document] = {}
        for start in range(0, len(ids), BATCH):
            part = ids[start : start + BATCH]
            found.update((one["_id"], one) for one in self._storage.find(model, {"_id": {"$in": part}}, fields))
        return found

    def _without_members(self, reverse: RelatedRelation, batch: Sequence[Document]) -> set[ObjectId]:
        """Return a batch's ids without window or members, as far as one query tells."""
        ids = {one["_id"] for one in batch if one.get(reverse.name, []) == [] and isinstance(one["_id"], ObjectId)}
        path = f"{reverse.relation}._id"
        if not ids:
            return ids
        found = list(self._storage.find(reverse.member, {path: {"$in": sorted(ids)}}, [path], limit=BATCH))
        if len(found) == BATCH:
            return set()
        return ids.difference(*(ids_in(member.get(reverse.relation)) for member in found))


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
    return has_form(job.type, document.get(relation.name))


# -- through all documents, from where an earlier run has ended


@dataclass(frozen=True)
class Place:
    """How far a run has come, as plain JSON: ``Place(**stored)`` goes on from there.

    Attributes:
        model: the current model.
        last: the ``_id`` of its last finished document, as MongoDB's extended JSON; ValueError if it is not.
        done: finished documents of all models.
        total: documents of all models when the run began, for a progress bar.
    """

    model: str
    last: str
    done: int
    total: int

    def __post_init__(self) -> None:
        numbers = type(self.done) is int and type(self.total) is int
        if not (numbers and isinstance(self.model, str) and isinstance(self.last, str)):
            raise ValueError("a place has a model, its last _id, and two numbers of documents")
        self.last_id()

    def last_id(self) -> object:
        """Return ``last`` as an ``_id``; ValueError if it is not extended JSON."""
        try:
            return json_util.loads(self.last, json_options=_JSON)
        except Exception as error:  # bson raises TypeError, KeyError and its own errors
            raise ValueError("last is not an _id in extended JSON") from error


#: Gives a model's documents after an ``_id``, in batches.
Batches = Callable[[ModelSchema, object], Iterator[Sequence[Document]]]


def walk(
    schemas: Schemas, storage: Storage, batches: Batches, model: str | None, after: Place | None, *, counted: bool
) -> Iterator[tuple[ModelSchema, Sequence[Document], Place | None]]:
    """Yield each batch of the documents of one model, or all, with the place reached.

    At the end of each model comes an empty batch without a place. ``counted`` says that `Place.total` is wanted.

    Raises:
        NotFound: ``model`` or ``after`` names an unknown model.
        UsageError: inside a transaction, or ``after`` is in another model; at the first step, as all.
    """
    if storage.in_transaction():
        raise UsageError("odm.integrity: not inside a transaction")
    models = list(schemas.get_schemas().values()) if model is None else [schemas.get_schema(model)]
    done, last = (0, START) if after is None else (after.done, after.last_id())
    total = sum(storage.count(schema.name, {}) for schema in models) if counted else 0
    if after is not None:
        first = schemas.get_schema(after.model)
        if first not in models:
            raise UsageError(f"odm.integrity: the place is in model {after.model!r}")
        models = models[models.index(first) :]
    for schema in models:
        for batch in batches(schema, last):
            done += len(batch)
            reached = json_util.dumps(batch[-1]["_id"], json_options=_JSON)
            yield schema, batch, Place(schema.name, reached, done, total)
        yield schema, (), None
        last = START
