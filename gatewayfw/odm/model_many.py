"""Write many documents of one model; also what this shares with writes of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from gatewayfw.errors import ValidationError
from gatewayfw.odm.copies.jobs import Backlog
from gatewayfw.odm.model_reads import Get, ModelReads
from gatewayfw.odm.reading.deep import show
from gatewayfw.odm.writing.allowance import Allowance, allowance_of
from gatewayfw.odm.writing.new_documents import NewDocument, parse_document
from gatewayfw.odm.writing.relation_input import parse_new_inputs, sources_in
from gatewayfw.odm.writing.writes import Writes
from gatewayfw.spelling import pythonic
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
            lambda backlog: show(storage, projection, self._writes(backlog).insert(self.schema, new)),
            proof=(self.name, new[0].proof()),
            hot=[target for one in new for target in sources_in(one.inputs)],
        )
        return done.result

    # -- shared with the operations on one document

    @cached_property
    def _allowance(self) -> Allowance | None:
        """The size check of a document's pure fields; None if they need none."""
        return allowance_of(self.schema, self._database.schemas.settings.document_bytes)

    def _writes(self, backlog: Backlog) -> Writes:
        return Writes(self._database.schemas, self._database.storage, backlog, self._database.counts)

    # The contract's spellings of the methods above; each takes one object or keywords.

    def insertMany(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> list[Document]:
        """Insert documents: ``{docs, relations, projection}``."""
        return self.insert_many(**pythonic(config, keys))
