"""Run updates and upserts of one document.

Operations on one document share the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from bson import ObjectId

from gatewayfw.errors import DuplicateKey, UsageError, ValidationError
from gatewayfw.odm.model_many import ModelMany, Update
from gatewayfw.odm.reading.deep import show_one
from gatewayfw.odm.reading.projection import Projection
from gatewayfw.odm.reading.revisions import judge_miss
from gatewayfw.odm.writing.allowance import SizeCheck
from gatewayfw.odm.writing.apply import apply
from gatewayfw.odm.writing.new_documents import parse_document
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.insert import insert
from gatewayfw.odm.writing.plan.update import update
from gatewayfw.odm.writing.upserts import Upsert, parse_upsert
from gatewayfw.storage import Document, Storage

T = TypeVar("T")
#: How often an upsert may meet another one that inserts the same key, in a row.
_MEETINGS = 10


class ModelUpdates(ModelMany):
    """Updating one document of a model; see `gatewayfw.odm.models.Model`."""

    def _update(
        self,
        storage: Storage,
        wanted: Mapping[str, Any],
        operation: Callable[[Attempt, SizeCheck | None], T],
    ) -> T:
        """Run an update, with the check of its size where it needs one."""

        def write(check: SizeCheck | None) -> T:
            return self._database.run(lambda attempt: operation(attempt, check), hot=self._named(wanted)).result

        if self._allowance is None:
            return write(None)
        looks_first = self._database.is_nested or not storage.has_transactions()
        return self._allowance.judge(write, looks_first=looks_first)

    def _parsed(
        self, wanted: Mapping[str, Any], update: Update, filter: Mapping[str, Any], rev: object, upsert: object
    ) -> Upsert:
        if not isinstance(upsert, bool):
            raise ValidationError({"upsert": ["Not a valid boolean."]})
        if rev is not None:
            raise UsageError("upsert: a document that may be new has no revision to ask for")
        return parse_upsert(self.schema, wanted, update, filter)

    def _upsert(
        self, storage: Storage, wanted: Mapping[str, Any], parsed: Upsert, compiled: Projection
    ) -> Document | None:
        """Update a document, or insert it.

        This begins again where another call has inserted it meanwhile.
        """
        inserts = False

        def write(attempt: Attempt, check: SizeCheck | None) -> Document | None:
            nonlocal inserts
            inserts = False
            if parsed.change.named:
                plan = update(attempt, self.schema, wanted, parsed.change, compiled.paths, check)
                document = apply(storage, plan)
            else:
                document = next(storage.find(self.name, wanted, compiled.paths, limit=1), None)
            if document is None:
                inserts = True
                new = parse_document(self.schema, parsed.first, {}, self._allowance, "update")
                (document,) = apply(storage, insert(attempt, self.schema, [new]))
            return show_one(storage, compiled, document)

        meetings = 0
        while True:
            try:
                return self._update(storage, wanted, write)
            except DuplicateKey as error:
                meetings += 1
                # The document that has the values of another unique index may be the one that the filter names.
                most = _MEETINGS if tuple(sorted(error.fields)) == parsed.key else 2
                if not inserts or meetings >= most or self._database.is_nested:
                    raise

    # -- shared by the operations on one document

    def _judged(self, result: T | None, wanted: Mapping[str, Any], rev: int | None) -> T | None:
        """Return the result of an operation that asked for a revision.

        Raises:
            Stale: there is none because the document has another revision.
        """
        if result is None:
            judge_miss(self._database.storage, self.name, wanted, rev)
        return result

    def _named(self, wanted: Mapping[str, Any]) -> list[tuple[str, object]]:
        """Return the document that a filter names by `_id`, or None."""
        return [(self.name, wanted["_id"])] if isinstance(wanted.get("_id"), ObjectId) else []
