"""Plan the update of one document's pure fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bson import ObjectId

from gatewayfw.errors import ValidationError
from gatewayfw.odm.copies.rules import HiddenField, copy_of, ids_in, merged
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.reading.revisions import RAISED
from gatewayfw.odm.sizes.own_fields import Allowance, foresee
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.document import change_document, read_again, refuse_uncounted
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.spread import Spread, followers_of, leave_to_jobs, renew_holders
from gatewayfw.odm.writing.plan.steps import Find, Plan, UpdateOne
from gatewayfw.odm.writing.plan.windows import renew_members, settle
from gatewayfw.odm.writing.updates import Change, check_result, find_corrections, refusal_of
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation
from gatewayfw.storage import Document
from gatewayfw.storage.terms import Filter


def update(
    attempt: Attempt,
    schema: ModelSchema,
    filter: Filter,
    change: Change,
    shown: Iterable[str],
    allowance: Allowance | None = None,
) -> Plan[Document | None]:
    """Change one document's pure fields and every copy; None for no match.

    ``shown`` has the paths that the caller wants of the result. Windows may be long, so those that it
    does not name are not read. ``allowance`` is the limit on its size, if it needs one.

    Raises:
        ValidationError: the result no longer fits the model.
        DuplicateKey: a unique index refused it.
        TooLarge: ``allowance`` refused it, or a document would exceed the database's limit.
    """
    effects, fields = Effects(), _fields_to_read(attempt, schema, shown)
    document = yield from _change(attempt, schema, filter, change, fields, allowance, effects)
    if document is None:
        return None
    spread = _spread_of(attempt, schema, document, change)
    document, spread = yield from leave_to_jobs(attempt, schema, document, fields, spread)
    _change_members(attempt, document, change, spread.targets, effects)
    yield from renew_members(attempt, effects)
    for relation in spread.holders:
        yield from renew_holders(attempt, schema, relation, document)
    yield from settle(attempt, effects)
    return (yield from read_again(attempt, schema, document, effects))


def _change(
    attempt: Attempt,
    schema: ModelSchema,
    filter: Filter,
    change: Change,
    fields: Sequence[str] | None,
    allowance: Allowance | None,
    effects: Effects,
) -> Plan[Document | None]:
    """Change the document itself, which locks it, and check the result."""
    before: Document | None = None
    if allowance is not None and allowance.looks_first:
        found: list[Document] = yield Find(schema.name, filter, allowance.names, limit=1)
        if not found:
            return None
        (before,) = found
        filter = {**filter, "_id": before["_id"]}
        if not attempt.can.has_transactions:  # which could undo the change
            allowance.check_change(change, before, foresee(before, change.update))
    update = merged(change.update, {"$inc": {f"{HIDDEN}.v": 1}}, RAISED)
    try:
        document = yield from change_document(attempt, schema, filter, update, fields, effects)
    except ValidationError as error:
        raise refusal_of(change, error) from error
    if document is None:
        return None
    refuse_uncounted(attempt, schema, document)
    check_result(schema, change, document)
    if change.calculated and (corrections := find_corrections(schema, change, document)):
        corrected = UpdateOne(schema.name, {"_id": document["_id"]}, {"$set": corrections}, fields)
        document = (yield corrected) or document
    if allowance is not None and attempt.can.has_transactions:
        allowance.check_change(change, before, document)
    return document


def _fields_to_read(attempt: Attempt, schema: ModelSchema, shown: Iterable[str]) -> list[str] | None:
    """Return the paths that an update reads of its document; None for all.

    They leave out windows that nobody asked for.
    """
    windows = attempt.schemas.get_related_relations(schema.name).keys()
    unseen = windows - {path.partition(".")[0] for path in shown}
    return [*schema.pure, *schema.relations, HIDDEN, *(windows - unseen)] if unseen else None


def _spread_of(attempt: Attempt, schema: ModelSchema, document: Document, change: Change) -> Spread:
    """Return where a change of a document goes."""
    holders = [
        relation
        for relation in followers_of(attempt.schemas, schema, document)
        if change.named.intersection(attempt.fields_of(relation))
    ]
    targets = {
        relation: ids_in(document.get(relation.name))
        for relation in schema.relations.values()
        if _copied_reverses(attempt, relation, change)
    }
    return Spread(holders, targets)


def _copied_reverses(attempt: Attempt, relation: Relation, change: Change) -> list[RelatedRelation]:
    """Return the reverses of a relation whose copies have a changed field."""
    reverses = attempt.schemas.reverses(relation)
    return [one for one in reverses if change.named.intersection(attempt.fields_of(one))]


def _change_members(
    attempt: Attempt,
    document: Document,
    change: Change,
    targets: Mapping[Relation, Sequence[ObjectId]],
    effects: Effects,
) -> None:
    """Note which copies in reverse relations to replace, which windows to recompute."""
    for relation, ids in targets.items():
        for reverse in _copied_reverses(attempt, relation, change):
            if reverse.window is None or reverse.window.sort.field not in change.named:
                # A `single` reverse holds no other ids; null would be found where it holds nothing.
                if ids and (reverse.type == "multiple" or isinstance(document["_id"], ObjectId)):
                    effects.renewals.append((reverse, ids, copy_of(document, attempt.fields_of(reverse))))
                continue
            hidden = HiddenField(document)
            for id_ in ids:
                if not hidden.is_out(reverse, id_):
                    effects.recompute(reverse, id_)
