"""What the caller of an act may read, as the functions of policies say.

They run once for each model and caller, when their results are first needed, and nothing restricts what they read.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, final

from bson import ObjectId

from gatewayfw.context_variables import Caller, Free, calling
from gatewayfw.errors import Unavailable, UsageError, ValidationError
from gatewayfw.logs import traceback_of
from gatewayfw.odm.reading.filters import stored_filter
from gatewayfw.odm.reading.projection import LinkShape, Projection
from gatewayfw.odm.reading.shapes import copies_in
from gatewayfw.odm.reading.viewer import Viewer, viewer_of
from gatewayfw.policies.declaration import ContextFn
from gatewayfw.policies.joining import Joined
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.values import id_of
from gatewayfw.storage import Storage
from gatewayfw.storage.filter_operators import JUNCTIONS, has_operators

_LOG = logging.getLogger("gatewayfw.policies")
#: Most ids in one query; 10,000 of them are 250 kB, far from the 16 MB that a command may have.
MOST_IDS = 10_000
_NEGATIONS = ("$not", "$nor")
_OF_FILTERS = ("", "$elemMatch", *JUNCTIONS)
#: The filter that no document matches.
NOTHING: dict[str, Any] = {"_id": {"$in": []}}


@final
class Rights:
    """What one caller may do with the documents of one model.

    Attributes:
        joined: the functions that say so.
    """

    def __init__(self, viewer: Viewer, model: str, joined: Joined) -> None:
        self._viewer = viewer
        self._model = model
        self._filters: dict[ContextFn, dict[str, Any]] = {}
        self.joined = joined

    @cached_property
    def rows(self) -> dict[str, Any]:
        """The stored filter of the documents that are there; empty for all."""
        return NOTHING if self.joined.is_closed else self.filter_of(self.joined.rows, "rows")

    @cached_property
    def changes(self) -> dict[str, Any]:
        """The stored filter of what may be changed of that; empty for all."""
        return self.filter_of(self.joined.changes, "write")

    @cached_property
    def checks(self) -> dict[str, Any]:
        """The stored filter of what a write may leave; empty for anything."""
        return self.filter_of(self.joined.checks, "check")

    @cached_property
    def owned(self) -> Mapping[str, frozenset[ObjectId]]:
        """The ids of the documents that show a hidden name, by name."""
        hides = self.joined.hides
        ids = {own: self._ids(own) for own in {own for owns in hides.values() for own in owns}}
        return {name: frozenset.intersection(*(ids[own] for own in owns)) for name, owns in hides.items() if owns}

    def filter_of(self, functions: Iterable[ContextFn], what: str) -> dict[str, Any]:
        """Return the stored filter of what all functions ask for; empty for everything.

        Raises:
            UsageError: one gave no filter of the model, or one that compares with None.
        """
        found: dict[str, Any] = {}
        for function in functions:
            if function not in self._filters:  # it may say what is seen and what may be left, and means one thing
                # Replaced, never changed: the rights of another attempt share it.
                self._filters = {**self._filters, function: self._filter(function, what)}
            found = both(found, self._filters[function])
        return found

    def _filter(self, function: ContextFn, what: str) -> dict[str, Any]:
        given, schemas = self._call(function), self._viewer.schemas
        if given is None:
            return NOTHING
        schema = schemas.get_schema(self._model)
        is_wrong = not isinstance(given, Mapping) or _compares_with_none(given)
        try:
            stored = {} if is_wrong else stored_filter(schemas, schema, given, what, schema.options.excludes)
        except ValidationError as error:  # the author's mistake, which is not the client's to hear of
            raise UsageError(f"policy of {self._model}: {error}") from error
        if is_wrong or _compares_with_none(stored):  # a field may store another value as None
            raise UsageError(
                f"policy of {self._model}: {what}: expected a filter without None; give None to show nothing"
            )
        return stored

    def _ids(self, own: ContextFn) -> frozenset[ObjectId]:
        given = self._call(own)
        is_list = isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))
        ids = [id_of(one) for one in given] if is_list else []
        if (given is not None and not is_list) or None in ids:
            raise UsageError(f"policy of {self._model}: own: expected a list of ids")
        return frozenset(id_ for id_ in ids if id_ is not None)

    def _call(self, function: ContextFn) -> Any:
        with calling(self._viewer.schemas, Free.POLICY):
            try:
                given = function(self._viewer.caller.context)
                return list(given) if isinstance(given, Iterator) else given  # the steps of a generator are its code
            except Unavailable:  # else an outage would be taken for rows, and kept when a transaction begins again
                raise
            except Exception as error:  # The seam: an author's function may fail, and then shows nothing.
                _LOG.error("a function of a policy of %s failed\n%s", self._model, traceback_of(error))
                return None


def rights_of(viewer: Viewer, model: str) -> Rights | None:
    """Return what a caller may do with a model's documents; None for everything."""
    known = viewer.caller.known
    try:
        return known[model]  # type: ignore[no-any-return]  # what is put there
    except KeyError:
        joined = viewer.joined(model)
        found = known[model] = None if joined is None else Rights(viewer, model, joined)
        return found


