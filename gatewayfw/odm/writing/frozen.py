"""What frozen copies ask of writes.

Each stays what its source was when it was related. So a frozen copy may outlive its source, and is renewed
only when somebody relates the source again.
"""

from __future__ import annotations

from collections.abc import Collection, Container

from bson import ObjectId

from gatewayfw.errors import Conflict
from gatewayfw.odm.copies.rules import ids_in
from gatewayfw.odm.writing.relation_input import RelationInput
from gatewayfw.schemas import ModelSchema, Relation, Schemas
from gatewayfw.storage import Storage


def followers(schemas: Schemas, model: str) -> list[Relation]:
    """Return the relations whose copies follow their sources: all but frozen ones."""
    return [relation for relation in schemas.embedders(model) if not relation.frozen]


def ids_to_copy(given: RelationInput, present: Container[object], replace: bool) -> list[ObjectId]:
    """Return the ids whose sources an `add_relation` copies.

    A frozen relation that is replaced keeps the copies of ids that stay, so their sources may be gone.
    """
    keeps = replace and given.relation.frozen
    return [id_ for id_ in given.ids if not (keeps and id_ in present)]


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
