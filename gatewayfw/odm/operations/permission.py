"""What policies let the caller of an act write, before and after it is done."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, final

from gatewayfw import messages
from gatewayfw.errors import Conflict, DuplicateKey, Forbidden, StillReferenced, UsageError, missing_related
from gatewayfw.odm.ids import ordered
from gatewayfw.odm.operations.handle import Handle
from gatewayfw.odm.operations.read import is_there
from gatewayfw.odm.reading.paths import path_text
from gatewayfw.odm.reading.rights import both, find_there, limit, rights_of
from gatewayfw.odm.reading.shapes import copies_in
from gatewayfw.odm.writing.inputs import RelationInput
from gatewayfw.policies.declaration import names_of
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.documents import as_stored
from gatewayfw.storage.filter_operators import compile_filter, paths_in

T = TypeVar("T")
_Filter = dict[str, Any]


@final
class Permission:
    """What the caller may write of one model in one operation.

    That is everything if no policy restricts it. ``names`` are those that the operation names, ``allow`` the hidden and
    fixed ones that it may name nevertheless.

    Raises:
        Forbidden: the caller may write nothing of the model, or not what it names.
        UsageError: ``allow`` has a name that the model does not have.
    """

    def __init__(self, model: Handle, names: Iterable[str] = (), allow: Sequence[str] = ()) -> None:
        self._model, self.viewer = model, model.viewer()
        self._rights = None if self.viewer is None else rights_of(self.viewer, model.name)
        allowed = _allowed(model.schemas, model.name, allow) if allow else ()
        if self._rights is None:
            return
        joined = self._rights.joined
        if not joined.writes:
            raise Forbidden(messages.NOT_TO_WRITE.format(model=model.name))
        refused = {*joined.hides, *joined.fixed}.difference(allowed).intersection(names)
        if refused:
            raise Forbidden(messages.NOT_TO_SET.format(model=model.name, names=", ".join(sorted(refused))))
        _ = self._rights.changes, self._rights.checks  # functions that query must not see the write itself

    def limit(self, wanted: _Filter) -> _Filter:
        """Return a filter of the documents that are there for the caller, too."""
        return limit(self.viewer, self._model.name, wanted)

    def narrow(self, wanted: _Filter) -> _Filter:
        """Return a filter of what may be changed, too."""
        return wanted if self._rights is None else both(wanted, self._rights.changes)

    def changed(self, storage: Storage, wanted: _Filter, result: T | None) -> T | None:
        """Return the result of a change of what `narrow` left of a filter.

        Raises:
            Forbidden: it is None because what matches ``wanted`` may not be changed.
        """
        if result is None:
            self.refuse_seen(storage, wanted, self.narrow(wanted))
        return result

    def refuse_seen(self, storage: Storage, wanted: _Filter, *unless: _Filter) -> None:
        """Refuse to change documents one of which is seen, but may not be changed.

        Raises:
            Forbidden: a document matches ``wanted``, and none one of ``unless``.
        """
        if self._rights is None or not self._rights.changes:
            return
        name, outside = self._model.name, both(wanted, {"$nor": [self._rights.changes]})
        if is_there(storage, name, outside) and not any(is_there(storage, name, one) for one in unless):
            raise Forbidden(messages.NOT_TO_CHANGE.format(model=name))

    def refuse_missing(
        self,
        storage: Storage,
        inputs: Iterable[Mapping[str, RelationInput]],
        holder: _Filter | None = None,
        *,
        leaving: bool = False,
        anew: bool = True,
    ) -> None:
        """Refuse ids in relations whose documents are not there for the caller.

        They get the error of ids that do not exist; if they are ``leaving``, of ids that are not related. Shared copies
        that the ``holder`` has may be named by whoever sees them; a frozen one not where it would be taken ``anew``,
        because it would show what its document has become.

        Raises:
            NotFound: names the ids.
        """
        if self.viewer is None:
            return
        named: dict[tuple[str, str], set[Any]] = {}
        for one in (one for each in inputs for one in each.values()):
            model = one.relation.schema_name
            if self.viewer.has_rows(model) and not (leaving and self.viewer.shows_all(one.relation)):
                has = set() if one.relation.frozen and anew else self._shared_ids(storage, one.relation, holder)
                new = set(one.ids).difference(has)
                named.setdefault((model, one.relation.name if leaving else model), set()).update(new)
        for (model, shown), ids in sorted(named.items()):
            rights = rights_of(self.viewer, model)
            there = ids if rights is None else find_there(storage, model, rights, ids)
            if missing := [id_ for id_ in ordered(ids) if id_ not in there]:
                raise missing_related(shown, missing)

    def pin(self, storage: Storage, wanted: _Filter, inputs: Mapping[str, RelationInput]) -> _Filter | None:
        """Return a filter of one match, where its shared copies admit ids.

        Else it is the one that was given; None for no match. What one match has may not be named for another one.
        """
        viewer, links = self.viewer, [one.relation for one in inputs.values()]
        if viewer is None or not any(viewer.has_rows(one.schema_name) and viewer.shows_all(one) for one in links):
            return wanted
        found = storage.find(self._model.name, wanted, [], limit=1)
        return next((both(wanted, {"_id": one["_id"]}) for one in found), None)

    def _shared_ids(self, storage: Storage, relation: Relation, holder: _Filter | None) -> set[Any]:
        """Return the ids of the shared copies that a relation has already."""
        if holder is None or self.viewer is None or not self.viewer.shows_all(relation):
            return set()
        found = storage.find(self._model.name, holder, [f"{relation.name}._id"], limit=1)
        return {copy["_id"] for one in found for copy in copies_in(one.get(relation.name))}

    @property
    def counts_holders(self) -> bool:
        """Whether the caller is told how many other documents a delete concerns."""
        return self.viewer is None or not self.viewer.is_restricted

    @contextmanager
    def veiled(self) -> Iterator[None]:
        """Let no error in a block tell which documents are in the way.

        Callers whom no policy restricts are told. It stands in the operation, because a transaction raises again what
        has failed in one.
        """
        try:
            yield
        except Conflict as error:
            if self.counts_holders or type(error) not in (Conflict, StillReferenced):
                raise
            is_held = isinstance(error, StillReferenced)
            raise StillReferenced(self._model.name, {}) if is_held else DuplicateKey("_id") from None

    @property
    def judged(self) -> Collection[str]:
        """The names that `judge` looks at."""
        return () if self._rights is None else {path.partition(".")[0] for path in paths_in(self._rights.checks)}

    def judge(self, documents: Iterable[Document | None]) -> None:
        """Refuse what a write has left, in its transaction, which this undoes.

        Raises:
            Forbidden: a document may not be left like this.
        """
        if self._rights is None or not self._rights.checks:
            return
        fits = compile_filter(as_stored(self._rights.checks))
        if not all(one is None or fits(as_stored(one)) for one in documents):
            raise Forbidden(messages.NOT_TO_LEAVE.format(model=self._model.name))

    def judge_many(self, storage: Storage, ids: Iterable[Any], results: Iterable[object]) -> None:
        """Refuse what a write has left of those whose result is not None, as `judge`.

        One may hold a copy of another, so this comes after the last one is written.
        """
        if self._rights is not None and self._rights.checks:
            changed = [id_ for id_, one in zip(ids, results, strict=False) if one is not None]
            if is_there(storage, self._model.name, {"_id": {"$in": changed}, "$nor": [self._rights.checks]}):
                raise Forbidden(messages.NOT_TO_LEAVE.format(model=self._model.name))


def names_in_update(update: object) -> Iterator[str]:
    """Yield the names that an update changes; what is no update is refused later."""
    for changes in update.values() if isinstance(update, Mapping) else ():
        for path in changes if isinstance(changes, Mapping) else ():
            if isinstance(text := path_text(path, "update"), str):
                yield text.partition(".")[0]


def names_in_documents(given: Iterable[object]) -> Iterator[str]:
    """Yield the names that new documents and relation input have."""
    for one in given:
        if isinstance(one, Mapping):
            yield from (name for name in one if isinstance(name, str))


def _allowed(schemas: Schemas, model: str, allow: Sequence[str]) -> tuple[str, ...]:
    names, known = (allow,) if isinstance(allow, str) else tuple(allow), names_of(schemas, model)
    for name in names:
        if name not in known:
            raise UsageError(f"allow: model {model} has no {name!r}")
    return names
