"""What migrations ask for besides their run: indexes and windows."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gatewayfw.odm.migrations.declaration import Migration
from gatewayfw.odm.upkeep.indexes import IndexRow, compared, wanted_indexes
from gatewayfw.schemas import Schemas
from gatewayfw.storage import Index, Storage

_BEFORE, _AFTER = "before the roll-out", "when no old process runs"


def find_follow_ups(schemas: Schemas, storage: Storage, migration: Migration) -> Iterator[str]:
    """Yield what is to be done, in words, each with when and with its command.

    Indexes as the database has them now: the ones that are missing over new names, and those that are left over old
    ones, in the model's collection and in those that embed or list its documents.
    """
    for collection, prefix in _places(schemas, migration.model):
        wanted = wanted_indexes(schemas, schemas.get_schema(collection))
        for row in compared(collection, wanted, storage.indexes(collection)):
            if row.state == "missing" and _has_one(row, prefix, migration.filled):
                yield _build(row)
            elif row.state == "extra" and _has_one(row, prefix, migration.retired or ()):
                name = (row.present or {}).get("name", "")
                yield f'{_AFTER}: db.{collection}.dropIndex("{name}")'
    for relation in schemas.get_relations(migration.model).values():
        for reverse in relation.related_relations.values():
            if reverse.window is not None and reverse.window.sort.field in migration.filled:
                window = f"{reverse.target}.{reverse.name} is sorted by {reverse.window.sort.field}"
                yield f"{_AFTER}: flask gateway repair, since {window}"


def _places(schemas: Schemas, model: str) -> Iterator[tuple[str, str]]:
    """Yield the collections that store a model's fields, with how their paths begin."""
    yield model, ""
    yield from ((one.model, f"{one.name}.") for one in schemas.embedders(model))


def _has_one(row: IndexRow, prefix: str, names: Collection[str]) -> bool:
    return any(path.startswith(prefix) and path[len(prefix) :].split(".")[0] in names for path, _ in row.keys)


def _build(row: IndexRow) -> str:
    told = f"{row.collection}: {', '.join(name for name, _ in row.keys)}"
    if Index(row.keys, row.wanted or {}).passes_over_absent or not (row.wanted or {}).get("unique"):
        return f"{_BEFORE}: flask gateway indexes --create, which builds {told}"
    return f"when nothing is left, by itself: the unique index of {told}"
