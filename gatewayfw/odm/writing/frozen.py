"""What frozen copies ask of writes.

Each stays what its source was when it was related. So a frozen copy may outlive its source, and is renewed
only when somebody relates the source again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bson import ObjectId

from gatewayfw.errors import Conflict
from gatewayfw.odm.copies.rules import has_form, ids_in
from gatewayfw.odm.writing.relation_input import RelationInput
from gatewayfw.schemas import ModelSchema, Relation, Schemas
from gatewayfw.storage import Document, Storage


def followers(schemas: Schemas, model: str) -> list[Relation]:
    """Return the relations whose copies follow their sources: all but frozen ones."""
    return [relation for relation in schemas.embedders(model) if not relation.frozen]


def followers_of(schemas: Schemas, schema: ModelSchema, source: Document) -> list[Relation]:
    """Return the relations that may embed a document, frozen ones apart: none if its ``_id`` is no ObjectId.

    Asking for one of another type may find what does not embed it, for null all that embed nothing.
    """
    return followers(schemas, schema.name) if isinstance(source["_id"], ObjectId) else []


def ids_to_copy(given: RelationInput, stored: object, kept: Sequence[ObjectId], replace: bool) -> list[ObjectId]:
    """Return the ids whose sources an `add_relation` copies.

    ``kept`` are those that the relation has afterwards. A frozen relation that is replaced keeps the copies of ids
    that stay, so their sources may be gone. Of a value in the other form all are copied anew, because changes of
    their sources have passed over it.
    """
    if given.relation.frozen:
        present = ids_in(stored) if replace else ()
        return [id_ for id_ in given.ids if id_ not in present]
    return list(given.ids if has_form(given.relation, stored) else kept)


def refuse_shown(schemas: Schemas, storage: Storage, schema: ModelSchema, chosen: Collection[ObjectId]) -> None:
    """Refuse the chosen ids of deleted documents that have frozen copies.

    Otherwise its holder would become a member of a document that it was never related to.

    Raises:
        Conflict: one holder has copies of these ids; the message names them.
    """
    for relation in schemas.embedders(schema.name):
        if relation.frozen:
            path = f"{relation.name}._id"
            for holder in storage.find(relation.model, {path: {"$in": list(chosen)}}, [path], limit=1):
                shown = [str(id_) for id_ in ids_in(holder[relation.name]) if id_ in chosen]
                raise Conflict(
                    f"{relation.model} still has frozen copies of a deleted {schema.name}: {', '.join(shown)}"
                )
