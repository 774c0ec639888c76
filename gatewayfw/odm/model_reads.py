"""Models: reading the documents of one model.

Results are plain dictionaries; ids are `ObjectId`, dates naive UTC `datetime`, decimals, UUIDs and
binary data `Decimal`, `UUID` and `bytes`. They never contain the hidden field ``_gw``, and excluded
fields only if `reveal=` names them.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

from gatewayfw.odm.database import Database
from gatewayfw.odm.listings.listing import Listing
from gatewayfw.odm.operations import read
from gatewayfw.odm.operations.handle import Filter, Get, Handle
from gatewayfw.odm.reading.cursor import Cursor
from gatewayfw.odm.reading.filters import choose_filter, distinct_path, revealed
from gatewayfw.odm.reading.paths import Path
from gatewayfw.odm.reading.projection import Projections
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.values import loaded_form
from gatewayfw.spelling import as_contract, pythonic
from gatewayfw.storage import Document
from gatewayfw.storage.order import order_key

#: The keys of the object that `find` takes in the contract.
_OF_FIND = frozenset({"filter", "filters", "projection"})


class ModelReads:
    """Reading the documents of one model; see `gatewayfw.odm.models.Model`.

    Give a filter by position, or as ``filter`` or ``filters``, which mean the same. ``reveal`` names
    excluded fields that a call may use in its filter and its sort, and that `find` and `find_one`
    show. It is for server code: never take it from a request.
    """

    def __init__(self, database: Database, schema: ModelSchema, projections: Projections) -> None:
        self._handle = Handle(database, schema, projections)
        self.schema = schema

    @property
    def name(self) -> str:
        """The name of the model and of its collection."""
        return self.schema.name

    @property
    def is_restricted(self) -> bool:
        """Whether policies restrict what the caller of the act that runs now does with it."""
        return self._handle.rights() is not None

    @cached_property
    def unrestricted(self) -> Self:
        """The same model without policies.

        For server code that needs more than its caller may see.
        """
        free = copy(self)
        free._handle = self._handle.freed()
        return free

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

        ``config`` is a filter: ``find({"title": "x"})``. But if all of its keys are among ``filter filters
        projection``, and none of them is a name in the model, it is the contract's object:
        ``find({"filters": {...}, "projection": {...}})``. So never pass a client's object as a filter:
        name its fields.

        The documents show the fields in ``reveal``, even if only the filter or the sort needs them and
        ``projection`` leaves them out.

        Raises:
            UsageError: the filter names something the model does not have, or an unknown operator, or
                a relation without a field of it; or ``reveal`` names no excluded field.
            ValidationError: a value in the filter cannot be its field's (``filter.year``), or
                ``projection`` names something the model does not have.
            TypeError: the filter is given twice.
        """
        if config is not None:
            if self._is_of_contract(config):
                given = {"filter": filter, "filters": filters, "projection": projection, "reveal": reveal or None}
                keys = pythonic(config, {name: value for name, value in given.items() if value is not None})
                return self.find(**keys)
            filter = choose_filter(config, filter)
        model = self._handle
        viewer = model.viewer()
        wanted, shown = model.read_filter(viewer, filter, filters, reveal), model.compile(viewer, projection, reveal)
        return read.find(model, viewer, wanted, shown, reveal)

    def find_one(
        self,
        filter: Filter | None = None,
        *,
        filters: Filter | None = None,
        projection: Get | None = None,
        reveal: Sequence[str] = (),
    ) -> Document | None:
        """Return the first matching document, projected; None if there is none.

        If several match, which one is first is undefined; use ``find(...).sort(...).limit(1)`` for a fixed order.
        The document shows the fields in ``reveal``, even if only the filter needs them. To look up a document
        by a secret, find it with this method, then find it again by its ``_id``, without ``reveal``, for the
        client.

        Raises:
            UsageError, ValidationError, TypeError: as for `find`.
        """
        model = self._handle
        viewer = model.viewer()
        shown, storage = model.compile(viewer, projection, reveal), model.ready()
        return read.find_first(storage, model, model.read_filter(viewer, filter, filters, reveal), shown)

    def count(self, filter: Filter | None = None, *, filters: Filter | None = None, reveal: Sequence[str] = ()) -> int:
        """Return how many documents match; without a filter, all of them.

        Raises:
            UsageError, ValidationError, TypeError: as for `find`.
        """
        model = self._handle
        wanted = model.read_filter(model.viewer(), filter, filters, reveal)
        return model.ready().count(self.name, wanted)

    def exists(
        self, filter: Filter | None = None, *, filters: Filter | None = None, reveal: Sequence[str] = ()
    ) -> bool:
        """Tell whether a document matches; without a filter, whether there is one.

        Commands on MongoDB: 1, which stops at the first match.

        Raises:
            UsageError, ValidationError, TypeError: as for `find`.
        """
        model = self._handle
        wanted = model.read_filter(model.viewer(), filter, filters, reveal)
        return read.is_there(model.ready(), self.name, wanted)

    def distinct(
        self, field: Path, filter: Filter | None = None, *, filters: Filter | None = None, reveal: Sequence[str] = ()
    ) -> list[Any]:
        """Return the values that a field has in the matching documents, each once.

        ``field`` is a name, or a path such as ``author._id`` or ``address.street``. Each element of a list counts as a
        value; whether a list within a list does, or its elements, is undefined. Null does not: ask ``exists({field:
        None})``. The values come in the database's order: numbers, texts by code point, objects, lists, binary data,
        ids, booleans, dates.

        Commands on MongoDB: 1.

        Raises:
            UsageError: ``field`` is refused as `find` refuses it in a filter, or is a relation as a whole.
            UsageError, ValidationError, TypeError: as for `find`.
            StorageError: the values have more than 16 MB.
        """
        model = self._handle
        viewer = model.viewer()
        admitted = revealed(model.schemas, self.schema, reveal)
        path = distinct_path(model.schemas, self.schema, field, admitted, viewer)
        wanted = model.read_filter(viewer, filter, filters, reveal)
        found = model.ready().distinct(self.name, path, wanted)
        return [loaded_form(value) for value in sorted(found, key=order_key)]

    def aggregate(self, pipeline: Sequence[Mapping[str, Any]]) -> Cursor:
        """Return a cursor over the results of a pipeline that only reads.

        This is raw access for server code: the database gets the stages as written, and ids and dates are not
        converted. Only ``_gw`` and the model's excluded fields are removed, and only at the top level of the
        results. mongomock knows only some stages. The cursor sorts by any name except ``_gw`` and adds no
        key: end a sort with ``_id`` if you skip or limit.

        Raises:
            UsageError: the pipeline would write, or is not a list of stages.
        """
        return read.aggregate(self._handle, pipeline)

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

        ``filter``: names of fields, each with the operators that clients may use, of ``eq ne gt gte lt lte in nin
        exists prefix contains``. Name fields of copies by their path, ``author._id``; the name of a relation alone
        means its ids. ``sort``: names that clients may sort by; ``default_sort`` is the order if they give none,
        descending with ``-``. A page has ``default`` rows (20, if ``most`` allows), or as many as the client asks for,
        up to ``most``. ``count``: whether the first page says how many rows match: True counts all of them, a number is
        where counting stops. Declare listings where the models are defined: their indexes are built with those of the
        model, and they exist as long as the model.

        Raises:
            UsageError: a request is running, which would leave one more listing behind.
            DefinitionError: an argument has the wrong form. Names are judged with all other
                definitions, as other models may be defined later.
        """
        return read.add_listing(
            self._handle,
            filter=filter or {},
            sort=sort,
            default_sort=default_sort,
            most=most,
            default=default,
            count=count,
        )

    def _is_of_contract(self, config: Mapping[str, Any]) -> bool:
        if not isinstance(config, Mapping) or not _OF_FIND.issuperset(config):
            return False
        links = self._handle.schemas.links(self.name)
        return not any(name in self.schema.pure or name in links for name in config)

    # The contract's spellings of the methods above; each takes one object or keywords.
    findOne = as_contract(find_one)
    countDocument = as_contract(count)
    aggregation = as_contract(aggregate)
