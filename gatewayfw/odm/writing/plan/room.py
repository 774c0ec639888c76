"""Room in the operation's own document, and in holders, for a change."""

from collections.abc import Mapping
from typing import Any

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.errors import StorageError, TooLarge
from gatewayfw.odm.copies.rules import LOCK, merged
from gatewayfw.odm.hidden import revision_of
from gatewayfw.odm.sizes.budgets import holder_fits
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.steps import Plan
from gatewayfw.odm.writing.plan.windows import settle
from gatewayfw.schemas import ModelSchema
from gatewayfw.storage import Document
from gatewayfw.storage.terms import Filter, Paths, Update


def change_document(
    attempt: Attempt, schema: ModelSchema, filter: Filter, update: Update, fields: Paths, effects: Effects
) -> Plan[Document | None]:
    """Change the operation's own document; return it afterwards, None for no match.

    Where sizes are checked it loses its reverse relations, and ``effects`` notes what `settle` needs to put them back.
    """
    if not attempt.size_checks:
        try:
            document: Document | None = yield steps.update_one(schema.name, filter, update, fields)
        except TooLarge:
            if attempt.can.has_transactions:
                raise  # the operation begins again, and measures
        else:
            return document
    before = yield steps.touch(schema.name, filter, reverse_fields(attempt, schema), LOCK)
    if before is None:
        return None
    gone = emptied(attempt, schema, before, effects)
    effects.is_emptied = bool(gone)
    document = yield steps.update_one(schema.name, {**filter, "_id": before["_id"]}, merged(update, gone), fields)
    return document


def reverse_fields(attempt: Attempt, schema: ModelSchema) -> list[str]:
    """Return what `emptied` needs to know of a document: windows, other reverses."""
    reverses = attempt.schemas.get_related_relations(schema.name).values()
    return [one.name if one.type == "single" else f"{one.name}._id" for one in reverses]


def emptied(
    attempt: Attempt, schema: ModelSchema, document: Mapping[str, Any], effects: Effects
) -> dict[str, dict[str, Any]]:
    """Return the update that removes all reverse relations from a document.

    ``effects`` notes what `settle` needs to put them back.
    """
    reverses = attempt.schemas.get_related_relations(schema.name).values()
    present = [one for one in reverses if one.name in document]
    id_ = document["_id"]
    for reverse in present if isinstance(id_, ObjectId) else ():  # nothing can embed another one
        if reverse.type == "multiple":
            effects.recompute(reverse, id_)
        else:
            effects.removed[reverse, id_] = document[reverse.name]
    return {"$unset": {reverse.name: "" for reverse in present}} if present else {}


def refuse_uncounted(attempt: Attempt, schema: ModelSchema, document: Document) -> None:
    """Refuse a change that its counter did not count, so that this is reset."""
    if not revision_of(document) and attempt.can.has_transactions:
        error = StorageError()
        error.met = schema.name, [{"_id": document["_id"]}]
        raise error


def read_again(attempt: Attempt, schema: ModelSchema, document: Document, effects: Effects) -> Plan[Document | None]:
    """Return the current document: the effects may have changed it again.

    They do in a model related to itself, also through a frozen relation, which has reverse relations, too; and
    where its reverse relations were removed to make room.
    """
    embedders = attempt.schemas.embedders(schema.name)
    if not effects.is_emptied and all(relation.model != schema.name for relation in embedders):
        return document
    found: list[Document] = yield steps.find(schema.name, {"_id": document["_id"]}, limit=1)
    return found[0] if found else None


def renew_with_room(attempt: Attempt, model: str, filter: Filter, update: Update) -> Plan[None]:
    """Renew the copy in one holder, whose windows give way to it.

    Raises:
        TooLarge: even then the holder has no room for it.
    """
    schema = attempt.schemas.get_schema(model)
    # Its own change locks it; a touch would write this large document once more.
    fields = [*reverse_fields(attempt, schema), *schema.relations]
    for holder in (yield steps.find(model, filter, fields, limit=1)):
        effects = Effects()
        yield steps.update_many(model, filter, merged(update, emptied(attempt, schema, holder, effects)))
        (after,) = yield steps.find(model, {"_id": holder["_id"]}, [*schema.relations], limit=1)
        if not holder_fits(attempt.holder_budget(model), schema, holder, after):
            raise TooLarge(messages.NO_ROOM_FOR_COPIES)
        yield from settle(attempt, effects)
