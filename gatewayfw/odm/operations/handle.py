"""A model on its database: what all of its operations need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, final

from bson import ObjectId

from gatewayfw.context_variables import CALLERS, Caller
from gatewayfw.errors import UsageError
from gatewayfw.odm.database import Database
from gatewayfw.odm.reading.filters import choose_filter, revealed, selects_all, stored_filter
from gatewayfw.odm.reading.projection import Projection, Projections
from gatewayfw.odm.reading.rights import Rights, limit, rights_of
from gatewayfw.odm.reading.viewer import Viewer, viewer_of
from gatewayfw.odm.sizes.own_fields import Allowance, allowance_of
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.storage import Storage

Get = Mapping[str, Any]
#: Conditions by the paths of fields, `Path`: a mapping is invariant in its keys, so their type would refuse texts.
Filter = Mapping[Any, Any]
Update = Mapping[str, Any]


@final
class Handle:
    """One model, its database and its compiled projections.

    ``is_free`` says that no policy restricts its operations.
    """

    def __init__(
        self, database: Database, schema: ModelSchema, projections: Projections, *, is_free: bool = False
    ) -> None:
        self.database = database
        self.schema = schema
        self.name = schema.name
        self._projections = projections
        self._is_free = is_free

    def freed(self) -> Handle:
        """Return the same without policies."""
        return Handle(self.database, self.schema, self._projections, is_free=True)

    def viewer(self) -> Viewer | None:
        """Return the caller whose policies restrict an operation called now, if any.

        Raises:
            UsageError: with the setting ``require_policy``, a request uses the model outside of an act and its hooks.
        """
        schemas = self.database.schemas
        if self._is_free or not schemas.policies_hold:
            return None
        entry = CALLERS.get().get(schemas)
        if isinstance(entry, Caller):
            return entry.viewer or viewer_of(schemas, entry)
        if entry is None and schemas.settings.require_policy and self.database.in_request():
            raise UsageError(f"model {self.name}: this is no act, so nobody's policies hold; use its .unrestricted")
        return None

    def rights(self) -> Rights | None:
        """Return what the caller may do with this model's documents; None for everything."""
        viewer = self.viewer()
        return None if viewer is None else rights_of(viewer, self.name)

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

    def read_filter(
        self, viewer: Viewer | None, filter: Filter | None, filters: Filter | None, reveal: Sequence[str]
    ) -> dict[str, Any]:
        """Return a read's filter in its stored form, limited to the rows of its `viewer`."""
        return limit(viewer, self.name, self._parse(viewer, filter, filters, reveal)[0])

    def write_filter(self, filter: Filter | None, filters: Filter | None, reveal: Sequence[str]) -> dict[str, Any]:
        """Return the filter of a change in its stored form; it may not select all.

        The operation limits it to the caller's rows, once it knows that the caller may write.
        """
        wanted, where = self._parse(self.viewer(), filter, filters, reveal)
        if filter is None and filters is None:
            raise UsageError(f"{where}: expected an object")
        if selects_all(wanted):
            raise UsageError(f"{where}: say which document to change or delete; an empty filter matches any of them")
        return wanted

    def _parse(
        self, viewer: Viewer | None, filter: Filter | None, filters: Filter | None, reveal: Sequence[str]
    ) -> tuple[dict[str, Any], str]:
        """Return a filter in its stored form, and the name of its argument."""
        where = "filter"
        if filters is not None:
            filter, where = choose_filter(filters, filter), "filters"
        if reveal:
            reveal = revealed(self.schemas, self.schema, reveal)
        return stored_filter(self.schemas, self.schema, filter, where, reveal, viewer), where

    def compile(self, viewer: Viewer | None, get: Get | None, reveal: Sequence[str] = ()) -> Projection:
        """Compile what to show a `viewer`: what a `get` asks for, and revealed fields."""
        names: tuple[str, ...] = ()
        if reveal:
            names = revealed(self.schemas, self.schema, reveal)
            if isinstance(get, Mapping):
                get = {**get, **{name: 1 for name in names if name in self.schema.pure}}
        projection = self._projections.compiled(self.schema, get, names, viewer)
        if projection.queries:
            self.database.storage.scope.add_queries(projection.queries)
        return projection

    def named(self, wanted: Filter) -> list[tuple[str, object]]:
        """Return the document that a filter names by `_id`, for a queue of its writers."""
        return [(self.name, wanted["_id"])] if isinstance(wanted.get("_id"), ObjectId) else []
