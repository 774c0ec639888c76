"""One document as a holder of copies and a member of reverse relations."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, final

from bson import ObjectId

from gatewayfw.odm.copies.rules import HiddenField, copy_of, version_of
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Copy, Effects
from gatewayfw.odm.writing.relation_input import RelationInput
from gatewayfw.schemas import Relation
from gatewayfw.storage import Document


@final
class Member:
    """One document of an operation.

    Attributes:
        document: as it was given or read, with its pure fields.
        hidden: its hidden field as it will be.
        effects: what the operation does to targets; documents of one operation share it.
    """

    def __init__(self, attempt: Attempt, document: Mapping[str, Any], effects: Effects) -> None:
        self._attempt = attempt
        self.document = document
        self.hidden = HiddenField(document)
        self.effects = effects

    def enter(self, given: RelationInput, present: Container[Any] = ()) -> None:
        """Enter the reverse relations of targets, or note the opt-outs.

        An id that is ``present`` keeps its membership if the flag is omitted.
        """
        for reverse in self._attempt.schemas.reverses(given.relation):
            flag = given.flags.get(reverse.name, reverse.default)
            copy = copy_of(self.document, self._attempt.fields_of(reverse))
            for id_ in given.ids:
                if id_ in present and reverse.name not in given.flags:
                    continue
                if reverse.type == "multiple":
                    self.hidden.set_out(reverse, id_, not flag)
                if flag:
                    self.effects.enter(reverse, id_, copy)
                elif id_ in present:
                    self.effects.leave(reverse, id_, self.document["_id"])

    def leave(self, relation: Relation, ids: Iterable[ObjectId]) -> None:
        """Leave all reverse relations of targets whose copies are dropped."""
        gone = list(ids)
        self.effects.depart(relation, gone, self.document["_id"])
        self.hidden.forget(relation.name, gone)

    def take(self, relation: Relation, source: Document) -> Copy:
        """Return a copy of a source, and note its version."""
        self.hidden.set_at(relation.name, source["_id"], version_of(source))
        return copy_of(source, self._attempt.fields_of(relation))
