"""Write many documents of one model; also what this shares with writes of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, overload

from gatewayfw.errors import StillReferenced, ValidationError
from gatewayfw.odm.deletion import Deleted, Deletion, is_deleted
from gatewayfw.odm.model_reads import Filter, Get, ModelReads
from gatewayfw.odm.reading.cursor import DeleteResult, UpdateResult
from gatewayfw.odm.reading.deep import show
from gatewayfw.odm.walk import Begin, Ids, InnerWalk, PacedWalk, Walk, of_ids
from gatewayfw.odm.writing.allowance import Allowance, SizeCheck, allowance_of
from gatewayfw.odm.writing.apply import apply
from gatewayfw.odm.writing.new_documents import NewDocument, parse_document
from gatewayfw.odm.writing.pace import MOST, Pace
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.odm.writing.plan.insert import insert
from gatewayfw.odm.writing.plan.update import update as update_plan
from gatewayfw.odm.writing.relation_input import parse_new_inputs, sources_in
from gatewayfw.odm.writing.updates import Change, stored_update
from gatewayfw.spelling import pythonic
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.documents import encode

T = TypeVar("T")
Update = Mapping[str, Any]


class ModelMany(ModelReads):
    """Writing many documents of one model; see `gatewayfw.odm.models.Model`."""

    def insert_many(
        self,
        docs: Sequence[Mapping[str, Any]],
        *,
        relations: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
        projection: Get | None = None,
    ) -> list[Document]:
        """Insert all documents or none, and return them projected, in the given order.

        ``relations`` is one object for all documents, or a list as long as ``docs``. Errors are
        those of `insert_one`; their paths start with ``docs.<number>``.

        Raises:
            TooLarge: as for `insert_one`, or the documents together would embed more copies than the
                setting ``insert_copies``.
            Timeout: the deadline passed, also between two documents.
        """
        if isinstance(docs, (str, bytes, Mapping)) or not isinstance(docs, Sequence):
            raise ValidationError({"docs": ["Expected a list."]})
        if relations is None or isinstance(relations, Mapping):
            relations = [relations]
        elif not isinstance(relations, (list, tuple)) or len(relations) != len(docs):
            raise ValidationError({"relations": ["Expected one object, or as many as docs."]})
        return self._insert(docs, relations, projection, where=[f"docs.{number}" for number in range(len(docs))])

    def _insert(
        self,
        docs: Sequence[Mapping[str, Any]],
        relations: Sequence[Mapping[str, Any] | None],
        get: Get | None,
        where: Sequence[str],
    ) -> list[Document]:
        storage = self._ready()
        projection = self._shown(get)
        if not docs:
            return []
        inputs = parse_new_inputs(self.schema, relations, len(docs), self._database.schemas.settings.insert_copies)
        new: list[NewDocument] = []
        for doc, given, place in zip(docs, inputs, where, strict=True):
            if new:
                storage.check_deadline()
            new.append(parse_document(self.schema, doc, given, self._allowance, place))
        done = self._database.run(
            lambda attempt: show(storage, projection, apply(storage, insert(attempt, self.schema, new))),
            proof=(self.name, new[0].proof()),
            hot=[target for one in new for target in sources_in(one.inputs)],
        )
        return done.result

    @overload
    def update_many(self, filter: Filter, update: Update, *, reveal: Sequence[str] = ()) -> UpdateResult: ...

    @overload
    def update_many(self, *, filters: Filter, update: Update, reveal: Sequence[str] = ()) -> UpdateResult: ...

    def update_many(
        self,
        filter: Filter | None = None,
        update: Update | None = None,
        *,
        filters: Filter | None = None,
        reveal: Sequence[str] = (),
    ) -> UpdateResult:
        """Change the pure fields of all matching documents, and every copy of them.

        Returns ``{"matched": n, "modified": n}``; ``modified`` counts those whose fields differ afterwards. ``update``
        is as for `find_one_and_update`; with ``$currentDate`` all get the same moment. Each document is changed once,
        in the order of ``_id``, if it still matches then. Documents that begin to match meanwhile may be left out.

        This runs in many transactions, small enough to let others write meanwhile, with pauses between them. So others
        see it half done, and after an error the documents changed before stay changed: ``error.done`` says how many. To
        finish, call it again. Inside `odm.transaction` it is all or nothing.

        Raises:
            UsageError, BadRequest, ValidationError, DuplicateKey, TooLarge: as for `find_one_and_update`.
            TooLarge: inside `odm.transaction` more than 1,000 documents match.
            Timeout: the deadline passed.
        """
        storage = self._ready()
        wanted = self._filter(filter, filters, reveal)
        change = stored_update(self.schema, update or {})
        if not change.named:
            return UpdateResult(matched=storage.count(self.name, wanted), modified=0)
        begin = self._changing(storage, wanted, change)

        def work(walk: Walk) -> UpdateResult:
            result = UpdateResult(matched=0, modified=0)
            for _ids, done in walk.batches(walk.pages(), begin, _is_there):
                result["matched"] += sum(map(_is_there, done.result))
                result["modified"] += sum(map(bool, done.result))
            return result

        return self._walked(wanted, work)

    @overload
    def delete_many(
        self, filter: Filter, *, hard_cascade: bool = False, reveal: Sequence[str] = ()
    ) -> DeleteResult: ...

    @overload
    def delete_many(
        self, *, filters: Filter, hard_cascade: bool = False, reveal: Sequence[str] = ()
    ) -> DeleteResult: ...

    def delete_many(
        self,
        filter: Filter | None = None,
        *,
        filters: Filter | None = None,
        hard_cascade: bool = False,
        reveal: Sequence[str] = (),
    ) -> DeleteResult:
        """Delete all matching documents.

        Each is deleted as by `delete_one`. A document that others embed is tried again after the later ones, because
        these may be what embeds it, until no more can be deleted.

        This runs in many transactions, like `update_many`; after an error ``error.done`` says how many documents are
        deleted. Inside `odm.transaction` it is all or nothing.

        Raises:
            UsageError, ValidationError: a filter that `find` refuses, or an empty one.
            StillReferenced: other documents embed those that are left; the error has the number of holders
                by model, in which a holder of two counts twice.
            TooLarge: inside `odm.transaction` more than 1,000 documents match.
            Timeout: the deadline passed.
        """
        storage = self._ready()
        wanted = self._filter(filter, filters, reveal)
        check_cascade(hard_cascade)
        begin = self._deleting(storage, wanted, hard_cascade)

        def work(walk: Walk) -> DeleteResult:
            result = Deletion(self.name)
            pages: Iterable[Ids] | None = walk.pages()
            while pages is not None:
                for ids, done in walk.batches(pages, begin, is_deleted):
                    result.add(ids, done)
                pages = result.end_round(walk.done)
            return result.told()

        return self._walked(wanted, work)

    def _changing(self, storage: Storage, wanted: Filter, change: Change) -> Begin[bool | None]:
        """Return what changes documents.

        Its visits tell whether fields differ afterwards; None for no match.
        """
        fields = sorted(change.named)

        def begin(attempt: Attempt, ids: Ids) -> Callable[[Any], bool | None]:
            found = storage.find(self.name, of_ids(wanted, {"$in": list(ids)}), fields)
            before = {repr(one["_id"]): _encoded(one, fields) for one in found}

            def visit(id_: Any) -> bool | None:
                if repr(id_) not in before:
                    return None
                check = None if self._allowance is None else SizeCheck(self._allowance, looks_first=True)
                plan = update_plan(attempt, self.schema, of_ids(wanted, id_), change, (), check)
                after = apply(storage, plan)
                return None if after is None else _encoded(after, fields) != before[repr(id_)]

            return visit

        return begin

    def _deleting(self, storage: Storage, wanted: Filter, cascade: bool) -> Begin[Deleted]:
        """Return what deletes documents.

        Its visits return the number of cascaded ones by model, or a refusal; None for no match.
        """

        def begin(attempt: Attempt, ids: Ids) -> Callable[[Any], Deleted]:
            def visit(id_: Any) -> Deleted:
                try:
                    return apply(storage, delete(attempt, self.schema, of_ids(wanted, id_), cascade))
                except StillReferenced as refusal:  # before anything was written but its lock
                    return refusal

            return visit

        return begin

    def _walked(self, wanted: Filter, work: Callable[[Walk], T]) -> T:
        """Run work on the matching documents, in the open transaction if there is one."""
        database, storage = self._database, self._database.storage
        if database.is_nested:
            return database.run(lambda attempt: work(InnerWalk(attempt, storage, self.name, wanted))).result
        # Without transactions an error leaves a part of its batch done, which nobody would count.
        most = MOST if storage.has_transactions() else 1
        return work(PacedWalk(database, self.name, wanted, Pace(remaining=storage.remaining, most=most)))

    # -- shared with the operations on one document

    @cached_property
    def _allowance(self) -> Allowance | None:
        """The size check of a document's pure fields; None if they need none."""
        return allowance_of(self.schema, self._database.schemas.settings.document_bytes)

    # The contract's spellings of the methods above; each takes one object or keywords.

    def insertMany(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> list[Document]:
        """Insert documents: ``{docs, relations, projection}``."""
        return self.insert_many(**pythonic(config, keys))

    def updateMany(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> UpdateResult:
        """Update documents: ``{filter, update}``."""
        return self.update_many(**pythonic(config, keys))

    def deleteMany(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> DeleteResult:
        """Delete documents: ``{filter, hardCascade}``."""
        return self.delete_many(**pythonic(config, keys))


def check_cascade(hard_cascade: object) -> None:
    """Raise ValidationError unless ``hard_cascade`` is true or false."""
    if not isinstance(hard_cascade, bool):
        raise ValidationError({"hardCascade": ["Not a valid boolean."]})


def _is_there(differs: bool | None) -> bool:
    return differs is not None


def _encoded(document: Mapping[str, Any], fields: Iterable[str]) -> bytes:
    return encode({name: document[name] for name in fields if name in document})
