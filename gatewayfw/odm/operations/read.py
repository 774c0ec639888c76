"""Read documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gatewayfw.errors import UsageError
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.listings.declaration import declare
from gatewayfw.odm.listings.listing import Listing
from gatewayfw.odm.operations.handle import Filter, Handle
from gatewayfw.odm.reading.cursor import Cursor, fixed_order
from gatewayfw.odm.reading.deep import show_each, show_found
from gatewayfw.odm.reading.filters import check_raw_sort, revealed, sort_check
from gatewayfw.odm.reading.projection import Projection
from gatewayfw.odm.reading.viewer import Viewer
from gatewayfw.pieces import in_batches
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.subset import check_pipeline
from gatewayfw.storage.terms import Sorting


def find(model: Handle, viewer: Viewer | None, wanted: Filter, projection: Projection, reveal: Sequence[str]) -> Cursor:
    """Return a cursor over the matching documents."""

    def read(sort: Sorting, skip: int, limit: int) -> Iterator[Sequence[Document]]:
        storage, order = model.ready(), fixed_order(sort, skip, limit)
        found = storage.find(model.name, wanted, projection.paths, sort=order, skip=skip, limit=limit)
        return show_each(storage, projection, found)

    admitted = revealed(model.schemas, model.schema, reveal) if reveal else ()
    return Cursor(read, sort_check(model.schemas, model.schema, admitted, viewer))


def find_first(storage: Storage, model: Handle, wanted: Filter, projection: Projection) -> Document | None:
    """Return the first matching document as it is shown; None if there is none."""
    found = list(storage.find(model.name, wanted, projection.paths, limit=1))
    return show_found(storage, projection, found)[0] if found else None


def is_there(storage: Storage, model: str, wanted: Filter) -> bool:
    """Tell whether a document matches a stored filter."""
    return next(storage.find(model, wanted, [], limit=1), None) is not None


def aggregate(model: Handle, pipeline: Sequence[Mapping[str, Any]]) -> Cursor:
    """Return a cursor over the results of a pipeline that only reads.

    Raises:
        UsageError: policies restrict the caller, and a pipeline can read whatever it names.
    """
    if model.viewer() is not None:
        raise UsageError(f"aggregate: policies restrict the caller; call .unrestricted.aggregate of {model.name}")
    check_pipeline(pipeline)
    hidden = model.schema.options.excludes | {HIDDEN}

    def read(sort: Sorting, skip: int, limit: int) -> Iterator[Sequence[Document]]:
        tail: list[Mapping[str, Any]] = [{"$sort": dict(sort)}] if sort else []
        tail += [{"$skip": skip}] if skip else []
        tail += [{"$limit": limit}] if limit else []
        found = model.ready().aggregate(model.name, [*pipeline, *tail])
        return (
            [{name: value for name, value in one.items() if name not in hidden} for one in batch]
            for batch in in_batches(found)
        )

    return Cursor(read, check_raw_sort)


def add_listing(model: Handle, **declaration: Any) -> Listing:
    """Declare a listing with its model; ``declaration`` is that of `declare`."""
    if model.database.has_deadline:
        raise UsageError("listing: declare it with its model, not in a request: each would leave one")
    return model.schemas.add_listing(
        model.name, lambda number: Listing(model, declare(model.name, number, **declaration))
    )
