"""Update or delete many documents, in batches of one transaction each."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, final

from gatewayfw.errors import StillReferenced
from gatewayfw.odm.database import Done
from gatewayfw.odm.operations.handle import Filter, Handle, Update
from gatewayfw.odm.operations.permission import Permission, names_in_update
from gatewayfw.odm.operations.walk import MOST, Begin, Ids, Pace, Walk, of_ids
from gatewayfw.odm.operations.write import DeleteResult, UpdateResult, check_flag
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.delete import delete_unsettled
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.update import update_unsettled
from gatewayfw.odm.writing.updates import Change, stored_update
from gatewayfw.storage import Storage
from gatewayfw.storage.documents import encode

T = TypeVar("T")
#: What became of one document: cascaded deletes by model, the reason for refusing it, or None for no match.
Deleted = Mapping[str, int] | StillReferenced | None


def is_deleted(one: Deleted) -> bool:
    """Tell whether a document was deleted."""
    return isinstance(one, Mapping)


@final
class Deletion:
    """The result of `delete_many` so far, and the documents that are put aside.

    ``counts`` says whether the caller is told of holders.
    """

    def __init__(self, model: str, *, counts: bool) -> None:
        self._model = model
        self._counts = counts
        self._deleted = 0
        self._cascaded: Counter[str] = Counter()
        self._pending = False
        self._begin_round()

    def _begin_round(self) -> None:
        self._aside: list[Any] = []
        self._held: Counter[str] = Counter()
        self._before = self._deleted

    def add(self, ids: Ids, done: Done[list[Deleted]]) -> None:
        """Add the results of one batch."""
        for id_, one in zip(ids, done.result, strict=True):
            if isinstance(one, StillReferenced):
                self._aside.append(id_)
                self._held.update(one.counts)
            elif one is not None:
                self._deleted += 1
                self._cascaded.update(one)
        self._cascaded.update(done.deleted)
        self._pending |= bool(done.pending)

    def end_round(self, done: int) -> Iterator[Ids] | None:
        """End a round; return the pages of the next one, or None if none is needed.

        The next one goes the other way, so that a chain of documents, each embedding the one before, takes two
        rounds and not one for each.

        Raises:
            StillReferenced: documents were refused, and none was deleted; ``done`` is for the error.
        """
        if not self._aside:
            return None
        if self._deleted == self._before:
            refusal = StillReferenced(self._model, dict(sorted(self._held.items())) if self._counts else {})
            refusal.done = done
            raise refusal
        ids = self._aside[::-1]
        self._begin_round()
        return (ids[start : start + MOST] for start in range(0, len(ids), MOST))

    def told(self) -> DeleteResult:
        """Return the result for the caller."""
        pending = {"pending": True} if self._pending and self._counts else {}
        cascaded = dict(sorted(self._cascaded.items())) if self._counts else {}
        return DeleteResult(deletedCount=self._deleted, cascaded=cascaded, **pending)


def update_many(model: Handle, wanted: dict[str, Any], changes: Update | None, allow: Sequence[str]) -> UpdateResult:
    """Change the pure fields of all matching documents, and every copy of them."""
    permission = Permission(model, names_in_update(changes), allow)
    storage, wanted = model.ready(), permission.limit(wanted)
    change = stored_update(model.schema, changes or {})
    permission.refuse_seen(storage, wanted)
    wanted = permission.narrow(wanted)
    if not change.named:
        return UpdateResult(matched=storage.count(model.name, wanted), modified=0)
    begin, judge = _changing(model, storage, wanted, change), partial(permission.judge_many, storage)

    def work(walk: Walk) -> UpdateResult:
        result = UpdateResult(matched=0, modified=0)
        for _ids, done in walk.batches(walk.pages(), begin, _is_there, judge):
            result["matched"] += sum(map(_is_there, done.result))
            result["modified"] += sum(map(bool, done.result))
        return result

    return _walk(model, wanted, work)


def delete_many(model: Handle, wanted: dict[str, Any], cascade: bool) -> DeleteResult:
    """Delete all matching documents; those that others embed are tried again."""
    permission = Permission(model)
    storage, wanted = model.ready(), permission.limit(wanted)
    check_flag("hardCascade", cascade)
    permission.refuse_seen(storage, wanted)
    wanted = permission.narrow(wanted)
    begin = _deleting(model, storage, wanted, cascade)

    def work(walk: Walk) -> DeleteResult:
        result = Deletion(model.name, counts=permission.counts_holders)
        pages: Iterable[Ids] | None = walk.pages()
        while pages is not None:
            for ids, done in walk.batches(pages, begin, is_deleted):
                result.add(ids, done)
            pages = result.end_round(walk.done)
        return result.told()

    return _walk(model, wanted, work)


def _changing(model: Handle, storage: Storage, wanted: Filter, change: Change) -> Begin[bool | None]:
    """Return the function that begins a batch of changes.

    Its visits tell whether fields differ afterwards; None for no match.
    """
    fields = sorted(change.named)
    allowance = model.allowance and model.allowance.looking_first()

    def begin(attempt: Attempt, effects: Effects, ids: Ids) -> Callable[[Any], bool | None]:
        found = storage.find(model.name, of_ids(wanted, {"$in": list(ids)}), fields)
        before = {repr(one["_id"]): _encoded(one, fields) for one in found}

        def visit(id_: Any) -> bool | None:
            if repr(id_) not in before:
                return None
            one = of_ids(wanted, id_)
            after = apply(storage, update_unsettled(attempt, model.schema, one, change, (), allowance, effects))
            return None if after is None else _encoded(after, fields) != before[repr(id_)]

        return visit

    return begin


def _deleting(model: Handle, storage: Storage, wanted: Filter, cascade: bool) -> Begin[Deleted]:
    """Return the function that begins a batch of deletions.

    Its visits return the number of cascaded ones by model, or a refusal; None for no match.
    """

    def begin(attempt: Attempt, effects: Effects, _ids: Ids) -> Callable[[Any], Deleted]:
        def visit(id_: Any) -> Deleted:
            try:
                return apply(storage, delete_unsettled(attempt, model.schema, of_ids(wanted, id_), cascade, effects))
            except StillReferenced as refusal:  # before anything was written but its lock
                return refusal

        return visit

    return begin


def _walk(model: Handle, wanted: Filter, work: Callable[[Walk], T]) -> T:
    """Run work on the matching documents, in the open transaction if there is one."""
    database, storage = model.database, model.database.storage
    if database.is_nested:
        return database.run(lambda _: work(Walk(database, model.name, wanted))).result
    # Without transactions an error leaves a part of its batch done, which nobody would count.
    most = MOST if storage.has_transactions() else 1
    return work(Walk(database, model.name, wanted, Pace(remaining=storage.scope.remaining, most=most)))


def _is_there(differs: bool | None) -> bool:
    return differs is not None


def _encoded(document: Mapping[str, Any], fields: Iterable[str]) -> bytes:
    return encode({name: document[name] for name in fields if name in document})
