"""Run migrations: in batches, through the write path, with a lease."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, final

from gatewayfw import messages
from gatewayfw.errors import Conflict, DuplicateKey, StorageError, TooLarge, UsageError
from gatewayfw.odm.database import Database
from gatewayfw.odm.ids import pages
from gatewayfw.odm.jobs.records import now
from gatewayfw.odm.migrations.changes import Reason, decide, frozen_copy
from gatewayfw.odm.migrations.declaration import Migration, check_gone
from gatewayfw.odm.migrations.notes import COLLECTION, MigrationNote, MigrationNotes
from gatewayfw.odm.operations.pace import MOST, Pace
from gatewayfw.odm.operations.walk import Begin, Ids, Walk, of_ids
from gatewayfw.odm.reading.projection import copied_fields
from gatewayfw.odm.reading.revisions import of_revision, revision_of
from gatewayfw.odm.sizes.own_fields import allowance_of
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.update import update_unsettled
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.order import order_key
from gatewayfw.storage.terms import Filter

#: Most documents that a run lists with their reasons.
MOST_LISTED = 20
#: Errors about one document that others need not share.
_REFUSALS = (DuplicateKey, TooLarge, StorageError)
#: What became of a document: whether it was changed, or why it was not.
Visited = bool | Reason
Progress = Callable[["Outcome"], object]


class ListedDocument(TypedDict):
    """A document that a migration does not change, and why."""

    _id: Any
    reason: str


class Migrated(TypedDict):
    """What `gw.odm.migrate` tells of one migration."""

    name: str
    model: str
    changed: int
    left: int
    listed: list[ListedDocument]


@dataclass
class Outcome:
    """What a run of one migration did.

    Attributes:
        changed: how many documents it changed; of a `rename` or `drop` also those whose frozen copies it changed.
        left: how many still meet the condition.
        listed: of these, the first that cannot be changed.
        total: how many met the condition at the start.
    """

    name: str
    model: str
    total: int = 0
    changed: int = 0
    left: int = 0
    listed: list[ListedDocument] = field(default_factory=list)

    def list(self, id_: Any, reason: str) -> None:
        """List a document, unless there are enough."""
        if len(self.listed) < MOST_LISTED:
            self.listed.append({"_id": id_, "reason": reason})

    def told(self) -> Migrated:
        """Return it for the caller of `gw.odm.migrate`."""
        return Migrated(name=self.name, model=self.model, changed=self.changed, left=self.left, listed=self.listed)


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

    def plan(self, migration: Migration) -> Outcome:
        """Return what a run would find; it changes nothing.

        ``listed`` has the first documents that it would not change.
        """
        storage = self._begin(migration)
        outcome = Outcome(migration.name, migration.model)
        for one in self._find(storage, migration):
            decided = decide(self._schemas, migration, one)
            if isinstance(decided, Reason):
                outcome.list(one["_id"], decided)
        outcome.left = outcome.total = self._count(storage, migration)
        return outcome

    def run(self, migration: Migration, on_progress: Progress = lambda _: None) -> Outcome:
        """Run one migration to its end; what it finds at the end is what is left.

        ``on_progress`` is called after each batch. An error that it raises, or Ctrl-C, ends the run between two
        batches; the next one goes on from there.

        Raises:
            UsageError: inside a transaction.
            DefinitionError: the model has an old name again.
            Conflict: another process runs it.
        """
        return _MigrationRun(self._database, migration, self._begin(migration), on_progress).run(self._count)

    def count(self, migration: Migration) -> int:
        """Return how many documents are left to change."""
        return self._count(self._begin(migration), migration)

    def _begin(self, migration: Migration) -> Storage:
        if self._database.is_nested:
            raise UsageError("odm.migrate: not inside a transaction")
        schema = self._schemas.get_schema(migration.model)
        for name in migration.retired or ():
            check_gone(self._schemas, schema, name, f"migration {migration.name!r}")
        storage = self._database.ready(migration.model)
        self._database.preparation.prepare_collection(COLLECTION, ())
        return storage

    def _find(self, storage: Storage, migration: Migration) -> Iterator[Document]:
        return storage.find(migration.model, migration.condition, migration.fields, sort=[("_id", 1)])

    def _count(self, storage: Storage, migration: Migration) -> int:
        own = storage.count(migration.model, migration.condition)
        frozen = frozen_places(self._schemas, migration)
        return own + sum(storage.count(relation.model, wanted) for relation, wanted in frozen)


def frozen_places(schemas: Schemas, migration: Migration) -> list[tuple[Relation, Filter]]:
    """Return the frozen relations of a model, each with the filter of its holders.

    These are the holders whose copies have old names of the migration. They are looked for themselves, because frozen
    copies outlive their sources.
    """
    frozen = [relation for relation in schemas.embedders(migration.model) if relation.frozen]
    names = migration.retired or ()
    return [(one, {"$or": [{f"{one.name}.{name}": {"$exists": True}} for name in names]}) for one in frozen if names]


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

    def run(self, count: Callable[[Storage, Migration], int]) -> Outcome:
        """Run it, and note how it ended."""
        migration, outcome = self._migration, self._outcome
        self._claim()
        try:
            outcome.total = count(self._storage, migration)
            if outcome.total:
                self._walk(migration.model, migration.condition, self._changing)
                for relation, wanted in frozen_places(self._database.schemas, migration):
                    self._walk(relation.model, wanted, self._changing_copies(relation, wanted))
                outcome.left = count(self._storage, migration)
            self._notes.end(migration.name, self._worker, migration.model, outcome.left)
            return outcome
        finally:
            self._notes.release(migration.name, self._worker)

    def _claim(self) -> None:
        """Lease the migration; a dead process's lease is waited for, which takes seconds."""
        until = self._notes.claim(self._migration.name, self._worker)
        if until is not None:
            time.sleep(max(0.0, (until - now()).total_seconds()) + 0.1)
            until = self._notes.claim(self._migration.name, self._worker)
        if until is not None:
            raise Conflict(messages.MIGRATION_RUNS.format(name=self._migration.name))

    def _walk(self, model: str, wanted: Filter, begin: Begin[Visited | None]) -> None:
        """Change all documents that match at the start, in batches."""
        most = MOST if self._storage.has_transactions() else 1
        pace = Pace(remaining=self._storage.scope.remaining, most=most)
        walk = Walk(self._database, model, wanted, pace)
        for page in self._pages(model, wanted):
            rest = page
            while rest:
                done = 0
                try:
                    for ids, batch in walk.batches([rest], begin, lambda _: True):
                        done += len(ids)
                        self._note(ids, batch.result)
                        self._drain(batch.pending)
                except _REFUSALS:
                    alone, rest = rest[done : done + pace.size], rest[done + pace.size :]
                    self._walk_alone(model, wanted, begin, alone)
                else:
                    rest = ()

    def _walk_alone(self, model: str, wanted: Filter, begin: Begin[Visited | None], ids: Ids) -> None:
        """Change documents one by one; list those that the database refuses."""
        for id_ in ids:
            walk = Walk(self._database, model, wanted, Pace(most=1))
            try:
                for one, batch in walk.batches([[id_]], begin, lambda _: True):
                    self._note(one, batch.result)
                    self._drain(batch.pending)
            except _REFUSALS as error:
                self._note([id_], [error.message])

    def _pages(self, model: str, wanted: Filter) -> Iterator[Ids]:
        """Yield the ids that match, by page, up to the last one at the start."""
        last = next(self._storage.find(model, wanted, [], sort=[("_id", -1)], limit=1), None)
        if last is None:
            return
        end = order_key(last["_id"])

        def find(after: Mapping[str, Any]) -> list[Any]:
            filter = of_ids(wanted, after["_id"]) if after else wanted
            found = self._storage.find(model, filter, [], sort=[("_id", 1)], limit=MOST)
            return [one["_id"] for one in found if order_key(one["_id"]) <= end]

        yield from pages(find, lambda id_: id_)

    def _note(self, ids: Ids, results: Sequence[Visited | None]) -> None:
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

    def _changing(self, attempt: Attempt, effects: Effects, ids: Ids) -> Callable[[Any], Visited | None]:
        """Begin a batch: read it as it is in its transaction."""
        migration, storage, schemas = self._migration, self._storage, self._database.schemas
        schema = schemas.get_schema(migration.model)
        allowance = allowance_of(schema, schemas.settings.document_bytes)
        looking = allowance and allowance.looking_first() if migration.kind in ("default", "function") else None
        fields = None if migration.fields is None else [*migration.fields, "_gw"]
        found = storage.find(migration.model, of_ids(migration.condition, {"$in": list(ids)}), fields)
        before = {repr(one["_id"]): one for one in found}

        def visit(id_: Any) -> Visited | None:
            stored = before.get(repr(id_))
            if stored is None:
                return None
            change = decide(schemas, migration, stored)
            if isinstance(change, Reason):
                return change
            # Without transactions nothing else says that nobody has changed it since.
            rev = None if attempt.can.has_transactions else revision_of(stored)
            filter = of_revision({"_id": id_}, rev)
            return apply(storage, update_unsettled(attempt, schema, filter, change, (), looking, effects)) is not None

        return visit

    def _changing_copies(self, relation: Relation, wanted: Filter) -> Begin[Visited | None]:
        """Return the function that begins a batch of holders of frozen copies."""
        migration, storage = self._migration, self._storage
        shown = frozenset(copied_fields(self._database.schemas, relation))

        def begin(_attempt: Attempt, _effects: Effects, ids: Ids) -> Callable[[Any], Visited | None]:
            found = storage.find(relation.model, of_ids(wanted, {"$in": list(ids)}), [relation.name])
            before = {repr(one["_id"]): one.get(relation.name) for one in found}

            def visit(id_: Any) -> Visited | None:
                value = before.get(repr(id_))
                copies = value if isinstance(value, list) else [value]
                changed = [frozen_copy(migration, one, shown) if isinstance(one, Mapping) else one for one in copies]
                for one in changed:
                    if isinstance(one, Reason):
                        return f"{relation.name}: {one}"
                update = {"$set": {relation.name: changed if isinstance(value, list) else changed[0]}}
                filter = {"_id": id_, relation.name: value}
                return storage.update_one(relation.model, filter, update, ()) is not None

            return visit

        return begin
