"""Models: writing many documents of one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatewayfw.errors import ValidationError
from gatewayfw.odm.model_reads import ModelReads
from gatewayfw.odm.operations import many
from gatewayfw.odm.operations.handle import Filter, Get, Update
from gatewayfw.odm.operations.insert import insert_documents
from gatewayfw.odm.reading.cursor import DeleteResult, UpdateResult
from gatewayfw.spelling import as_contract
from gatewayfw.storage import Document


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
        where = [f"docs.{number}" for number in range(len(docs))]
        return insert_documents(self._handle, docs, relations, projection, where)

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
        return many.update_many(self._handle, self._handle.parse_filter(filter, filters, reveal), update)

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
        return many.delete_many(self._handle, self._handle.parse_filter(filter, filters, reveal), hard_cascade)

    # The contract's spellings of the methods above; each takes one object or keywords.
    insertMany = as_contract(insert_many)
    updateMany = as_contract(update_many)
    deleteMany = as_contract(delete_many)
