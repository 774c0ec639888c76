"""What a migration does or would do: counts, time, examples, follow-ups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypedDict

from gatewayfw.errors import GatewayError
from gatewayfw.odm.copies.opt_outs import PARTS
from gatewayfw.odm.database import Database
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.migrations.batches import Visited, count_left, places
from gatewayfw.odm.migrations.changes import Reason, decide
from gatewayfw.odm.migrations.declaration import Migration
from gatewayfw.odm.operations.walk import Begin
from gatewayfw.odm.upkeep.indexes import IndexRow, compared, wanted_indexes
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.windows import settle
from gatewayfw.odm.writing.updates import Change
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.storage import Document, Index, Storage
from gatewayfw.storage.update_operators import apply_update

#: Most documents that a run lists with their reasons.
MOST_LISTED = 20
#: Documents shown before and after, and documents changed on trial.
EXAMPLES, TRIED = 3, 200
#: Stands for a value that a plan does not show: of an excluded field, or one that the model does not declare.
UNSHOWN = "..."
_BEFORE, _AFTER = "before the roll-out", "when no old process runs"


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


class Example(TypedDict):
    """What a migration makes of a document: the values of the names that it changes."""

    _id: Any
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class MigrationPlan:
    """What a run would do.

    Attributes:
        outcome: what it would find.
        examples: the first documents that it would change.
        seconds: about how long it would take, without the work of jobs; None where that is not known.
        follow_ups: what else is to be done, in words.
    """

    outcome: Outcome
    examples: list[Example]
    seconds: float | None
    follow_ups: tuple[str, ...]


class _Undone(Exception):
    """Ends a trial, so that its transaction changes nothing."""


def make_plan(database: Database, storage: Storage, migration: Migration) -> MigrationPlan:
    """Return what a run would do; it changes nothing.

    For the time, some documents are changed in a transaction that is undone.
    """
    outcome = Outcome(migration.name, migration.model)
    schema = database.schemas.get_schema(migration.model)
    examples, ids, number = list[Example](), list[Any](), 0
    for one in storage.find(migration.model, migration.condition, migration.fields, sort=[("_id", 1)]):
        decided = decide(database.schemas, migration, one)
        if isinstance(decided, Reason):
            outcome.list(one["_id"], decided)
        elif decided is not None:
            number += 1
            if len(examples) < EXAMPLES:
                examples.append(_example(schema, migration, one, decided))
            if len(ids) < TRIED:
                ids.append(one["_id"])
            if migration.kind == "convert":  # it may change one field of a document and leave another
                rest = decide(database.schemas, migration, apply_update(one, decided.update, {}))
                if isinstance(rest, Reason):
                    outcome.list(one["_id"], rest)
    outcome.left = outcome.total = count_left(database.schemas, storage, migration)
    (_, _, begin), *frozen = places(database.schemas, storage, migration)
    tried = [(number, ids, begin)]
    for model, wanted, begin in frozen:
        ids = [one["_id"] for one in storage.find(model, wanted, [], limit=TRIED)]
        tried.append((storage.count(model, wanted), ids, begin))
    times = [(number, _try(database, storage, ids, begin)) for number, ids, begin in tried if number]
    known = [number * each for number, each in times if each is not None]
    seconds = sum(known) if known else None
    return MigrationPlan(outcome, examples, seconds, tuple(find_follow_ups(database.schemas, storage, migration)))


def _example(schema: ModelSchema, migration: Migration, stored: Document, change: Change) -> Example:
    after = apply_update(stored, change.update, {})
    before, after = ({name: one[name] for name in sorted(change.named) if name in one} for one in (stored, after))
    return Example(_id=stored["_id"], before=_shown(schema, migration, before), after=_shown(schema, migration, after))


def _shown(schema: ModelSchema, migration: Migration, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values without those of fields that are excluded, or may have been."""
    named = migration.names if migration.kind in ("rename", "copy") else {}

    def is_shown(name: str) -> bool:
        new = name if name in schema.pure else named.get(name)
        return new in schema.pure and new not in schema.options.excludes and name not in schema.options.excludes

    return {name: value if is_shown(name) else UNSHOWN for name, value in values.items() if name != HIDDEN}