def fix_rights(schemas: Schemas, caller: Caller) -> None:
    """Ask now for the rows and own documents of every model."""
    viewer = viewer_of(schemas, caller)
    for model in schemas.get_schemas():
        if rights := rights_of(viewer, model):
            _ = rights.rows, rights.owned


def limit(viewer: Viewer | None, model: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return a stored filter of the documents that are there, too."""
    if viewer is None:
        return wanted
    rights = rights_of(viewer, model)
    return wanted if rights is None or not rights.joined.has_rows else both(wanted, rights.rows)


def both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the filter of what two match; ``_id`` stays where it is in the first."""
    if not one or not other:
        return one or other
    return {**one, "$and": [*one.get("$and", ()), other]}


def screen(
    viewer: Viewer, storage: Storage, projection: Projection, documents: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Return documents without what of a projection the caller does not see.

    Copies of documents that are not there are left out, and so are hidden names that only own documents show. This
    takes one query for each link whose copies are looked up.
    """
    if projection.owned:
        rights = rights_of(viewer, projection.model)
        owned = {} if rights is None else rights.owned
        documents = [_without(one, projection.owned, owned) for one in documents]
    for name, link in projection.links.items():
        if link.guarded or link.owned:
            documents = _screen_link(viewer, storage, name, link, documents)
    return documents


def _screen_link(
    viewer: Viewer, storage: Storage, name: str, link: LinkShape, documents: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    rights = rights_of(viewer, link.model)
    assert rights is not None  # something of the copies is hidden
    found = [copies_in(one.get(name)) for one in documents]
    if link.guarded:
        ids = {id_ for each in found for one in each if isinstance(id_ := one.get("_id"), ObjectId)}
        there = find_there(storage, link.model, rights, ids)
        found = [[one for one in each if _is_in(one, there)] for each in found]
    if link.owned:
        found = [[_without(one, link.owned, rights.owned) for one in each] for each in found]
    screened = []
    for document, copies in zip(documents, found, strict=True):
        kept = {key: value for key, value in document.items() if key != name}
        if isinstance(document.get(name), list):
            kept[name] = copies
        elif copies:
            kept[name] = copies[0]
        screened.append(kept)
    return screened


def find_there(storage: Storage, model: str, rights: Rights, ids: Iterable[ObjectId]) -> set[ObjectId]:
    """Return which of the documents with these ids are there."""
    if rights.rows is NOTHING:
        return set()
    there: set[ObjectId] = set()
    remaining = iter(ids)
    while some := list(islice(remaining, MOST_IDS)):
        wanted = both({"_id": {"$in": some}}, rights.rows)
        there.update(one["_id"] for one in storage.find(model, wanted, [], limit=len(some)))
    return there


def _without(
    document: Mapping[str, Any], names: Iterable[str], owned: Mapping[str, frozenset[ObjectId]]
) -> dict[str, Any]:
    """Return a document without those names that it does not show, by its ``_id``."""
    hidden = {name for name in names if not _is_in(document, owned.get(name, ()))}
    return {name: value for name, value in document.items() if name not in hidden}


def _is_in(document: Mapping[str, Any], ids: Collection[ObjectId]) -> bool:
    id_ = document.get("_id")
    return isinstance(id_, ObjectId) and id_ in ids


def _compares_with_none(given: Any, key: object = "", *, negated: bool = False) -> bool:
    """Tell whether a filter may match None, which also matches what has no such field."""
    if given is None:
        return negated or key != "$ne"
    if isinstance(given, Mapping):
        if key not in _OF_FILTERS and not has_operators(given):
            return False  # a whole object that is compared may hold None
        return any(_compares_with_none(one, name, negated=negated or name in _NEGATIONS) for name, one in given.items())
    is_list = isinstance(given, (list, tuple)) and (negated or key != "$nin")
    return is_list and any(_compares_with_none(one, key, negated=negated) for one in given)
