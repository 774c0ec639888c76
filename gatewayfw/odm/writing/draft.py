"""A document before it is stored, with its effects on other documents."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, final

from bson import ObjectId

from gatewayfw.odm.copies.rules import HiddenField, copy_of, version_of
from gatewayfw.odm.reading.projection import source_of
from gatewayfw.odm.writing.effects import Effects
from gatewayfw.odm.writing.relation_input import RelationInput
from gatewayfw.schemas import Relation, Schemas
from gatewayfw.storage import Document


@final
class Draft:
    """One document of an operation.

    Attributes:
        document: as it was given or read, with its pure fields.
        hidden: its hidden field as it will be.
        effects: what the operation does to targets; documents of one operation share it.
    """

    def __init__(self, schemas: Schemas, document: Mapping[str, Any], effects: Effects) -> None:
        self._schemas = schemas
        self.document = document
        self.hidden = HiddenField(document)
        self.effects = effects

    def enrol(self, given: RelationInput, present: Container[Any] = ()) -> None:
        """Put the document into its targets' reverse relations, or note its opt-outs.

        An id that is ``present`` keeps its membership if the flag is omitted.
        """
        for reverse in self._schemas.reverses(given.relation):
            flag = given.flags.get(reverse.name, reverse.default)
            copy = copy_of(self.document, source_of(self._schemas, reverse).copy_fields(reverse.excludes))
            for id_ in given.ids:
                if id_ in present and reverse.name not in given.flags:
                    continue
                if reverse.type == "multiple":
                    self.hidden.set_out(reverse, id_, not flag)
                if flag:
                    self.effects.enter(reverse, id_, copy)
                elif id_ in present:
                    self.effects.leave(reverse, id_, self.document["_id"])

    def take(self, relation: Relation, source: Document) -> Document:
        """Return a copy of a source, and note its version."""
        self.hidden.set_at(relation.name, source["_id"], version_of(source))
        return copy_of(source, source_of(self._schemas, relation).copy_fields(relation.excludes))

    def drop(self, relation: Relation, ids: Iterable[ObjectId]) -> None:
        """Drop copies, and take the document out of their sources' reverse relations."""
        gone = list(ids)
        self.effects.depart(relation, gone, self.document["_id"])
        self.hidden.forget(relation.name, gone)
