"""A model on its database: what all of its operations need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, final

from bson import ObjectId

from gatewayfw.errors import UsageError
from gatewayfw.odm.database import Database
from gatewayfw.odm.reading.filters import choose_filter, revealed, selects_all, stored_filter
from gatewayfw.odm.reading.projection import Projection, Projections
from gatewayfw.odm.sizes.own_fields import Allowance, allowance_of
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.storage import Storage

Get = Mapping[str, Any]
#: Conditions by the paths of fields, `Path`: a mapping is invariant in its keys, so their type would refuse texts.
Filter = Mapping[Any, Any]
Update = Mapping[str, Any]


@final
class Handle:
    """One model, its database and its compiled projections."""

    def __init__(self, database: Database, schema: ModelSchema, projections: Projections) -> None:
        self.database = database
        self.schema = schema
        self.name = schema.name
        self._projections = projections

    @property
    def schemas(self) -> Schemas:
        """The definitions of all models."""
        return self.database.schemas

    def ready(self) -> Storage:
        """Return the storage, prepared for this model."""
        return self.database.ready(self.name)

    @cached_property
    def allowance(self) -> Allowance | None:
        """The size check of a document's pure fields; None if they need none."""
        return allowance_of(self.schema, self.schemas.settings.document_bytes)

    def parse_filter(
        self, filter: Filter | None, filters: Filter | None, reveal: Sequence[str], *, optional: bool = False
    ) -> dict[str, Any]:
        """Return an operation's filter in its stored form.

        Only an ``optional`` filter may select all documents.
        """
        where = "filter"
        if filters is not None:
            filter, where = choose_filter(filters, filter), "filters"
        if filter is None and not optional:
            raise UsageError(f"{where}: expected an object")
        if reveal:
            reveal = revealed(self.schema, reveal)
        wanted = stored_filter(self.schemas, self.schema, filter, where, reveal)
        if not optional and selects_all(wanted):
            raise UsageError(f"{where}: say which document to change or delete; an empty filter matches any of them")
        return wanted

    def compile(self, get: Get | None, reveal: Sequence[str] = ()) -> Projection:
        """Compile what to show: the fields that a `get` asks for, and the revealed ones."""
        names: tuple[str, ...] = ()
        if reveal:
            names = revealed(self.schema, reveal)
            if isinstance(get, Mapping):
                get = {**get, **dict.fromkeys(names, 1)}
        projection = self._projections.compiled(self.schema, get, names)
        if projection.queries:
            self.database.storage.scope.add_queries(projection.queries)
        return projection

    def named(self, wanted: Filter) -> list[tuple[str, object]]:
        """Return the document that a filter names by `_id`, for a queue of its writers."""
        return [(self.name, wanted["_id"])] if isinstance(wanted.get("_id"), ObjectId) else []
