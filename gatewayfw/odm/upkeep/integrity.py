"""Find and repair embedded copies that differ from their sources.

Documents are read in batches and compared. A difference found there may be an unfinished write, so it
is confirmed in one transaction that reads the document and everything that decides it again. On a
standalone server, which has no transactions, stop the writers first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, final

from bson import ObjectId

from gatewayfw.errors import Conflict, StorageError, TooLarge
from gatewayfw.odm.copies.opt_outs import PARTS
from gatewayfw.odm.copies.rules import LOCK, HiddenField, assign, has_form, ids_in, merged
from gatewayfw.odm.hidden import HIDDEN, mend_hidden
from gatewayfw.odm.jobs.records import Job, JobKind
from gatewayfw.odm.sizes.budgets import SizeChecks
from gatewayfw.odm.upkeep.inspection import Inspector, Place, Report, walk
from gatewayfw.odm.upkeep.judgement import IS_DAMAGED
from gatewayfw.odm.upkeep.misfits import FitProgress, Fitting, Groups, Misfits, write_fit_note
from gatewayfw.odm.writing.plan.attempt import Attempt, abilities_of, with_size_checks
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.locks import lock_all
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.windows import emptied, refresh, settle
from gatewayfw.schemas import ModelSchema, Relation, Schemas
from gatewayfw.storage import Document, Storage

#: What is not right yet, by the kind of the job that will correct it.
_UNFINISHED: Mapping[JobKind, str] = {
    "copies": "some copies are old",
    "removal": "some copies are not removed",
    "windows": "some windows are old",
}
ProblemState = Literal["found", "mended", "needs a decision"]


@dataclass(frozen=True)
class Problem:
    """One embedded value that differs from its sources, or a job that is pending.

    Attributes:
        path: the relation or reverse relation; for one copy ``<relation>.<id>``; for a job ``<model>.<relation>`` of
            the copies, while ``model`` and ``id`` are those of the document whose change made it.
        pending: whether it is a job, which will correct any number of values. `Integrity.repair` leaves these to it.
        state: the result of `Integrity.repair`; always ``found`` from `Integrity.check`.
    """

    model: str
    id: object
    path: str
    reason: str
    pending: bool = False
    state: ProblemState = "found"


Progress = Callable[[Place], None]


@final
class Integrity:
    """The copies in one storage, compared with their sources."""

    def __init__(self, schemas: Schemas, storage: Storage) -> None:
        self._schemas = schemas
        self._storage = storage
        self._inspector = Inspector(schemas, storage)

    def check(self, *, after: Place | None = None, on_progress: Progress | None = None) -> Iterator[Problem]:
        """Yield every wrong copy, window and `single` reverse, and write nothing.

        For all that a pending job will correct, one problem names the job. Only one batch is in memory. After each
        batch, when all its problems have been yielded, ``on_progress`` is called with the place reached; give this
        place as ``after`` to continue from there.

        Commands: per batch of 500 documents one for them, one per related model and 500 sources,
        one per reverse relation, and one per document and window that is or should be there.

        Raises:
            NotFound: ``after`` names an unknown model.
            UsageError: inside a transaction, at the first step.
        """
        return self._run(self._checked, after, on_progress)

    def repair(
        self, *, delete_orphans: bool = False, after: Place | None = None, on_progress: Progress | None = None
    ) -> Iterator[Problem]:
        """Repair what `check` finds, one transaction per document; yield the new states.

        A repair that would lose data found nowhere else is not made; it needs a decision. That is so for a copy without
        a source in a required relation, a required relation without copies, more ids than the limit, several documents
        in a `single` relation, an undeclared field in a frozen copy, or something that is not a copy in a frozen
        relation. The same holds for a repair that the database refuses. What a pending job will correct is left to it,
        and one problem names the job; the windows of one document are recomputed together. Of a damaged hidden field
        what cannot be read is reset: counters go on from the clock, and windows that a document had opted out of list
        it again.

        With ``delete_orphans`` a document is deleted if no source of a required relation is left, together with all
        documents that require it; while other sources are left, only the copies without a source are removed.

        Raises:
            NotFound: ``after`` names an unknown model.
            UsageError: inside a transaction, at the first step.
        """
        return self._run(lambda schema, id_: self._mended(schema, id_, delete_orphans), after, on_progress)

    def misfits(
        self,
        model: str | None = None,
        *,
        after: Place | None = None,
        known: Sequence[Misfits] = (),
        on_progress: FitProgress | None = None,
    ) -> Iterator[Misfits]:
        """Yield what does not fit, in groups, of each model when it was read.

        A document fits if each pure field, relation and window has the declared form and what is required is there. All
        documents are read once, and changes meanwhile may be missed; jobs do not matter. Each model's number of misfits
        is noted in the database, for ``flask gateway doctor``; a note that the database refuses is left out.

        After each batch ``on_progress`` is called with the place reached and the groups of its model so far. Give these
        as ``after`` and ``known`` to continue from there.

        Raises:
            NotFound: ``model`` or ``after`` names an unknown model.
            UsageError: inside a transaction, or ``after`` is in another model; at the first step, as all.
        """
        schemas, counted = self._schemas, on_progress is not None
        judges = {name: Fitting(schemas, schema) for name, schema in schemas.get_schemas().items()}
        found = {name: Groups(name, known) for name in judges}

        def batches(schema: ModelSchema, last: object) -> Iterator[Sequence[Document]]:
            return self._inspector.batches(schema, last, judges[schema.name].paths)

        for schema, batch, place in walk(schemas, self._storage, batches, model, after, counted=counted):
            judge, groups = judges[schema.name], found[schema.name]
            for document in batch:
                groups.add(document["_id"], judge.misfits(document))
            if place is None:
                with suppress(StorageError):
                    write_fit_note(schemas, self._storage, schema, groups.all())
                yield from groups.all()
            elif on_progress is not None:
                on_progress(place, groups.all())

    def _run(
        self, act: Callable[[ModelSchema, object], list[Problem]], after: Place | None, on_progress: Progress | None
    ) -> Iterator[Problem]:
        told, counted = set[str](), on_progress is not None
        batches = self._inspector.batches
        for schema, batch, place in walk(self._schemas, self._storage, batches, None, after, counted=counted):
            if place is None:
                continue
            suspects, jobs = self._inspector.suspects(schema, batch)
            confirmed = chain.from_iterable(act(schema, id_) for id_ in suspects)
            for problem in chain(map(_job_problem, jobs), confirmed):
                if not problem.pending or repr(problem) not in told:
                    yield problem
                if problem.pending:
                    told.add(repr(problem))
            if on_progress is not None:
                on_progress(place)

    # -- in transactions

    def _checked(self, schema: ModelSchema, id_: object) -> list[Problem]:
        reports = self._storage.transaction(lambda: self._reports(schema, id_))
        return [problem for report in reports for problem in _problems(schema, id_, report)]

    def _reports(self, schema: ModelSchema, id_: object) -> list[Report]:
        found = self._storage.find(schema.name, {"_id": id_}, self._inspector.paths(schema))
        return [self._inspector.report(schema, document) for document in found]

    def _attempt(self, checks: SizeChecks) -> Attempt:
        return Attempt(self._schemas, abilities_of(self._storage), size_checks=checks)

    def _mended(self, schema: ModelSchema, id_: object, delete_orphans: bool) -> list[Problem]:
        damaged = mend_hidden(self._storage, schema.name, id_)
        if any(path == HIDDEN or path.split(".")[1] in PARTS for path in damaged):
            self._refresh_targets(schema, id_)
        mended = [Problem(schema.name, id_, path, IS_DAMAGED, state="mended") for path in damaged]
        try:
            first = SizeChecks.NONE if self._storage.has_transactions() else SizeChecks.WINDOWS
            return mended + with_size_checks(
                self._storage,
                lambda checks: self._storage.transaction(lambda: self._mend(schema, id_, delete_orphans, checks)),
                first,
            )
        except (Conflict, StorageError, TooLarge):
            # A unique index or the size limit refuses the right value.
            found = self._checked(schema, id_)
            return mended + [one if one.pending else replace(one, state="needs a decision") for one in found]

    def _mend(self, schema: ModelSchema, id_: object, delete_orphans: bool, checks: SizeChecks) -> list[Problem]:
        document = self._storage.touch(schema.name, {"_id": id_}, self._inspector.paths(schema), lock=LOCK)
        if document is None:
            return []
        report = self._inspector.report(schema, document, drops=delete_orphans)
        found = _problems(schema, id_, report)
        if delete_orphans and any(verdict.orphaned for verdict in report.verdicts.values()):
            apply(self._storage, delete(self._attempt(checks), schema, {"_id": id_}, cascade=True))
            return [Problem(schema.name, id_, one.path, one.reason, state="mended") for one in report.faults]
        attempt = self._attempt(SizeChecks.WINDOWS)
        apply(self._storage, lock_all(attempt, _copied(report)))
        effects, update = _effects(id_, report), _update(document, report)
        if checks and update:
            update = merged(update, emptied(attempt, schema, document, effects))
        if update:
            self._storage.update_one(schema.name, {"_id": id_}, update, ())
        apply(self._storage, settle(attempt, effects))
        # A window may lack even the room to note its share.
        left = {(fault.path, fault.reason) for report in self._reports(schema, id_) for fault in report.faults}
        mended = [one.mendable and (one.path, one.reason) not in left for one in report.faults]
        return [
            problem if problem.pending else replace(problem, state="mended" if is_mended else "needs a decision")
            for problem, is_mended in zip(found, mended, strict=True)
        ]

    def _refresh_targets(self, schema: ModelSchema, id_: object) -> None:
        """Recompute the windows that a document may be listed in again."""
        listing = [relation for relation in schema.relations.values() if relation.related_relations]
        for document in list(self._storage.find(schema.name, {"_id": id_}, [relation.name for relation in listing])):
            for relation in listing:
                with suppress(Conflict, StorageError, TooLarge):  # then the targets are found themselves
                    self._renew_windows(relation, ids_in(document.get(relation.name)))

    def _renew_windows(self, relation: Relation, ids: list[ObjectId]) -> None:
        attempt = self._attempt(SizeChecks.WINDOWS)
        self._storage.transaction(lambda: apply(self._storage, refresh(attempt, relation, ids)))


def _copied(report: Report) -> list[tuple[str, list[ObjectId]]]:
    """Return the sources of every value written, by model, to lock them.

    Otherwise a change of them might skip the current form of the document. Members of a window need no lock: their own
    changes touch the target.
    """
    verdicts, reverses = report.verdicts.items(), report.reverses.items()
    mended = [(relation, verdict) for relation, verdict in verdicts if verdict.mends and not relation.frozen]
    copied: list[tuple[str, object]] = [(relation.schema_name, verdict.copies) for relation, verdict in mended]
    copied += [(reverse.member, value) for reverse, value in reverses if reverse.type == "single"]
    return [(model, ids_in(value)) for model, value in copied]


def _problems(schema: ModelSchema, id_: object, report: Report) -> list[Problem]:
    return [
        _job_problem(one.job) if one.job else Problem(schema.name, id_, one.path, one.reason) for one in report.faults
    ]


def _job_problem(job: Job) -> Problem:
    return Problem(job.model, job.id, job.relation, _UNFINISHED[job.kind], pending=True)


def _update(document: Document, report: Report) -> dict[str, dict[str, Any]]:
    """Return the update that repairs a document, but for what `_effects` covers."""
    hidden = HiddenField(document)
    update: dict[str, dict[str, Any]] = {}
    for relation, verdict in report.verdicts.items():
        if verdict.mends and not has_form(relation.type, document.get(relation.name)):
            hidden.renote(relation)
        for id_, version in verdict.taken.items():
            hidden.set_at(relation.name, id_, version)
        hidden.forget(relation.name, verdict.gone)
        update = merged(update, verdict.update(relation))
    if not isinstance(document["_id"], ObjectId):  # nothing can embed it
        update = merged(update, *(assign(reverse.name, None) for reverse in report.reverses))
    return merged(update, hidden.update())


def _effects(id_: object, report: Report) -> Effects:
    effects = Effects()
    if not isinstance(id_, ObjectId):
        return effects
    for reverse, value in report.reverses.items():
        if reverse.type == "multiple":
            effects.recompute(reverse, id_)
        else:
            effects.claims[reverse, id_] = value
    return effects
