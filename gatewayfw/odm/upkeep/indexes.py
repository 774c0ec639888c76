"""The indexes that models need, compared with those that a database has.

Indexes are only compared and created, never dropped or changed, since whoever made one may need it.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gatewayfw.odm.copies.opt_outs import member_indexes
from gatewayfw.odm.jobs import records
from gatewayfw.odm.listings.declaration import MOST_INDEXES as MOST_OF_LISTING
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.relations import MOST_INDEXES
from gatewayfw.storage import Index, Storage

IndexState = Literal["present", "missing", "differs", "extra"]

#: MongoDB's defaults for the keys of a collation. Some locales have other defaults
#: for further keys; those are compared only where the definition gives them.
_COLLATION = {"strength": 3, "caseLevel": False, "numericOrdering": False}
#: Options that change what an index does; of the others only a wanted ``name`` is compared.
_COMPARED = ("unique", "sparse", "expireAfterSeconds", "partialFilterExpression", "collation")
#: The reason for an index built as declared, without ``_id`` at its end.
_WITHOUT_ID = "without _id: pages sorted by it read all that match"
#: Why a listing has no index for what it reads.
_FULL = f"a collection has at most {MOST_INDEXES}"
_MANY = f"a listing has at most {MOST_OF_LISTING}: declare fewer filters with eq, or fewer sorts"


@dataclass(frozen=True)
class IndexRow:
    """An index, compared: what is wanted and what is present.

    Attributes:
        keys: ``(field, direction)`` pairs.
        state: ``extra`` is one that no model asks for, ``differs`` one with other options.
        wanted: the options wanted; None when it is extra.
        present: the options it has; None when it is missing.
        reason: why it could not be created, how it differs, or what another one would do better; or empty.
    """

    collection: str
    keys: tuple[tuple[str, int], ...]
    state: IndexState
    wanted: Mapping[str, Any] | None = None
    present: Mapping[str, Any] | None = None
    reason: str = ""

    @property
    def fine(self) -> bool:
        """Whether nothing is missing or different."""
        return self.state in ("present", "extra")


def wanted_indexes(schemas: Schemas, schema: ModelSchema) -> list[Index]:
    """Return a model's indexes: its own, and those of copies, windows and listings.

    An own one on a single field gets ``_id`` as its last key, in the same direction, as sorts of pages
    do: with the field alone a page of 300,000 documents took 266 ms, and 1 ms so. Not where it has
    options, which may not go with it, and which sorts do not use.

    One on the embedded ids of each relation (fan-out), and for each window those by which it is read without sorting,
    and without a look at those that opted out: 40 members among 60,000 others took 110 ms, and 0.6 ms so.

    Last those of the model's listings, as many as a collection has room for.
    """
    declared = {index.keys for index in schema.options.indexes}
    own = [_with_id(Index(index.keys, index.options), declared) for index in schema.options.indexes]
    indexes = {index.keys: index for index in own}
    for relation in schema.relations.values():
        holders = ((f"{relation.name}._id", 1), ("_id", 1))
        indexes.setdefault(holders, Index(holders))
        for reverse in relation.related_relations.values():
            for keys, options in member_indexes(reverse):
                indexes.setdefault(keys, Index(keys, options))
    for listing in schemas.listings(schema.name):
        for one in listing.resolution().indexes:
            if len(indexes) < MOST_INDEXES - 1:  # the one on _id counts, too
                indexes.setdefault(one, Index(one))
    return list(indexes.values())


def listing_hints(schemas: Schemas, schema: ModelSchema) -> Iterator[str]:
    """Yield a message for each query of a listing that no index supports."""
    wanted = {index.keys for index in wanted_indexes(schemas, schema)}
    for listing in schemas.listings(schema.name):
        found = listing.resolution()
        yield from found.scans
        lacking = [(keys, _FULL) for keys in found.indexes] + [(keys, _MANY) for keys in found.left_out]
        for keys, reason in lacking:
            if keys not in wanted:
                names = ", ".join(name for name, _ in keys)
                yield f"{listing.declaration.where}: no index on {names}; {reason}"


def _with_id(index: Index, declared: Collection[tuple[tuple[str, int], ...]]) -> Index:
    (name, direction), *more = index.keys
    keys = (*index.keys, ("_id", direction))
    special = any(index.options.get(option, False) is not False for option in _COMPARED)
    if more or name == "_id" or special or keys in declared:
        return index
    return Index(keys, index.options, instead=index.keys)


def compared(collection: str, wanted: Iterable[Index], present: Iterable[Index]) -> list[IndexRow]:
    """Return a row for each index: the wanted ones in order, then the extra ones.

    A wanted index is there when one has its keys in their order and the same options. MongoDB
    allows several with the same keys; if none of them fits, the first is what it differs from.
    One that was built as declared, without ``_id`` as its last key, is present too, with a reason.
    """
    left = list(present)
    rows = []
    for index in wanted:
        alike = [one for one in left if one.keys == index.keys] or [one for one in left if one.keys == index.instead]
        found = min(alike, key=lambda one: len(_differences(index, one)), default=None)
        if found is not None:
            left.remove(found)
        rows.append(_row(collection, index, found))
    return rows + [IndexRow(collection, one.keys, "extra", None, one.options) for one in left]


def index_report(schemas: Schemas, storage: Storage) -> list[IndexRow]:
    """Return the rows of every model and of the jobs, without creating anything."""
    wanted = {schema.name: wanted_indexes(schemas, schema) for schema in schemas.get_schemas().values()}
    if storage.multi_process:  # elsewhere there are no jobs
        wanted[records.COLLECTION] = list(records.INDEXES)
    return [row for name, indexes in wanted.items() for row in compared(name, indexes, storage.indexes(name))]


def create_missing(
    schemas: Schemas, storage: Storage, *, on_progress: Callable[[IndexRow], object] | None = None
) -> list[IndexRow]:
    """Create what is missing, however large its collection; return a new report.

    An index that could not be created is still ``missing`` and has the reason. Indexes are built one
    after the other, so that each has its own reason; ``on_progress`` gets each before it is built.
    """
    reasons: dict[tuple[str, object], str] = {}
    for row in index_report(schemas, storage):
        if row.state == "missing":
            if on_progress is not None:
                on_progress(row)
            problems = storage.ensure(row.collection, [Index(row.keys, row.wanted or {})], sys.maxsize)
            reasons[row.collection, row.keys] = "; ".join(problems)
    return [
        replace(row, reason=reasons.get((row.collection, row.keys), "")) if row.state == "missing" else row
        for row in index_report(schemas, storage)
    ]


def _row(collection: str, index: Index, found: Index | None) -> IndexRow:
    if found is None:
        return IndexRow(collection, index.keys, "missing", index.options)
    if differences := _differences(index, found):
        return IndexRow(
            collection, found.keys, "differs", index.options, found.options, f"other {', '.join(differences)}"
        )
    reason = "" if found.keys == index.keys else _WITHOUT_ID
    return IndexRow(collection, found.keys, "present", index.options, found.options, reason)


def _differences(wanted: Index, present: Index) -> list[str]:
    found = [name for name in _COMPARED if not _same(name, wanted.options.get(name), present.options.get(name))]
    if "name" in wanted.options and wanted.options["name"] != present.options.get("name"):
        found.append("name")
    return found


def _same(name: str, wanted: Any, present: Any) -> bool:
    if name in ("unique", "sparse"):
        return bool(wanted) == bool(present)
    if name != "collation" or not wanted or not present:
        return bool(wanted == present)
    return all(present.get(key) == value for key, value in {**_COLLATION, **wanted}.items())
