"""What reads the documents of one model, and what its other operations share.

Results are plain dictionaries; ids are `ObjectId`, dates naive UTC `datetime`, decimals, UUIDs and
binary data `Decimal`, `UUID` and `bytes`. The hidden field ``_gw`` is never in them, nor are excluded
fields, unless `reveal=` names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from gatewayfw.batches import in_batches
from gatewayfw.errors import UsageError
from gatewayfw.odm.copies.rules import HIDDEN
from gatewayfw.odm.database import Database
from gatewayfw.odm.listings import Listing
from gatewayfw.odm.listings.declaration import declare
from gatewayfw.odm.reading.cursor import Cursor, fixed_order
from gatewayfw.odm.reading.deep import show_each, show_found
from gatewayfw.odm.reading.filters import check_raw_sort, revealed, selects_all, sort_check, stored_filter
from gatewayfw.odm.reading.projection import Projection, Projections
from gatewayfw.schemas import ModelSchema
from gatewayfw.spelling import pythonic
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.base import Sorting
from gatewayfw.storage.subset import check_pipeline

Get = Mapping[str, Any]
Filter = Mapping[str, Any]

#: The keys of the object that the contract gives to `find`.
_OF_FIND = frozenset({"filter", "filters", "projection"})


class ModelReads:
    """Reading the documents of one model; see `gatewayfw.odm.models.Model`.

    A filter is given by position, or as ``filter`` or ``filters``, which mean the same. ``reveal`` names
    excluded fields that a call may use: in its filter and its sort, and in what `find` and `find_one`
    show. It is for server code: never take it from a request.
    """

    def __init__(self, database: Database, schema: ModelSchema, projections: Projections) -> None:
        self._database = database
        self._projections = projections
        self.schema = schema

    @property
    def name(self) -> str:
        """The model's name, also that of its collection."""
        return self.schema.name

    def find(
        self,
        config: Mapping[str, Any] | None = None,
        /,
        *,
        filter: Filter | None = None,
        filters: Filter | None = None,
        projection: Get | None = None,
        reveal: Sequence[str] = (),
    ) -> Cursor:
        """Return a cursor over the matching documents, projected; all without a filter.

        ``config`` is a filter: ``find({"title": "x"})``. The name is spelled the same in the contract,
        so where all of its keys are among ``filter filters projection``, and none of them is a name
        of the model's, it is the contract's object: ``find({"filters": {...}, "projection": {...}})``.
        So never give an object of a client's as a filter: name its fields.

        ``reveal`` shows the fields it names, also where only the filter or the sort needs them: no
        ``projection`` leaves them out.

        Raises:
            UsageError: the filter names what the model does not have, or an unknown operator, or
                a relation without a field of it; or ``reveal`` names no excluded field.
            ValidationError: a value in the filter cannot be its field's (``filter.year``), or
                ``projection`` names what the model does not have.
            TypeError: the filter is given twice.
        """
        if config is not None:
            if self._is_of_contract(config):
                given = {"filter": filter, "filters": filters, "projection": projection, "reveal": reveal or None}
                keys = pythonic(config, {name: value for name, value in given.items() if value is not None})
                return self.find(**keys)
            filter = _only(config, filter)
        wanted = self._filter(filter, filters, reveal, optional=True)
        compiled = self._shown(projection, reveal)

        def read(sort: Sorting, skip: int, limit: int) -> Iterator[Sequence[Document]]:
            storage, order = self._ready(), fixed_order(sort, skip, limit)
            found = storage.find(self.name, wanted, compiled.paths, sort=order, skip=skip, limit=limit)
            return show_each(storage, compiled, found)

        return Cursor(read, sort_check(self._database.schemas, self.schema, reveal))

    def find_one(
        self,
        filter: Filter | None = None,
        *,
        filters: Filter | None = None,
        projection: Get | None = None,
        reveal: Sequence[str] = (),
    ) -> Document | None:
        """Return the first document that matches, projected; None when there is none.

        Which one is the first is open where several match: ``find(...).sort(...).limit(1)`` says it.
        ``reveal`` shows the fields it names, also where only the filter needs them. To look up by a
        secret, take the ``_id`` of what this returns and find by that, without ``reveal``, what a
        client gets.

        Raises:
            UsageError, ValidationError, TypeError: as for `find`.
        """
        compiled = self._shown(projection, reveal)
        storage = self._database.ready(self.schema.name)
        return self._first(storage, self._filter(filter, filters, reveal, optional=True), compiled)

    def count(self, filter: Filter | None = None, *, filters: Filter | None = None, reveal: Sequence[str] = ()) -> int:
        """Return how many documents match; without a filter, how many there are.

        Raises:
            UsageError, ValidationError, TypeError: as for `find`.
        """
        wanted = self._filter(filter, filters, reveal, optional=True)
        return self._ready().count(self.name, wanted)

    def aggregate(self, pipeline: Sequence[Mapping[str, Any]]) -> Cursor:
        """Return a cursor over the results of a pipeline that only reads.

        Raw access for server code: stages reach the database as written, ids and dates are not
        converted, and only top-level names are cleaned: ``_gw`` and the model's excluded fields
        are not in the results. mongomock knows a part of the stages. The cursor sorts by any name
        but ``_gw`` and adds no key: end a sort with ``_id`` where you skip or limit.

        Raises:
            UsageError: the pipeline would write, or is no list of stages.
        """
        check_pipeline(pipeline)
        hidden = self.schema.options.excludes | {HIDDEN}

        def read(sort: Sorting, skip: int, limit: int) -> Iterator[Sequence[Document]]:
            tail: list[Mapping[str, Any]] = [{"$sort": dict(sort)}] if sort else []
            tail += [{"$skip": skip}] if skip else []
            tail += [{"$limit": limit}] if limit else []
            found = self._ready().aggregate(self.name, [*pipeline, *tail])
            return ([_without(hidden, one) for one in batch] for batch in in_batches(found))

        return Cursor(read, check_raw_sort)

    def listing(
        self,
        *,
        filter: Mapping[str, Sequence[str]] | None = None,
        sort: Sequence[str] = (),
        default_sort: str = "-_id",
        most: int = 100,
        default: int | None = None,
        count: bool | int = False,
    ) -> Listing:
        """Declare a list of documents that clients filter, sort and read by page.

        ``filter``: names of fields, each with the operators that clients may use, of ``eq ne gt gte lt
        lte in nin exists prefix contains``; fields of copies by their path, ``author._id``, a relation
        alone for its ids. ``sort``: names that clients may sort by, ``default_sort`` the order without,
        descending with ``-``. A page has ``default`` rows (20, if ``most`` allows), or as many as the
        client asks for, up to ``most``. ``count``: whether the first page says how many match: True for
        all, a number to count no further. Declare listings where the models are defined: their indexes are built with
        those of the model.

        Raises:
            DefinitionError: an argument has the wrong form. Names are judged with all other
                definitions, as other models may be defined later.
        """
        schemas, made = self._database.schemas, []

        def make(number: int) -> Listing:
            declared = declare(
                self.name,
                number,
                filter=filter or {},
                sort=sort,
                default_sort=default_sort,
                most=most,
                default=min(20, most) if default is None else default,
                count=count,
            )
            made.append(Listing(schemas, declared, self._ready, self._shown))
            return made[0]

        schemas.add_listing(self.name, make)
        return made[0]

    # -- what the operations share

    def _ready(self) -> Storage:
        return self._database.ready(self.name)

    def _filter(
        self, filter: Filter | None, filters: Filter | None, reveal: Sequence[str], *, optional: bool = False
    ) -> dict[str, Any]:
        """Return an operation's filter in its stored form.

        Only one that is ``optional`` may select all.
        """
        where = "filter"
        if filters is not None:
            filter, where = _only(filters, filter), "filters"
        if filter is None and not optional:
            raise UsageError(f"{where}: expected an object")
        if reveal:
            reveal = revealed(self.schema, reveal)
        wanted = stored_filter(self._database.schemas, self.schema, filter, where, reveal)
        if not optional and selects_all(wanted):
            raise UsageError(f"{where}: name what is to be changed or deleted; an empty one is any document")
        return wanted

    def _shown(self, get: Get | None, reveal: Sequence[str] = ()) -> Projection:
        """Compile what is shown: what a `get` asks for, and what is revealed."""
        names: tuple[str, ...] = ()
        if reveal:
            names = revealed(self.schema, reveal)
            if isinstance(get, Mapping):
                get = {**get, **dict.fromkeys(names, 1)}
        return self._projections.compiled(self.schema, get, names)

    def _first(self, storage: Storage, wanted: Filter, projection: Projection) -> Document | None:
        found = list(storage.find(self.schema.name, wanted, projection.paths, limit=1))
        return show_found(storage, projection, found)[0] if found else None

    def _is_of_contract(self, config: Mapping[str, Any]) -> bool:
        if not isinstance(config, Mapping) or not _OF_FIND.issuperset(config):
            return False
        links = self._database.schemas.links(self.name)
        return not any(name in self.schema.pure or name in links for name in config)

    # The contract's spellings of the methods above; each takes one object or keywords.

    def findOne(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> Document | None:
        """Find one document: ``{filters, projection}``."""
        return self.find_one(**pythonic(config, keys))

    def countDocument(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> int:
        """Count documents: ``{filter}``."""
        return self.count(**pythonic(config, keys))

    def aggregation(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> Cursor:
        """Run a pipeline that only reads: ``{pipeline}``."""
        return self.aggregate(**pythonic(config, keys))


def _only(given: Filter, other: Filter | None) -> Filter:
    """Return the filter that was given in one of its two places."""
    if other is not None:
        raise TypeError("the filter is given twice: filter and filters mean the same")
    return given


def _without(hidden: Set[str], document: Document) -> Document:
    return {name: value for name, value in document.items() if name not in hidden}
