"""What migrations ask for besides their run: indexes and windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatewayfw.odm.copies.opt_outs import PARTS
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.migrations.declaration import Migration
from gatewayfw.odm.upkeep.indexes import IndexRow, compared, wanted_indexes
from gatewayfw.schemas import Schemas
from gatewayfw.storage import Index, Storage

_BEFORE, _AFTER = "before the roll-out", "when no old process runs"


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
