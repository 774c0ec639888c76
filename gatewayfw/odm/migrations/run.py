"""Run migrations: in batches, through the write path, with a lease."""

import math
import time
import uuid
from collections.abc import Callable, Sequence
from typing import final

from gatewayfw import messages
from gatewayfw.errors import Conflict, DuplicateKey, GatewayError, StorageError, TooLarge, UsageError
from gatewayfw.odm.database import Database
from gatewayfw.odm.jobs.records import now
from gatewayfw.odm.migrations.batches import Visited, count_left, find_misfits, places
from gatewayfw.odm.migrations.changes import WRITTEN_SINCE, Reason, decide
from gatewayfw.odm.migrations.declaration import Migration, check_gone
from gatewayfw.odm.migrations.plans import MigrationPlan, Outcome, make_plan
from gatewayfw.odm.notes import MIGRATIONS, MigrationNote, MigrationNotes
from gatewayfw.odm.operations.walk import MOST, Begin, Ids, Pace, Walk, of_ids
from gatewayfw.schemas import Schemas
from gatewayfw.storage import Storage
from gatewayfw.storage.terms import Filter

#: Errors about one document that others need not share.
_REFUSALS = (DuplicateKey, TooLarge, StorageError)
Progress = Callable[[Outcome], object]


@final
class Migrations:
    """The migrations of one gateway."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._schemas: Schemas = database.schemas

    def chosen(self, only: str | None = None) -> list[Migration]:
        """Return what is declared, in order, or the one of a name; UsageError without it."""
        declared = self._schemas.migrations()
        if only is None:
            return [*declared.values()]
        if only not in declared:
            raise UsageError(f"migrate: no migration is named {only!r}; there are: {', '.join(declared) or 'none'}")
        return [declared[only]]

    def noted(self) -> dict[str, MigrationNote]:
        """Return what is noted in the database, by name."""
        return MigrationNotes(self._database.storage).all()

    def plan(self, migration: Migration) -> MigrationPlan:
        """Return what a run would find; it changes nothing."""
        return make_plan(self._database, self._look(migration), migration)

    def run(self, migration: Migration, on_progress: Progress = lambda _: None) -> Outcome:
        """Run one migration to its end; what it finds at the end is what is left.

        ``on_progress`` is called after each batch. An error that it raises, or Ctrl-C, ends the run between two
        batches; the next one goes on from there.

        Raises:
            UsageError: inside a transaction, or a unique index over an old name is there.
            DefinitionError: the model has an old name again.
            Conflict: another process runs it.
        """
        self._look(migration)
        storage = self._database.ready(migration.model)
        self._database.preparation.prepare_collection(MIGRATIONS, ())
        refuse_unique(storage, migration)
        outcome = _MigrationRun(self._database, migration, storage, on_progress).run()
        if not outcome.left:
            self._database.preparation.build_waiting(migration.model)
        return outcome

    def count(self, migration: Migration) -> int:
        """Return how many documents are left to change."""
        return count_left(self._schemas, self._look(migration), migration)

    def _look(self, migration: Migration) -> Storage:
        """Return the storage to look at documents in it; build nothing."""
        if self._database.is_nested:
            raise UsageError("odm.migrate: not inside a transaction")
        schema = self._schemas.get_schema(migration.model)
        for name in migration.retired or ():
            check_gone(self._schemas, schema, name, f"migration {migration.name!r}")
        self._schemas.validate(migration.model)
        return self._database.storage


def refuse_unique(storage: Storage, migration: Migration) -> None:
    """Refuse to take a name away that a unique index is over.

    The second document without it would be a duplicate.

    Raises:
        UsageError: there is such an index; the text has the command that drops it.
    """
    for index in storage.indexes(migration.model) if migration.retired else ():
        named = [name for name, _ in index.keys if name in (migration.retired or ())]
        if named and index.unique and not index.passes_over_absent:
            drop = f'db.{migration.model}.dropIndex("{index.options.get("name", "")}")'
            raise UsageError(
                f"migration {migration.name!r}: a unique index over {named[0]!r} would refuse the second document"
                f" without it; when no old process runs, drop it: {drop}"
            )


def _reason(error: GatewayError) -> Reason:
    """Return why the database refused a document, unlike what clients are told."""
    return str(error.__cause__ or error.message) if isinstance(error, StorageError) else error.message


@final
class _MigrationRun:
    """One run of one migration, which has the lease of it."""

    def __init__(self, database: Database, migration: Migration, storage: Storage, on_progress: Progress) -> None:
        self._database = database
        self._migration = migration
        self._storage = storage
        self._on_progress = on_progress
        self._worker = uuid.uuid4().hex
        self._notes = MigrationNotes(storage)
        self._outcome = Outcome(migration.name, migration.model)

    def run(self) -> Outcome:
        """Run it, and note how it ended."""
        migration, outcome, schemas = self._migration, self._outcome, self._database.schemas
        self._claim()
        try:
            outcome.total = count_left(schemas, self._storage, migration)
            if outcome.total:
                for place in places(schemas, self._storage, migration):
                    self._walk(*place)
                self._find_left()
            self._notes.end(migration.name, self._worker, migration.model, outcome.left)
            return outcome
        finally:
            self._notes.release(migration.name, self._worker)

    def _find_left(self) -> None:
        """Count what is left; of ``convert`` list it, too, as a change may be in part."""
        migration, outcome, schemas = self._migration, self._outcome, self._database.schemas
        if migration.kind != "convert":
            outcome.left = count_left(schemas, self._storage, migration)
            return
        refused = {repr(one["_id"]): one["reason"] for one in outcome.listed}
        outcome.listed = []
        for one in find_misfits(schemas, self._storage, migration):
            outcome.left += 1
            reason = decide(schemas, migration, one)
            told = reason if isinstance(reason, Reason) else refused.get(repr(one["_id"]), WRITTEN_SINCE)
            outcome.list(one["_id"], told)

    def _claim(self) -> None:
        """Lease the migration; a dead process's lease is waited for, which takes seconds."""
        until = self._notes.claim(self._migration.name, self._worker)
        if until is not None:
            time.sleep(max(0.0, (until - now()).total_seconds()) + 0.1)
            until = self._notes.claim(self._migration.name, self._worker)
        if until is not None:
            raise Conflict(messages.MIGRATION_RUNS.format(name=self._migration.name))

    def _walk(self, model: str, wanted: Filter, begin: Begin[Visited]) -> None:
        """Change all documents that match at the start, in batches."""
        most = MOST if self._storage.has_transactions() else 1
        pace = Pace(remaining=self._storage.scope.remaining, most=most)
        walk = Walk(self._database, model, wanted, pace)
        for page in walk.pages():
            self._change(walk, pace, self._left_of(page), begin)

    def _left_of(self, page: Ids) -> Ids:
        """Return the documents of a page that are left to change; of ``convert`` not all."""
        migration = self._migration
        if migration.kind != "convert":
            return page
        of_page = of_ids(migration.condition, {"$in": list(page)})
        left = find_misfits(self._database.schemas, self._storage, migration, of_page)
        return [one["_id"] for one in left]

    def _change(self, walk: Walk, pace: Pace, ids: Ids, begin: Begin[Visited]) -> None:
        """Change documents; those of a batch that is refused are tried alone, and listed."""
        while ids:
            try:
                for done, batch in walk.batches([ids], begin, bool):
                    ids = ids[len(done) :]
                    self._note(done, batch.result)
                    self._drain(batch.pending)
            except _REFUSALS as error:
                refused, ids = ids[: pace.size], ids[pace.size :]
                if len(refused) == 1:
                    self._note(refused, [_reason(error)])
                    continue
                for id_ in refused:
                    self._change(walk, pace, [id_], begin)

    def _note(self, ids: Ids, results: Sequence[Visited]) -> None:
        for id_, one in zip(ids, results, strict=True):
            if isinstance(one, Reason):
                self._outcome.list(id_, one)
        changed = sum(one is True for one in results)
        self._outcome.changed += changed
        if self._notes.claim(self._migration.name, self._worker, changed) is not None:
            raise Conflict(messages.MIGRATION_RUNS.format(name=self._migration.name))
        self._on_progress(self._outcome)

    def _drain(self, pending: frozenset[str]) -> None:
        """Let copies follow before the next batch, but those that others work on."""
        worker = self._database.worker
        if pending and not worker.waits:
            worker.drain(sorted(pending), math.inf)
