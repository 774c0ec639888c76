"""Models: the operations that write documents.

Results are plain dictionaries with the same values as in `ModelReads`. They never contain the hidden field
``_gw`` or excluded fields. Every write of one document is one transaction; if it fails, nothing has
changed anywhere, unless the error is `OutcomeUnknown`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, final

from gatewayfw import messages
from gatewayfw.errors import ValidationError
from gatewayfw.odm.model_reads import ModelReads
from gatewayfw.odm.operations import many
from gatewayfw.odm.operations.handle import Filter, Get, Update
from gatewayfw.odm.operations.write import (
    DeleteResult,
    UpdateResult,
    check_upsert,
    delete_one,
    insert_documents,
    relate,
    update_one,
    upsert_one,
)
from gatewayfw.spelling import as_contract
from gatewayfw.storage import Document


@final
class Model(ModelReads):
    """One model on the gateway's database; made by `Odm.new_model`.

    `ModelReads` has the reading operations. Give documents and updates by position or by name. The result of a write
    never shows the fields in ``reveal``, which is for its filter alone. ``allow`` has names that policies hide from the
    caller or do not let it write, and which a write may name nevertheless; like ``reveal`` it is for server code. What
    policies refuse is `Forbidden`; ids of documents that the caller does not see do not exist for it.
    """

    def insert_one(
        self,
        doc: Mapping[str, Any],
        *,
        relations: Mapping[str, Any] | None = None,
        projection: Get | None = None,
        allow: Sequence[str] = (),
    ) -> Document:
        """Insert a document, embed its related documents, and return it projected.

        ``doc`` has pure fields and may have an ``_id``; ``defaulted`` values are filled in. ``relations``: ``{name:
        {"_ids": id or ids, "relatedRelations": {reverse: bool}}}``; the reverse relations with ``True`` list the new
        document, those with ``False`` leave it out, and the others do what their ``default`` says, which is false if
        not declared.

        Commands on MongoDB, including the commit: 2, and one for each related model, which also lists the new document
        there; two more if it is the first one in that list. A caller's own ``_id`` takes one more. With it, or for a
        model of which several documents are related, each window that changes takes one, and each model two.

        Raises:
            ValidationError: a field, relation or ``projection`` does not fit the model.
            NotFound: a related document does not exist; the message names the ids.
            DuplicateKey: a unique index, or the ``_id``, is taken.
            Conflict: a caller's own ``_id`` is that of a deleted document which others still have copies of.
            TooLarge: the pure fields have more bytes than the setting ``document_bytes``, or a
                document would exceed the database's limit.
        Source: specification 5.2.
        """
        return insert_documents(self._handle, [doc], [relations], projection, ["doc"], allow)[0]

    def find_one_and_update(
        self,
        filter: Filter | None = None,
        update: Update | None = None,
        *,
        filters: Filter | None = None,
        rev: int | None = None,
        upsert: bool = False,
        projection: Get | None = None,
        reveal: Sequence[str] = (),
        allow: Sequence[str] = (),
    ) -> Document | None:
        """Change one document's pure fields, and every copy of it; return it projected.

        ``update`` takes ``$set $unset``, ``$inc $mul``, ``$min $max``, ``$currentDate`` on dates, and ``$push $addToSet
        $pull $pop`` on arrays. Returns None if nothing matched. An empty ``$set`` changes nothing and returns the
        document. With ``upsert``, if no document matches, one is inserted as by `insert_one`: with the filter's values,
        which must be an ``_id`` or all fields of a unique index, and with those that the operators and ``$setOnInsert``
        give. With ``rev``, the ``_rev`` that a ``get`` has shown, only that revision of the document is changed.

        Commands on MongoDB, the commit included: 2, two for each relation that embeds the model, and one for each model
        whose reverse relations the document is in; if a sort field changed, one more for that model, and one for each
        target. Inside a transaction, or on a server without transactions, one more for a model whose definition lets
        its pure fields exceed the setting ``document_bytes``.

        Raises:
            UsageError: with ``upsert``, the filter, model or update allows none; see `parse_upsert`.
            UsageError: `find` would refuse the filter, or it is empty; there is no operator, an unknown one, or
                one other than ``$set`` on a field that it does not fit.
            BadRequest: ``$set`` names a path that is changed twice.
            ValidationError: ``$set`` names something other than a pure field, a value or the result does not
                fit its field, or an operator does not fit the existing value.
            DuplicateKey: a unique index refused the change.
            Stale: a document matched, but has another revision than ``rev``.
            TooLarge: the pure fields would have more bytes than the setting ``document_bytes``, and a field
                in the update grew; or a document would exceed the database's limit.
        """
        model, wanted = self._handle, self._handle.write_filter(filter, filters, reveal)
        if upsert is not False:
            check_upsert(upsert, rev)
            return upsert_one(model, wanted, update, filter or filters or {}, projection, allow)
        return update_one(model, wanted, update, rev, projection, allow)

    def delete_one(
        self,
        filter: Filter | None = None,
        *,
        filters: Filter | None = None,
        rev: int | None = None,
        hard_cascade: bool = False,
        reveal: Sequence[str] = (),
    ) -> DeleteResult:
        """Delete one document.

        This is refused while other documents embed it, unless ``hard_cascade`` is true: then holders that require it
        are deleted in the same way, and the others lose their copy. Frozen relations do not count: their copies stay.
        With more holders than the setting ``inline_limit`` the result has ``pending: True`` if a job is still working
        on them, and ``cascaded`` counts those deleted so far. ``rev`` is as for `find_one_and_update`.

        Commands on MongoDB, the commit included: 3, one for each model that embeds this one, two
        and one for each window where the document is listed.

        Raises:
            UsageError, ValidationError: a filter that `find` refuses, or an empty one.
            StillReferenced: other documents embed it; the error has the number of holders by model.
            Stale: as for `find_one_and_update`.
        """
        return delete_one(self._handle, self._handle.write_filter(filter, filters, reveal), rev, hard_cascade)

    def add_relation(
        self,
        filter: Filter | None = None,
        *,
        relations: Mapping[str, Any],
        filters: Filter | None = None,
        rev: int | None = None,
        projection: Get | None = None,
        replace: bool = False,
        reveal: Sequence[str] = (),
        allow: Sequence[str] = (),
    ) -> Document | None:
        """Relate one document to others; return it projected, or None for no match.

        ``relations`` is as for `insert_one`. With ``replace`` the relation has only the given ids afterwards. An id
        that is in the relation already gets a fresh copy, except in a frozen relation with ``replace``, where it keeps
        its copy, even without a source; its membership in a reverse relation changes only if the flag is given. ``rev``
        is as for `find_one_and_update`.

        Commands on MongoDB, the commit included: 4 with one related document, even if the document enters windows. If
        it is the first in a window or was related before, there are more: one for each window that changes and one for
        their targets. Documents that leave the relation are locked by one more.

        Raises:
            UsageError: a filter that `find` refuses, or an empty one.
            ValidationError: unknown names, bad ids, or more ids than the relation's limit.
            NotFound: a related document does not exist; the message names the ids.
            Conflict: a `single` relation is present and ``replace`` is false, or a required
                relation would be left empty.
            Stale: as for `find_one_and_update`.
        """
        wanted = self._handle.write_filter(filter, filters, reveal)
        return relate(self._handle, wanted, relations, rev, projection, allow, replace=replace)

    def remove_relation(
        self,
        filter: Filter | None = None,
        *,
        relations: Mapping[str, Any],
        filters: Filter | None = None,
        rev: int | None = None,
        projection: Get | None = None,
        reveal: Sequence[str] = (),
        allow: Sequence[str] = (),
    ) -> Document | None:
        """End relations of one document; return it projected, or None for no match.

        The given ids leave the relation and all of its reverse relations, whatever the flags say.
        ``rev`` is as for `find_one_and_update`.

        Raises:
            UsageError: a filter that `find` refuses, or an empty one.
            ValidationError: unknown names or bad ids.
            NotFound: an id is not related; the message names it.
            Conflict: a required relation would be left empty.
            Stale: as for `find_one_and_update`.
        """
        wanted = self._handle.write_filter(filter, filters, reveal)
        return relate(self._handle, wanted, relations, rev, projection, allow, leaving=True)

    def insert_many(
        self,
        docs: Sequence[Mapping[str, Any]],
        *,
        relations: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
        projection: Get | None = None,
        allow: Sequence[str] = (),
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
            raise ValidationError({"docs": [messages.NO_DOCUMENTS]})
        if relations is None or isinstance(relations, Mapping):
            relations = [relations]
        elif not isinstance(relations, (list, tuple)) or len(relations) != len(docs):
            raise ValidationError({"relations": [messages.NO_RELATIONS_OF_EACH]})
        where = [f"docs.{number}" for number in range(len(docs))]
        return insert_documents(self._handle, docs, relations, projection, where, allow)

    def update_many(
        self,
        filter: Filter | None = None,
        update: Update | None = None,
        *,
        filters: Filter | None = None,
        reveal: Sequence[str] = (),
        allow: Sequence[str] = (),
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
        return many.update_many(self._handle, self._handle.write_filter(filter, filters, reveal), update, allow)

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
        return many.delete_many(self._handle, self._handle.write_filter(filter, filters, reveal), hard_cascade)

    # The contract's spellings of the methods above; each takes one object or keywords.
    insertOne = as_contract(insert_one)
    findOneAndUpdate = as_contract(find_one_and_update)
    deleteOne = as_contract(delete_one)
    addRelation = as_contract(add_relation)
    removeRelation = as_contract(remove_relation)
    insertMany = as_contract(insert_many)
    updateMany = as_contract(update_many)
    deleteMany = as_contract(delete_many)
