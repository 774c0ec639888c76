"""The database of one gateway: its adapter, chosen by what is given, and its indexes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from pymongo.database import Database as PyMongoDatabase

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import Index, MockStorage, MongoStorage, Scope, Storage

_LOG = logging.getLogger("gatewayfw.odm")


@final
class Database:
    """The storage that models live in, prepared for each model at its first use."""

    def __init__(self, schemas: Schemas, settings: Settings) -> None:
        self.schemas = schemas
        self._settings = settings
        self._storage: Storage | None = None
        self._prepared: dict[str, int] = {}
        self._index_problems: dict[str, list[str]] = {}

    def use(self, db: Any) -> None:
        """Use a MongoDB URI, a PyMongo or mongomock database, or a `Storage` from now on.

        Raises:
            DefinitionError: ``db`` is none of these, or a URI that names no database.
        """
        self._storage = self._adapter(db)
        self._prepared = {}
        self._index_problems = {}

    def _adapter(self, db: Any) -> Storage:
        if isinstance(db, Storage):
            return db
        if isinstance(db, (str, PyMongoDatabase)):
            return MongoStorage(
                db,
                server_selection_timeout=self._settings.server_selection_timeout,
                operation_timeout=self._settings.operation_timeout,
            )
        # mongomock is recognised by its module, so that it need not be imported in production.
        if type(db).__module__ == "mongomock.database":
            return MockStorage(db)
        raise DefinitionError(
            f"set_db takes a MongoDB URI, a PyMongo or mongomock database or a Storage, not {type(db).__name__}"
        )

    @property
    def storage(self) -> Storage:
        """The adapter in use; DefinitionError before `set_db`."""
        if self._storage is None:
            raise DefinitionError("no database: call odm.set_db(...) first")
        return self._storage

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Scope]:
        """Bound all database work of this thread inside; a gateway without a database has only the clock."""
        if self._storage is None:
            yield Scope(seconds)
        else:
            with self._storage.deadline(seconds) as scope:
                yield scope

    def ready(self, name: str) -> Storage:
        """Return the storage, prepared for a model: definitions checked, indexes ensured.

        Raises:
            DefinitionError: a definition that the model depends on is wrong, or no database is set.
        """
        storage, version = self.storage, self.schemas.version
        if self._prepared.get(name) == version:
            return storage
        self.schemas.validate(name)
        # No lock: preparing twice does no harm, and waiting for one that waits for a lost server does.
        for reachable in self.schemas.reachable(name):
            if self._prepared.get(reachable) != version:
                self._ensure(storage, self.schemas.get_schema(reachable))
                self._prepared[reachable] = version
        return storage

    def _ensure(self, storage: Storage, schema: ModelSchema) -> None:
        problems = storage.ensure(schema.name, wanted_indexes(schema), self._settings.index_build_limit)
        for problem in problems:
            _LOG.error("%s", problem)
        self._index_problems[schema.name] = problems

    def index_problems(self) -> list[str]:
        """Return what kept indexes from being built at first use, in words; for readiness checks."""
        return [problem for problems in self._index_problems.values() for problem in problems]


def wanted_indexes(schema: ModelSchema) -> list[Index]:
    """Return the indexes a model needs: its own, and those that make copies and windows cheap.

    One on the embedded ids of each relation (fan-out), and one per window that is sorted by
    another field than ``_id``, so that it is read without sorting.
    """
    indexes = {index.keys: Index(index.keys, index.options) for index in schema.options.indexes}
    for relation in schema.relations.values():
        path = f"{relation.name}._id"
        keys: list[tuple[tuple[str, int], ...]] = [((path, 1), ("_id", 1))]
        for reverse in relation.related_relations.values():
            if reverse.sort is not None and reverse.sort.field != "_id":
                keys.append(((path, 1), (reverse.sort.field, reverse.sort.direction), ("_id", 1)))
        for one in keys:
            indexes.setdefault(one, Index(one))
    return list(indexes.values())
