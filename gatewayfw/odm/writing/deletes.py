"""Delete documents, their required holders, and their copies elsewhere.

Every function here runs inside ``storage.transaction`` and may run several times.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bson import ObjectId

from gatewayfw.errors import StillReferenced
from gatewayfw.odm.copies.jobs import Backlog
from gatewayfw.odm.copies.rules import LOCK, HiddenField, assign, clock, has_form, ids_in, merged, version_of
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.ids import key_of, ordered
from gatewayfw.odm.writing.careful import targets_for
from gatewayfw.odm.writing.effects import Effects
from gatewayfw.odm.writing.frozen import followers, followers_of
from gatewayfw.schemas import ModelSchema, Relation, Schemas
from gatewayfw.storage import Document, Storage

#: Documents by model and `key_of` their `_id`.
_Doomed = dict[tuple[str, Hashable], Document]


@dataclass
class _Loss:
    """What one holder loses in a cascade: ids by relation."""

    document: Document
    ids: dict[str, set[ObjectId]] = field(default_factory=dict)


class Deletes:
    """Deletes documents in one storage."""

    def __init__(self, schemas: Schemas, storage: Storage, backlog: Backlog) -> None:
        self._schemas = schemas
        self._storage = storage
        self._backlog = backlog
        self._targets = targets_for(schemas, storage, backlog.care)

    def delete(self, schema: ModelSchema, filter: Mapping[str, Any], cascade: bool) -> dict[str, int] | None:
        """Delete one document; return its cascaded deletes by model, None for no match.

        With ``cascade`` holders that require it are deleted with the same procedure, and others lose
        their copy. Frozen copies stay, also required ones, and those of values in the other form that hold nothing
        else: only the definition of the process that wrote it says what becomes of such a holder. All affected windows
        are recomputed once, at the end.

        Raises:
            StillReferenced: a relation that is not frozen embeds the document and ``cascade`` is false.
        """
        root = self._storage.touch(schema.name, filter, self._fields_of(schema), lock=LOCK)
        if root is None:
            return None
        if not cascade:
            self._refuse_if_held(schema, root)
        found = self._holders(schema, root) if cascade else None
        doomed, losses = found or ({(schema.name, key_of(root["_id"])): root}, {})
        effects = self._departures(schema, root, doomed, len(losses))
        by_model = _by_model(doomed)
        for model, ids in by_model.items():
            effects.forget(model, {id_ for id_ in ids if isinstance(id_, ObjectId)})
        self._targets.lock(effects.targets().items())
        for model in sorted(by_model):
            self._storage.delete_many(model, {"_id": {"$in": ordered(by_model[model])}})
        if cascade and found is None:
            self._leave_holders(schema, root)
        self._lose(losses)
        self._targets.settle(effects)
        self._backlog.freed.update(self._keys_in(doomed))
        counts = {model: len(ids) for model, ids in sorted(by_model.items())}
        counts[schema.name] -= 1
        return {model: count for model, count in counts.items() if count}

    def _fields_of(self, schema: ModelSchema) -> list[str]:
        """Return the paths that a delete needs: ids, and the key of bytes kept elsewhere."""
        key = self._schemas.bytes_keys.get(schema.name)
        return [*_ids_of(schema), *([] if key is None else [key])]

    def _keys_in(self, doomed: _Doomed) -> Iterator[str]:
        """Yield the keys of bytes kept elsewhere, of documents that are deleted."""
        for (model, _id), document in doomed.items():
            key = self._schemas.bytes_keys.get(model)
            if key is not None and isinstance(found := document.get(key), str):
                yield found

    def _departures(self, schema: ModelSchema, root: Document, doomed: _Doomed, losses: int) -> Effects:
        """Return the effects of deleted documents on their targets; leave excess to jobs."""
        members: dict[Relation, list[Document]] = {}
        for (model, _id), document in doomed.items():
            for relation in self._schemas.get_schema(model).relations.values():
                members.setdefault(relation, []).append(document)
        targets = {
            relation: {id_ for document in documents for id_ in ids_in(document.get(relation.name))}
            for relation, documents in members.items()
            if relation.related_relations
        }
        already = losses + len(doomed) - 1
        sizes = {relation: len(ids) for relation, ids in targets.items()}
        later = self._backlog.beyond(sizes, already)
        self._backlog.spend(already + sum(size for relation, size in sizes.items() if relation not in later))
        for relation in later:
            self._backlog.leave("windows", (schema.name, root["_id"]), relation, version_of(root), targets[relation])
        effects = Effects()
        for relation in targets.keys() - later:
            for document in members[relation]:
                effects.depart(relation, ids_in(document.get(relation.name)), document["_id"])
        return effects

    def _refuse_if_held(self, schema: ModelSchema, root: Document) -> None:
        held: dict[str, list[dict[str, Any]]] = {}
        for relation in followers_of(self._schemas, schema, root):
            held.setdefault(relation.model, []).append({f"{relation.name}._id": root["_id"]})
        counts: dict[str, int] = {}
        for model, ways in held.items():
            others = {"_id": {"$ne": root["_id"]}} if model == schema.name else {}
            if count := self._storage.count(model, {"$or": ways, **others}):
                counts[model] = count
        if counts:
            raise StillReferenced(schema.name, counts)

    def _leave_holders(self, schema: ModelSchema, root: Document) -> None:
        """Leave the holders to jobs: they are too many, so only the root is deleted now.

        It must be deleted first: without transactions a job would harm a document that still exists.
        """
        for relation in followers_of(self._schemas, schema, root):
            if self._storage.count(relation.model, {f"{relation.name}._id": root["_id"]}, 1):
                version = max(version_of(root), clock())
                self._backlog.leave("removal", (schema.name, root["_id"]), relation, version)

    def _holders(self, schema: ModelSchema, root: Document) -> tuple[_Doomed, dict[tuple[str, Hashable], _Loss]] | None:
        """Return the documents to delete, and what other holders lose.

        None if there are too many.
        """
        most = int(self._backlog.limit) + 1 if self._backlog.bounded else 0
        doomed: _Doomed = {(schema.name, key_of(root["_id"])): root}
        losses: dict[tuple[str, Hashable], _Loss] = {}
        level = {schema.name: {root["_id"]}} if isinstance(root["_id"], ObjectId) else {}
        while level:
            following: dict[str, set[ObjectId]] = {}
            for model, ids in sorted(level.items()):
                for relation in followers(self._schemas, model):
                    embedding = {f"{relation.name}._id": {"$in": ordered(ids)}}
                    fields = self._fields_of(self._schemas.get_schema(relation.model))
                    found = list(self._storage.find(relation.model, embedding, fields, limit=most))
                    for holder in found:
                        key = (relation.model, key_of(holder["_id"]))
                        if key in doomed:
                            continue
                        loss = losses.setdefault(key, _Loss(holder))
                        lost = loss.ids.setdefault(relation.name, set())
                        value = holder.get(relation.name)
                        present = ids_in(value)
                        lost.update(ids.intersection(present))
                        if not relation.optional and lost.issuperset(present) and has_form(relation, value):
                            doomed[key] = holder
                            if isinstance(holder["_id"], ObjectId):  # nothing can embed another one
                                following.setdefault(relation.model, set()).add(holder["_id"])
                    # Each holder is in `losses`, even if it will be deleted.
                    if most and (len(found) == most or len(losses) >= most):
                        return None
            for model, ids in sorted(following.items()):
                self._storage.touch_many(model, ordered(ids), lock=LOCK)
            level = following
        return doomed, {key: loss for key, loss in losses.items() if key not in doomed}

    def _lose(self, losses: Mapping[tuple[str, Hashable], _Loss]) -> None:
        """Remove copies of deleted documents from the holders that stay."""
        changes: dict[str, list[tuple[object, dict[str, dict[str, Any]]]]] = {}
        for model, key in ordered(losses):
            loss = losses[model, key]
            hidden = HiddenField(loss.document)
            update: dict[str, dict[str, Any]] = {}
            for name, gone in loss.ids.items():
                relation = self._schemas.get_schema(model).relations[name]
                if lost := _without(relation, loss.document, gone):
                    hidden.forget(name, gone)
                    update = merged(update, lost)
            if update:
                changes.setdefault(model, []).append((loss.document["_id"], merged(update, hidden.revised())))
        for model, listed in changes.items():
            self._storage.update_each(model, listed)


def _ids_of(schema: ModelSchema) -> list[str]:
    """Return the paths of the ids that a document embeds, and of its notes about them.

    They leave out the rest of the copies, which may be large.
    """
    return [*(f"{name}._id" for name in schema.relations), HIDDEN]


def _without(relation: Relation, document: Document, gone: set[ObjectId]) -> dict[str, dict[str, Any]]:
    """Return the update that removes copies, given by id, from a relation.

    ``{}`` if nothing would be left of a value in the other form.
    """
    value = document.get(relation.name)
    if gone.issuperset(ids_in(value)):
        return assign(relation.name, None) if has_form(relation, value) else {}
    return {"$pull": {relation.name: {"_id": {"$in": ordered(gone)}}}}


def _by_model(doomed: _Doomed) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for (model, _key), document in doomed.items():
        found.setdefault(model, []).append(document["_id"])
    return found