def _try(database: Database, storage: Storage, ids: Sequence[Any], begin: Begin[Visited]) -> float | None:
    """Return how many seconds a document takes, with the rests between batches.

    It is tried twice, and the second time counts: the first has to open and compile what the others find. None where
    nothing can be tried.
    """
    if not storage.has_transactions():
        return None
    each: float | None = None

    def change(attempt: Attempt) -> None:
        nonlocal each
        began, done, effects = monotonic(), 0, Effects(shared=True)
        visit = begin(attempt, effects, ids)
        while done < len(ids) and (done == 0 or attempt.has_room):
            visit(ids[done])
            done += 1
        apply(storage, settle(attempt, effects))
        each = 2 * (monotonic() - began) / done
        raise _Undone

    for _ in range(2):
        try:
            database.run(change)
        except _Undone:
            pass
        except GatewayError:  # such as a duplicate, which a run lists
            return None
    return each


# -- indexes and windows


def find_follow_ups(schemas: Schemas, storage: Storage, migration: Migration) -> Iterator[str]:
    """Yield what is to be done, in words, each with when and with its command.

    Indexes as the database has them now: the ones that are missing over new names, and those that are left over old
    ones, in the model's collection and in those that embed its documents.
    """
    missing, drops = list[IndexRow](), list[str]()
    for collection, new, old in _paths(schemas, migration):
        wanted = wanted_indexes(schemas, schemas.get_schema(collection))
        for row in compared(collection, wanted, storage.indexes(collection)):
            if row.state == "missing" and _is_over(row, new):
                missing.append(row)
            elif row.state == "extra" and _is_over(row, old):
                index = Index(row.keys, row.present or {})
                when = f"{_AFTER}, before the migration" if _is_strict(index) else _AFTER
                drops.append(f'{when}: db.{collection}.dropIndex("{index.options.get("name", "")}")')
    yield from _builds(missing)
    yield from drops
    for relation in schemas.get_relations(migration.model).values():
        for reverse in relation.related_relations.values():
            if reverse.window is not None and reverse.window.sort.field in migration.filled:
                window = f"{reverse.target}.{reverse.name} is sorted by {reverse.window.sort.field}"
                yield f"{_AFTER}: flask gateway repair, since {window}"


def _paths(schemas: Schemas, migration: Migration) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield collections with the paths that are filled, and those left behind."""
    if migration.kind == "relation":  # which is noted otherwise in the other form, where windows find members
        notes = [f"{HIDDEN}.{part}.{name}" for part in PARTS for name in migration.names]
        yield migration.model, notes, notes
        return
    new, old = migration.filled, migration.retired or ()
    yield migration.model, [*new], [*old]
    for one in schemas.embedders(migration.model):
        yield one.model, [f"{one.name}.{name}" for name in new], [f"{one.name}.{name}" for name in old]


def _is_over(row: IndexRow, paths: Sequence[str]) -> bool:
    return any(f"{key}.".startswith(f"{path}.") for key, _ in row.keys for path in paths)


def _is_strict(index: Index) -> bool:
    """Tell whether an index lets only one document lack its field."""
    return index.unique and not index.passes_over_absent


def _builds(rows: Sequence[IndexRow]) -> Iterator[str]:
    told: dict[bool, list[str]] = {False: [], True: []}
    for row in rows:
        names = ", ".join(name for name, _ in row.keys)
        told[_is_strict(Index(row.keys, row.wanted or {}))].append(f"{row.collection}: {names}")
    if told[False]:
        yield f"{_BEFORE}: flask gateway indexes --create, for {'; '.join(told[False])}"
    if told[True]:
        yield f"when nothing is left, by itself: the unique index of {'; '.join(told[True])}"
