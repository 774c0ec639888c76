"""Plan deletes: of a document, of holders that require it, of copies elsewhere."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bson import ObjectId

from gatewayfw.errors import StillReferenced
from gatewayfw.odm.copies.rules import (
    LOCK,
    HiddenField,
    assign,
    followers,
    followers_of,
    has_form,
    ids_in,
    merged,
    version_of,
)
from gatewayfw.odm.hidden import HIDDEN, clock
from gatewayfw.odm.ids import key_of, ordered
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.locks import lock_targets
from gatewayfw.odm.writing.plan.steps import Plan, PutJob
from gatewayfw.odm.writing.plan.windows import settle
from gatewayfw.schemas import ModelSchema, Relation
from gatewayfw.storage import Document
from gatewayfw.storage.terms import Filter


@dataclass
class _Loss:
    """What one holder loses in a cascade: ids by relation."""

    document: Document
    ids: dict[str, set[ObjectId]] = field(default_factory=dict)


#: Documents to delete, and what others lose, by model and `key_of` their `_id`.
_Doomed = dict[tuple[str, Hashable], Document]
_Losses = dict[tuple[str, Hashable], _Loss]


def delete(attempt: Attempt, schema: ModelSchema, filter: Filter, cascade: bool) -> Plan[dict[str, int] | None]:
    """Delete one document; return its cascaded deletes by model, None for no match.

    With ``cascade`` holders that require it are deleted with the same procedure, and others lose
    their copy. Frozen copies stay, also required ones, and those of values in the other form that hold nothing
    else: only the definition of the process that wrote it says what becomes of such a holder. All affected windows
    are recomputed once, at the end.

    Raises:
        StillReferenced: a relation that is not frozen embeds the document and ``cascade`` is false.
    """
    effects = Effects()
    counts = yield from delete_unsettled(attempt, schema, filter, cascade, effects)
    yield from settle(attempt, effects)
    return counts


def delete_unsettled(
    attempt: Attempt, schema: ModelSchema, filter: Filter, cascade: bool, effects: Effects
) -> Plan[dict[str, int] | None]:
    """Delete one document, but leave its ``effects`` to be settled."""
    root = yield steps.touch(schema.name, filter, _fields_to_read(attempt, schema), LOCK)
    if root is None:
        return None
    alone: _Doomed = {(schema.name, key_of(root["_id"])): root}
    found: tuple[_Doomed, _Losses] | None = alone, {}
    if cascade:
        found = yield from _find_holders(attempt, schema, root)
    else:
        yield from _refuse_if_held(attempt, schema, root)
    doomed, losses = found or (alone, {})
    yield from _depart(attempt, schema, root, doomed, len(losses), effects)
    by_model = _by_model(doomed)
    effects.forget({model: {id_ for id_ in ids if isinstance(id_, ObjectId)} for model, ids in by_model.items()})
    yield from lock_targets(attempt, effects)
    for model in sorted(by_model):
        yield steps.delete_many(model, {"_id": {"$in": ordered(by_model[model])}})
    if found is None:
        yield from _leave_holders(attempt, schema, root)
    yield from _lose(attempt, losses)
    attempt.freed.update(_bytes_keys(attempt, doomed))
    counts = {model: len(ids) for model, ids in sorted(by_model.items())}
    counts[schema.name] -= 1
    return {model: count for model, count in counts.items() if count}


def _fields_to_read(attempt: Attempt, schema: ModelSchema) -> list[str]:
    """Return the paths that a delete needs.

    These are ids, notes about copies, and the key of bytes kept elsewhere: copies as a whole may be large.
    """
    key = attempt.schemas.bytes_keys.get(schema.name)
    return [*(f"{name}._id" for name in schema.relations), HIDDEN, *([] if key is None else [key])]


def _refuse_if_held(attempt: Attempt, schema: ModelSchema, root: Document) -> Plan[None]:
    held: dict[str, list[dict[str, Any]]] = {}
    for relation in followers_of(attempt.schemas, schema, root):
        held.setdefault(relation.model, []).append({f"{relation.name}._id": root["_id"]})
    counts: dict[str, int] = {}
    for model, ways in held.items():
        others = {"_id": {"$ne": root["_id"]}} if model == schema.name else {}
        if count := (yield steps.count(model, {"$or": ways, **others})):
            counts[model] = count
    if counts:
        raise StillReferenced(schema.name, counts)


def _find_holders(attempt: Attempt, schema: ModelSchema, root: Document) -> Plan[tuple[_Doomed, _Losses] | None]:
    """Return what to delete, locked, and what other holders lose; None for too many."""
    most = int(attempt.limit) + 1 if attempt.is_bounded else 0
    doomed: _Doomed = {(schema.name, key_of(root["_id"])): root}
    losses: _Losses = {}
    level = {schema.name: {root["_id"]}} if isinstance(root["_id"], ObjectId) else {}
    while level:
        following: dict[str, set[ObjectId]] = {}
        for model, ids in sorted(level.items()):
            for relation in followers(attempt.schemas, model):
                embedding = {f"{relation.name}._id": {"$in": ordered(ids)}}
                fields = _fields_to_read(attempt, attempt.schemas.get_schema(relation.model))
                found = yield steps.find(relation.model, embedding, fields, limit=most)
                for id_ in _lose_copies(relation, found, ids, doomed, losses):
                    following.setdefault(relation.model, set()).add(id_)
                # Each holder is in `losses`, even if it will be deleted.
                if most and (len(found) == most or len(losses) >= most):
                    return None
        for model, ids in sorted(following.items()):
            yield steps.touch_many(model, ordered(ids), LOCK)
        level = following
    return doomed, {key: loss for key, loss in losses.items() if key not in doomed}


def _lose_copies(
    relation: Relation, holders: Iterable[Document], gone: set[ObjectId], doomed: _Doomed, losses: _Losses
) -> Iterator[ObjectId]:
    """Note what holders lose with their sources; yield those to delete, too."""
    for holder in holders:
        key = (relation.model, key_of(holder["_id"]))
        if key in doomed:
            continue
        lost = losses.setdefault(key, _Loss(holder)).ids.setdefault(relation.name, set())
        value = holder.get(relation.name)
        present = ids_in(value)
        lost.update(gone.intersection(present))
        if not relation.optional and lost.issuperset(present) and has_form(relation.type, value):
            doomed[key] = holder
            if isinstance(holder["_id"], ObjectId):  # nothing can embed another one
                yield holder["_id"]


def _depart(
    attempt: Attempt, schema: ModelSchema, root: Document, doomed: _Doomed, losses: int, effects: Effects
) -> Plan[None]:
    """Note the effects of deleted documents on their targets; leave excess to jobs."""
    members: dict[Relation, list[Document]] = {}
    for (model, _id), document in doomed.items():
        for relation in attempt.schemas.get_schema(model).relations.values():
            members.setdefault(relation, []).append(document)
    targets = {
        relation: {id_ for document in documents for id_ in ids_in(document.get(relation.name))}
        for relation, documents in members.items()
        if relation.related_relations
    }
    already = losses + len(doomed) - 1
    sizes = {relation: len(ids) for relation, ids in targets.items()}
    later = attempt.beyond(sizes, already)
    attempt.spend(already + sum(size for relation, size in sizes.items() if relation not in later))
    for relation in later:
        job = PutJob("windows", (schema.name, root["_id"]), relation, version_of(root), list(targets[relation]))
        attempt.jobs.add((yield job))
    for relation in targets.keys() - later:
        for document in members[relation]:
            effects.depart(relation, ids_in(document.get(relation.name)), document["_id"], HiddenField(document))


def _leave_holders(attempt: Attempt, schema: ModelSchema, root: Document) -> Plan[None]:
    """Leave the holders to jobs: they are too many, so only the root is deleted now.

    It must be deleted first: without transactions a job would harm a document that still exists.
    """
    for relation in followers_of(attempt.schemas, schema, root):
        if (yield steps.count(relation.model, {f"{relation.name}._id": root["_id"]}, 1)):
            version = max(version_of(root), clock())
            attempt.jobs.add((yield PutJob("removal", (schema.name, root["_id"]), relation, version)))


def _lose(attempt: Attempt, losses: _Losses) -> Plan[None]:
    """Remove copies of deleted documents from the holders that stay."""
    changes: dict[str, list[tuple[object, dict[str, dict[str, Any]]]]] = {}
    for model, key in ordered(losses):
        loss = losses[model, key]
        hidden = HiddenField(loss.document)
        update: dict[str, dict[str, Any]] = {}
        for name, gone in loss.ids.items():
            relation = attempt.schemas.get_schema(model).relations[name]
            if lost := _without(relation, loss.document, gone):
                hidden.forget(name, gone)
                update = merged(update, lost)
        if update:
            changes.setdefault(model, []).append((loss.document["_id"], merged(update, hidden.revised())))
    for model, listed in changes.items():
        yield steps.update_each(model, listed)


def _without(relation: Relation, document: Document, gone: set[ObjectId]) -> dict[str, dict[str, Any]]:
    """Return the update that removes copies, given by id, from a relation.

    ``{}`` if nothing would be left of a value in the other form.
    """
    value = document.get(relation.name)
    if gone.issuperset(ids_in(value)):
        return assign(relation.name, None) if has_form(relation.type, value) else {}
    return {"$pull": {relation.name: {"_id": {"$in": ordered(gone)}}}}


def _bytes_keys(attempt: Attempt, doomed: _Doomed) -> Iterator[str]:
    """Yield the keys of bytes kept elsewhere, of documents that are deleted."""
    for (model, _id), document in doomed.items():
        key = attempt.schemas.bytes_keys.get(model)
        if key is not None and isinstance(found := document.get(key), str):
            yield found


def _by_model(doomed: _Doomed) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for (model, _key), document in doomed.items():
        found.setdefault(model, []).append(document["_id"])
    return found
