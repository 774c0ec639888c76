"""What is left of a migration, and how a batch of it is changed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gatewayfw.odm.hidden import HIDDEN, of_revision, revision_of
from gatewayfw.odm.migrations.changes import Reason, decide, frozen_copy, is_left
from gatewayfw.odm.migrations.declaration import Migration
from gatewayfw.odm.operations.walk import Begin, Ids, of_ids
from gatewayfw.odm.reading.projection import copied_fields
from gatewayfw.odm.sizes.own_fields import allowance_of
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.update import update_unsettled
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.terms import Filter

#: What became of a document: whether it was changed, or why it was not; None for no match.
Visited = bool | Reason | None
#: A model, the filter of its documents that are left, and what begins a batch of their changes.
MigrationPlace = tuple[str, Filter, Begin[Visited]]


def count_left(schemas: Schemas, storage: Storage, migration: Migration) -> int:
    """Return how many documents, and holders of frozen copies, are left."""
    if migration.kind == "convert":
        return sum(1 for _ in find_misfits(schemas, storage, migration))
    own = storage.count(migration.model, migration.condition)
    frozen = _frozen_places(schemas, migration)
    return own + sum(storage.count(relation.model, wanted) for relation, wanted in frozen)


def find_misfits(
    schemas: Schemas, storage: Storage, migration: Migration, wanted: Filter | None = None
) -> Iterator[Document]:
    """Yield the documents, of those ``wanted``, where a field to convert does not fit."""
    found = storage.find(migration.model, wanted or migration.condition, migration.fields, sort=[("_id", 1)])
    yield from (one for one in found if is_left(schemas, migration, one))


def places(schemas: Schemas, storage: Storage, migration: Migration) -> Iterator[MigrationPlace]:
    """Yield where a migration changes something: the model, then its frozen copies."""
    yield migration.model, migration.condition, _changing(schemas, storage, migration)
    for relation, wanted in _frozen_places(schemas, migration):
        yield relation.model, wanted, _changing_copies(schemas, storage, migration, relation, wanted)


def _frozen_places(schemas: Schemas, migration: Migration) -> list[tuple[Relation, Filter]]:
    """Return the frozen relations of a model, each with the filter of its holders.

    These are the holders whose copies have old names of the migration. They are looked for themselves, because frozen
    copies outlive their sources.
    """
    frozen = [relation for relation in schemas.embedders(migration.model) if relation.frozen]
    names = migration.retired or ()
    return [(one, {"$or": [{f"{one.name}.{name}": {"$exists": True}} for name in names]}) for one in frozen if names]


def _changing(schemas: Schemas, storage: Storage, migration: Migration) -> Begin[Visited]:
    """Return what begins a batch of changes; it reads documents in its transaction."""
    schema = schemas.get_schema(migration.model)
    allowance = allowance_of(schema, schemas.settings.document_bytes) if migration.fills else None
    looking = allowance and allowance.looking_first()
    fields = None if migration.fields is None else [*migration.fields, HIDDEN]

    def begin(attempt: Attempt, effects: Effects, ids: Ids) -> Callable[[Any], Visited]:
        found = storage.find(migration.model, of_ids(migration.condition, {"$in": list(ids)}), fields)
        before = {repr(one["_id"]): one for one in found}

        def visit(id_: Any) -> Visited:
            stored = before.get(repr(id_))
            if stored is None:
                return None
            change = decide(schemas, migration, stored)
            if change is None or isinstance(change, Reason):
                return change
            # Without transactions nothing else says that nobody has changed it since.
            rev = None if attempt.can.has_transactions else revision_of(stored)
            filter = of_revision({"_id": id_}, rev)
            return apply(storage, update_unsettled(attempt, schema, filter, change, (), looking, effects)) is not None

        return visit

    return begin


def _changing_copies(
    schemas: Schemas, storage: Storage, migration: Migration, relation: Relation, wanted: Filter
) -> Begin[Visited]:
    """Return the function that begins a batch of holders of frozen copies."""
    shown = frozenset(copied_fields(schemas, relation))

    def begin(_attempt: Attempt, _effects: Effects, ids: Ids) -> Callable[[Any], Visited]:
        found = storage.find(relation.model, of_ids(wanted, {"$in": list(ids)}), [relation.name])
        before = {repr(one["_id"]): one.get(relation.name) for one in found}

        def visit(id_: Any) -> Visited:
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
