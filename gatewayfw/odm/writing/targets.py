"""Locking sources and targets, and writing what an operation does to its targets.

Whoever copies a document, or decides a window of it, *touches* it first: a real write in the
same transaction. `gatewayfw.odm.writing.writes` says why that is what keeps copies right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bson import ObjectId

from gatewayfw.errors import TooLarge, missing_related
from gatewayfw.odm.copies.rooms import Room, bytes_of_member, is_small, room_in_window
from gatewayfw.odm.copies.rules import (
    CUT,
    HIDDEN,
    LOCK,
    assign,
    copy_of,
    entry,
    ids_in,
    merged,
    place,
    renewal,
    single_reverse,
    window_query,
)
from gatewayfw.odm.ids import ordered
from gatewayfw.odm.reading.projection import Link, source_of
from gatewayfw.odm.writing.effects import Effects
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.base import Filter, Lock, Update

#: Documents that this operation has locked and read, by (model, `_id`).
Sources = dict[tuple[str, ObjectId], Document]


class Crowded(TooLarge):
    """A window may exceed its share, so measure it. Not seen outside of the ODM."""


class Targets:
    """The documents around an operation, in one storage."""

    #: The mark of targets that this class must not write.
    unmarked = CUT

    def __init__(self, schemas: Schemas, storage: Storage) -> None:
        self._schemas = schemas
        self._storage = storage

    def source_fields(self, link: Link) -> tuple[str, ...]:
        """Return the pure fields of the copies that a relation or reverse relation holds."""
        return source_of(self._schemas, link).copy_fields(link.excludes)

    def renewal(self, relation: Relation, source: Document) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """Return the update that renews a source's copies, and their holders' filter."""
        model = source_of(self._schemas, relation)
        return renewal(relation, source, model.copy_fields(relation.excludes), model.pure)

    def touch(
        self,
        copied: Iterable[tuple[Relation, ObjectId]] = (),
        windows: Iterable[tuple[str, set[ObjectId]]] = (),
        locked: Mapping[tuple[str, ObjectId], Document] | None = None,
        effects: Effects | None = None,
        entering: bool = False,
    ) -> Sources:
        """Lock sources and targets, ordered by (collection, _id); return the sources.

        ``locked`` are documents this operation has touched already. What the locks can write along is
        taken out of ``effects``, and `settle` does the rest: copies that are replaced, and, with
        ``entering``, members that enter a window and were no members before.

        Raises:
            NotFound: a document to be copied does not exist, naming all such ids of its model.
            Marked: a window of one that is locked is cut: it takes `CarefulTargets`.
            Crowded: a window may exceed its share, likewise.
        """
        fields: dict[str, set[str]] = {}
        wanted: dict[str, Counter[ObjectId]] = {}
        for relation, id_ in copied:
            wanted.setdefault(relation.schema_name, Counter())[id_] += 1
            fields.setdefault(relation.schema_name, {f"{HIDDEN}.v"}).update(self.source_fields(relation))
        all_ids = {model: set(copies) for model, copies in wanted.items()}
        for model, ids in windows:
            all_ids.setdefault(model, set()).update(ids)
        changes = self._replacements(effects) if effects is not None and effects.renewals else {}
        sources: Sources = dict(locked or {})
        for model in sorted(all_ids.keys() | changes.keys()):
            touched = ordered(id_ for id_ in all_ids.get(model, ()) if (model, id_) not in sources)
            read = [id_ for id_ in touched if id_ in wanted.get(model, ())]
            copies = max(wanted[model].values()) if model in wanted else 1
            lock = Lock(LOCK.counter, copies, self.unmarked)
            if len(touched) == len(read) == 1 and model not in changes:
                document = self._entered(model, touched[0], sorted(fields[model]), effects if entering else None, lock)
                found: Iterable[Document] = () if document is None else (document,)
            else:
                if touched or model in changes:
                    self._storage.touch_many(model, touched, changes.get(model, ()), lock=lock)
                found = self._storage.find(model, {"_id": {"$in": read}}, sorted(fields[model])) if read else ()
            sources.update({(model, document["_id"]): document for document in found})
            if missing := [id_ for id_ in ordered(wanted.get(model, ())) if (model, id_) not in sources]:
                raise missing_related(model, missing)
        if changes and effects is not None:
            effects.renewals.clear()
        return sources

    def _replacements(self, effects: Effects) -> dict[str, list[tuple[Filter, Update]]]:
        """Return the changes, by model, that replace members' copies in targets."""
        found: dict[str, list[tuple[Filter, Update]]] = {}
        for reverse, ids, copy in effects.renewals:
            if reverse.type == "multiple" and not is_small(self._room(reverse), copy):
                raise Crowded()
            path, holds = place(reverse.name, reverse.type == "multiple", copy["_id"])
            found.setdefault(reverse.target, []).append(({"_id": {"$in": list(ids)}, **holds}, {"$set": {path: copy}}))
        return found

    def _room(self, reverse: RelatedRelation) -> Room | None:
        return room_in_window(self._schemas, reverse)

    def _entered(
        self, model: str, id_: ObjectId, fields: Sequence[str], effects: Effects | None, lock: Lock
    ) -> Document | None:
        """Touch one document and read it, in one command with what enters it.

        Where that can be.
        """
        touch = self._storage.touch
        here = []
        if effects is not None:
            here = [key for key in (*effects.entries, *effects.claims) if key[1] == id_ and key[0].target == model]
        found = self._pushes(here, effects) if effects and here and self._storage.sorts_pushes() else None
        if effects is None or found is None:
            return touch(model, {"_id": id_}, fields, lock=lock)
        filter, update = found
        document = touch(model, {"_id": id_, **filter}, fields, update, lock=lock)
        if document is not None:
            effects.settled(here)
            return document
        # Most windows that cannot be pushed into are empty. `settle` looks whether this one was.
        alone = {key: effects.entries[key] for key in here if key in effects.entries}
        effects.presumed.update(alone)
        update = merged(*(assign(reverse.name, entering) for (reverse, _), entering in alone.items()))
        return touch(model, {"_id": id_}, fields, update, lock=lock)

    def _pushes(
        self, keys: Iterable[tuple[RelatedRelation, ObjectId]], effects: Effects
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]] | None:
        """Return the filter and update that let members in; None for a recomputed window."""
        filter: dict[str, Any] = {}
        update: dict[str, dict[str, Any]] = {}
        for reverse, id_ in keys:
            if (reverse, id_) in effects.claims:
                update = merged(update, assign(reverse.name, effects.claims[reverse, id_]))
                continue
            copies, room = effects.entries[reverse, id_], self._room(reverse)
            found = entry(reverse, copies)
            if found is None or not (room is None or all(is_small(room, copy) for copy in copies)):
                return None
            filter.update(found[0])
            update = merged(update, {"$push": {reverse.name: found[1]}})
        return filter, update

    def change(
        self, schema: ModelSchema, filter: Filter, update: Update, fields: Sequence[str] | None, effects: Effects
    ) -> Document | None:
        """Change the operation's own document; return it afterwards, None for no match.

        What that does to its own reverse relations is added to ``effects``.
        """
        return self._storage.update_one(schema.name, filter, update, fields)

    def settle(self, effects: Effects) -> None:
        """Write what an operation does to its targets: releases, then windows and claims."""
        for (reverse, member_id), ids in effects.releases.items():
            if ids:
                self._storage.update_many(
                    reverse.target,
                    {"_id": {"$in": ordered(ids)}, f"{reverse.name}._id": member_id},
                    {"$unset": {reverse.name: ""}},
                )
        values: dict[tuple[RelatedRelation, ObjectId], object] = {
            (reverse, id_): self.window(reverse, id_)
            for reverse, ids in effects.recomputed().items()
            for id_ in ordered(ids)
        }
        changes: dict[str, dict[ObjectId, dict[str, dict[str, Any]]]] = {}
        for (reverse, id_), value in (values | effects.claims).items():
            if (reverse, id_) in effects.presumed and value == effects.presumed[reverse, id_]:
                continue
            written = changes.setdefault(reverse.target, {})
            written[id_] = merged(written.get(id_, {}), assign(reverse.name, value))
        for model in sorted(changes):
            self._storage.update_each(model, [(id_, changes[model][id_]) for id_ in ordered(changes[model])])

    def refresh(self, relation: Relation, ids: Iterable[ObjectId]) -> None:
        """Lock targets and set the reverse relations that a relation causes on them right.

        A `multiple` one becomes the exact window; a `single` one a fresh copy of its member, or
        nothing when that member is gone or no longer embeds the target.
        """
        targets = ordered(ids)
        self._storage.touch_many(relation.schema_name, targets, lock=LOCK)
        effects = Effects()
        for reverse in self._schemas.reverses(relation):
            if reverse.type == "multiple":
                for id_ in targets:
                    effects.recompute(reverse, id_)
            else:
                self._refresh_single(reverse, targets, effects)
        self.settle(effects)

    def _refresh_single(self, reverse: RelatedRelation, targets: Sequence[ObjectId], effects: Effects) -> None:
        path = f"{reverse.relation}._id"
        fields = self.source_fields(reverse)
        held = self._storage.find(
            reverse.target, {"_id": {"$in": list(targets)}, reverse.name: {"$exists": True}}, [f"{reverse.name}._id"]
        )
        claimed = {target["_id"]: next(iter(ids_in(target.get(reverse.name))), None) for target in held}
        wanted = {"_id": {"$in": [id_ for id_ in claimed.values() if id_]}, path: {"$in": list(targets)}}
        found = self._storage.find(reverse.member, wanted, [*fields, path]) if claimed else ()
        members = {member["_id"]: member for member in found}
        for target_id, member_id in claimed.items():
            effects.claims[reverse, target_id] = single_reverse(reverse, fields, target_id, members.get(member_id))

    def window(self, reverse: RelatedRelation, target_id: ObjectId) -> list[Document]:
        """Return the window of a `multiple` reverse relation, recomputed from its members.

        Raises:
            Crowded: they exceed its share.
        """
        room = self._room(reverse)
        if room is None:
            return list(self.members(reverse, target_id))
        copies, size = [], 0
        for copy in self.members(reverse, target_id):
            size += bytes_of_member(copy)
            if size > room.all:
                raise Crowded()
            copies.append(copy)
        return copies

    def members(self, reverse: RelatedRelation, target_id: ObjectId, most: int | None = None) -> Iterator[Document]:
        """Yield the copies in a window, or at most so many, recomputed from its members."""
        return self._members(self._storage.find, reverse, target_id, most)

    def _members(
        self, find: Callable[..., Iterator[Any]], reverse: RelatedRelation, target_id: ObjectId, most: int | None
    ) -> Iterator[Document]:
        fields = self.source_fields(reverse)
        query = window_query(reverse, fields, target_id)
        limit = query.limit if most is None else min(most, query.limit)
        found = find(query.collection, query.filter, query.fields, sort=query.sort, limit=limit)
        return (copy_of(document, fields) for document in found)

    def reread(self, schema: ModelSchema, document: Document) -> Document | None:
        """Return the document as it is now.

        A model related to itself may have changed it again.
        """
        if all(relation.model != schema.name for relation in self._schemas.embedders(schema.name)):
            return document
        return next(self._storage.find(schema.name, {"_id": document["_id"]}, limit=1), None)
